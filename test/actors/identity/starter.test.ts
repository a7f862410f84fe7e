/** Whom management tools act for, and which contexts bind what they start (docs/reference/management-tools.md). */
import { expect, test } from "bun:test";
import { scopesWithin } from "../../../actors/identity/scopes.ts";
import { capturedScopes, narrowedTo, shownStarter, starterOf } from "../../../actors/identity/starter.ts";
import { handedOn, joinedCeilings } from "../../../actors/policy/ceilings.ts";
import { identityOf } from "../../harness/callers.ts";

const owner = { kind: "tenant_user", membership: "owner", role: null } as const;
const member = { ...owner, membership: "member" } as const;

test("a starter keeps its scopes only where role and membership do not say them", () => {
  const usual = starterOf(identityOf("acme", { ...owner, scopes: scopesWithin(owner, null) }));
  expect(usual.scopes).toBeUndefined();
  expect(capturedScopes(usual)).toEqual(scopesWithin(owner, null));
  expect(shownStarter(usual)?.scopes).toContain("secret:read");
  const few = starterOf(identityOf("acme", { ...owner, keyId: "k", scopes: new Set(["agent:read", "agent:list"]) }));
  expect(few).toMatchObject({ key_id: "k", scopes: ["agent:list", "agent:read"] });
  expect(shownStarter(undefined)).toBeNull();
});

test("a starter acts with what it had and still has, never with what it gained", () => {
  const asOwner = identityOf("acme", { ...owner, scopes: scopesWithin(owner, null) });
  const asMember = identityOf("acme", { ...member, scopes: scopesWithin(member, null) });
  expect(narrowedTo(starterOf(asOwner), asMember).scopes).toEqual(asMember.scopes);
  expect(narrowedTo(starterOf(asMember), asOwner).scopes.has("secret:read")).toBeFalse();
});

test("a call hands on its context and its ceilings, each once, four at most", () => {
  expect(handedOn("build", [])).toEqual(["build"]);
  expect(handedOn("build", ["outer", "build"])).toEqual(["build", "outer"]);
  expect(handedOn("a", ["b", "c", "d"])).toHaveLength(4);
  expect(() => handedOn("a", ["b", "c", "d", "e"])).toThrow(
    expect.objectContaining({ code: "too_many_ceilings", status: 422 }),
  );
  expect(joinedCeilings(undefined, ["x"], ["x", "y"])).toEqual(["x", "y"]);
});
