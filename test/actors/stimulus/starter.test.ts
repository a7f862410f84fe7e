/** For whom the run of a stimulus acts (docs/reference/management-tools.md). */
import { expect, test } from "bun:test";
import type { Starter } from "../../../actors/identity/starter.ts";
import { starterOfStimulus } from "../../../actors/stimulus/routing.ts";

const ann: Starter = { realm: "r", kind: "consumer", sub: "ann", role: null, membership: null, key_id: null };
const ben: Starter = { ...ann, sub: "ben" };
const from = (kind: "webhook" | "consumer") => ({ kind, sub: "x", email: null, tier: null, realm: null }) as const;

test("a webhook runs for the creator of its source, a posted stimulus for its caller", () => {
  const webhook = { receivedBy: from("webhook"), sourceId: "s" };
  expect(starterOfStimulus(webhook, { id: "s", creator: ben })).toEqual(ben);
  // Configured anew since, by the configuration file, or not at all.
  expect(starterOfStimulus(webhook, { id: "other", creator: ben })).toBeNull();
  expect(starterOfStimulus(webhook, { id: "s", creator: null })).toBeNull();
  expect(starterOfStimulus(webhook, null)).toBeNull();
  const posted = { receivedBy: from("consumer"), sourceId: "s", startedBy: ann };
  expect(starterOfStimulus(posted, { id: "s", creator: ben })).toEqual(ann);
});
