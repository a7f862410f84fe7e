/** The schemes a source may be signed with, by name. */
import type { Json } from "../../../../../actors/kernel/json.ts";
import type { PresetName } from "../port.ts";
import { github } from "./github.ts";
import type { Preset } from "./preset.ts";
import { slack } from "./slack.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { stripe } from "./stripe.ts";
import { svc } from "./svc.ts";

export const presets: Readonly<Record<PresetName, Preset>> = {
  svc,
  github,
  stripe,
  slack,
  standard_webhooks: standardWebhooks,
};

/** What the provider calls the event of a delivery, the most exact name first; none where that is not said. */
export const eventNamesOf = (preset: PresetName, headers: Headers, payload: Json): readonly string[] =>
  presets[preset].eventNames?.(headers, payload) ?? [];
