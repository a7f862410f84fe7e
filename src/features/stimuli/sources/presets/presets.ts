/** The schemes a source may be signed with, by name. */
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
