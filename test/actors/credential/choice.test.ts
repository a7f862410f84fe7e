/** Which credential a reference means, and who may use it (docs/reference/credentials.md). */
import { describe, expect, test } from "bun:test";
import { type Candidate, choose, type Grant, type Use } from "../../../actors/credential/choice.ts";

const ann = { realm: "tenant-acme", userId: "ann" };
const bob = { realm: "tenant-acme", userId: "bob" };
const at = (day: number) => new Date(Date.UTC(2031, 0, day));
const use: Use = {
  definition: { kind: "agent", id: "agent-1", deployed: { ...ann, at: at(1) } },
  initiator: ann,
  workflow: null,
};
const running = (name: string, changedByOthersAt: Date | null = null): Use => ({
  ...use,
  workflow: { name, changedByOthersAt },
});
const toAll: Grant = { type: "all_agents", value: "", confirmedAt: at(2) };
const toAgent: Grant = { type: "agent", value: "agent-1", confirmedAt: at(2) };
const toWorkflow: Grant = { type: "workflow", value: "w", confirmedAt: at(2) };
const personal: Candidate = {
  id: "personal",
  scope: "personal",
  ...ann,
  isUsable: true,
  isOwnerGone: false,
  grants: [toAgent],
};
const shared: Candidate = { ...personal, ...bob, id: "shared", scope: "tenant" };
const outcome = (of: Use, ...candidates: Candidate[]) => {
  const choice = choose(of, candidates);
  return "chosen" in choice ? choice.chosen.id : choice.fault;
};

test("of a workflow's own use its grant counts, and who registered its versions", () => {
  const own: Use = {
    definition: { kind: "workflow", id: "w", deployed: null },
    initiator: ann,
    workflow: { name: "w", changedByOthersAt: null },
  };
  const mine = { ...personal, grants: [toWorkflow] };
  expect(outcome(own, mine)).toBe("personal");
  expect(outcome({ ...own, initiator: bob }, mine)).toBe("credential_not_found");
  expect(outcome({ ...own, initiator: null }, mine)).toBe("credential_not_found");
  expect(outcome({ ...own, initiator: null }, { ...shared, grants: [toWorkflow] })).toBe("shared");
  for (const grants of [[toAll], [toAgent], []]) {
    expect(outcome(own, { ...personal, grants })).toBe("credential_not_granted");
    expect(outcome(own, { ...shared, grants })).toBe("credential_not_granted");
  }
  const changed = (day: number): Use => ({ ...own, workflow: { name: "w", changedByOthersAt: at(day) } });
  expect([outcome(changed(3), mine), outcome(changed(1), mine)]).toEqual(["credential_not_granted", "personal"]);
});

test("the initiator's own comes first, without one the tenant's oldest granted", () => {
  const older = { ...shared, id: "older", grants: [] };
  expect(outcome(use, older, shared, personal)).toBe("personal");
  expect(outcome({ ...use, initiator: null }, older, shared, personal)).toBe("shared");
  expect(outcome(use, shared, { ...personal, grants: [] })).toBe("shared");
});

describe("a personal one", () => {
  test.each<[string, Use, Candidate]>([
    ["another user", { ...use, initiator: bob }, personal],
    ["the same subject of another realm", { ...use, initiator: { ...ann, realm: "svc-consumer" } }, personal],
    ["a subject of an unknown realm", { ...use, initiator: { ...ann, realm: null } }, personal],
    ["a schedule or webhook", { ...use, initiator: null }, personal],
    ["its owner, removed from the tenant", use, { ...personal, isOwnerGone: true }],
    ["its owner, once it is not active", use, { ...personal, isUsable: false }],
  ])("is not there for %s", (_, of, candidate) => {
    expect(outcome(of, candidate)).toBe("credential_not_found");
  });

  test("holds for its owner's revisions, and for others' once granted anew", () => {
    const deployed = (by: typeof ann, day: number): Use => ({
      ...use,
      definition: { ...use.definition, deployed: { ...by, at: at(day) } },
    });
    expect(outcome(deployed(ann, 9), personal)).toBe("personal");
    expect(outcome(deployed(bob, 9), personal)).toBe("credential_not_granted");
    expect(outcome(deployed(bob, 9), { ...personal, grants: [{ ...toAgent, confirmedAt: at(9) }] })).toBe("personal");
    expect(outcome(deployed(bob, 9), shared)).toBe("shared");
    const unknown = { ...use, definition: { ...use.definition, deployed: null } };
    expect(outcome(unknown, personal)).toBe("credential_not_granted");
  });

  test("granted to a workflow holds until another registers a version of it", () => {
    const granted = { ...personal, grants: [toWorkflow] };
    expect(outcome(running("w"), granted)).toBe("personal");
    expect(outcome(running("w", at(1)), granted)).toBe("personal");
    expect(outcome(running("w", at(3)), granted)).toBe("credential_not_granted");
    expect(outcome(running("w", at(3)), { ...granted, scope: "tenant" })).toBe("personal");
  });
});

test.each<[string, Use, readonly Grant[], boolean]>([
  ["its agent", use, [toAgent], true],
  ["all agents", use, [toAll], true],
  ["another agent", use, [{ ...toAgent, value: "agent-2" }], false],
  ["the running workflow", running("w"), [toWorkflow], true],
  ["a workflow that does not run", use, [toWorkflow], false],
  ["another workflow", running("v"), [toWorkflow], false],
  ["nothing", use, [], false],
])("a grant to %s is decided by what runs", (_, of, grants, covers) => {
  expect(outcome(of, { ...shared, grants })).toBe(covers ? "shared" : "credential_not_granted");
});
