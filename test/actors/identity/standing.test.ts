/** The tier of a tenant (docs/reference/identity.md). */
import { expect, test } from "bun:test";
import { standingOf, type TierFacts } from "../../../actors/identity/standing.ts";

const facts = (kind: TierFacts["kind"], some: Partial<TierFacts> = {}): TierFacts => ({
  kind,
  admin: null,
  subscription: null,
  claimed: null,
  team: null,
  owner: null,
  ...some,
});
const person = (some: Partial<TierFacts>) => facts("consumer", some);

test.each<[string, TierFacts, string]>([
  ["the platform's own", facts("system"), "system default"],
  ["a consumer's without anything", facts("consumer"), "free default"],
  ["an enterprise tenant without anything", facts("enterprise"), "enterprise default"],
  ["a claim counts in a consumer's own tenant", facts("consumer", { claimed: "pro" }), "pro claim"],
  ["a claim counts nowhere else", facts("enterprise", { claimed: "free" }), "enterprise default"],
  [
    "a subscription is stronger than a claim",
    facts("consumer", { claimed: "pro", subscription: "business" }),
    "business subscription",
  ],
  [
    "a lapsed subscription gives free though tokens still claim pro",
    facts("consumer", { claimed: "pro", subscription: "free" }),
    "free subscription",
  ],
  [
    "an administrator is stronger than a subscription",
    facts("enterprise", { admin: "pro", subscription: "enterprise" }),
    "pro admin",
  ],
  [
    "a team has its own tier below its owner's",
    facts("team", { team: "business", owner: person({ subscription: "enterprise" }) }),
    "business default",
  ],
  [
    "a team has its owner's tier below its own",
    facts("team", { team: "enterprise", owner: person({ claimed: "pro" }) }),
    "pro claim",
  ],
  [
    "an administrator lifts no team above its owner",
    facts("team", { admin: "enterprise", owner: person({ admin: "business" }) }),
    "business admin",
  ],
  ["a team without an owner is free", facts("team", { team: "business" }), "free default"],
])("%s", (_, given, expected) => {
  const { tier, source } = standingOf(given);
  expect(`${tier} ${source}`).toBe(expected);
});
