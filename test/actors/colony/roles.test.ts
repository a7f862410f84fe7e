/** Who may make whom what, and what a tier has room for (docs/reference/colony.md). */
import { expect, test } from "bun:test";
import { featuresOf, seatsOf } from "../../../actors/colony/plan.ts";
import { decideRoleChange } from "../../../actors/colony/roles.ts";
import { type Membership, tiers } from "../../../actors/identity/identity.ts";
import { isBelowBusiness, reaches } from "../../../actors/identity/standing.ts";
import { Problem } from "../../../actors/kernel/problem.ts";

test.each<[by: Membership, from: Membership, to: Membership, comesTo: string]>([
  ["owner", "member", "admin", "change"],
  ["owner", "admin", "member", "change"],
  ["owner", "admin", "admin", "nothing"],
  ["owner", "member", "owner", "transfer"],
  ["owner", "owner", "admin", "owner_role_immutable"],
  ["owner", "owner", "owner", "nothing"],
  ["admin", "member", "admin", "change"],
  ["admin", "admin", "member", "change"],
  ["admin", "member", "owner", "owner_only"],
  ["admin", "owner", "member", "owner_role_immutable"],
])("by %s from %s to %s is %s", (by, from, to, comesTo) => {
  const outcome = () => {
    try {
      return decideRoleChange({ by, from, to });
    } catch (error) {
      return error instanceof Problem ? error.code : String(error);
    }
  };
  expect(outcome()).toBe(comesTo);
});

test("seats and features follow the tier", () => {
  expect(tiers.map(seatsOf)).toEqual([1, 1, 5, 10]);
  expect(tiers.map((tier) => featuresOf(tier).length)).toEqual([0, 2, 3, 5]);
  expect(featuresOf("system")).toEqual(featuresOf("enterprise"));
  expect(tiers.map(isBelowBusiness)).toEqual([true, true, false, false]);
  expect([isBelowBusiness("system"), reaches("system", "enterprise"), reaches("pro", "business")]).toEqual([
    false,
    true,
    false,
  ]);
});
