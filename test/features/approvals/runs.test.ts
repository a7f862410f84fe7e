/** A workflow run and its approval, side by side on a real runtime (docs/reference/approvals.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { approval } from "../../../actors/approval/approval.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { State } from "../../../actors/workflow/definition.ts";
import { workflowRun } from "../../../actors/workflow/run/run.ts";
import type { RunState } from "../../../actors/workflow/run/state.ts";
import type { WorkOf } from "../../../actors/workflow/run/work.ts";
import { approvalsProjection } from "../../../src/features/approvals/projection.ts";
import { approvalRecords } from "../../../src/features/approvals/records.ts";
import { createApprovals } from "../../../src/features/approvals/service.ts";
import { person, source } from "../../actors/approval/fixture.ts";
import { definitionOf, headerOf, human, noop, ways } from "../../actors/workflow/fixture.ts";
import { startTestNode, type TestNode } from "../../harness/runtime/runtime.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let node: TestNode;
const tenant = "north";
const startNode = () =>
  startTestNode(stores, { actors: [workflowRun, approval], projections: [approvalsProjection()], activities: [] });
beforeAll(async () => {
  stores = await freshStores();
  node = await startNode();
});
afterAll(async () => {
  await node?.stop();
  await stores?.dispose();
});

const runAt = (key: string) => ({ kind: "workflow_run", key, tenant });
const runOf = async (key: string) => (await node.runtime.read(runAt(key)))?.state as unknown as RunState;
const approvalOf = async (key: string) =>
  (await node.runtime.read({ kind: "approval", key, tenant }))?.state as unknown as ApprovalState;
const approvals = () =>
  createApprovals({
    runtime: node.runtime,
    records: approvalRecords(stores.sql),
    publicUrl: "https://svc.test",
    now: Date.now,
  });
const act = (approvalId: string) => ({ tenant, approvalId, by: person("bob"), source, managesFleet: false });

/** A run that waits for a person. */
async function waiting(states: Record<string, State>) {
  const run = Bun.randomUUIDv7();
  await node.runtime.ask(runAt(run), "start", {
    header: headerOf({ root_execution_id: run }),
    definition: definitionOf(states),
    input: { invoice: "INV-7" },
    overrides: {},
    resume: null,
  } as unknown as Json);
  const work = await until(async () => {
    const current = (await runOf(run))?.current?.work;
    return current?.of === "human" && (current as WorkOf<"human">);
  });
  return { run, id: work.approval_id, expiresAt: work.expires_at };
}
const ended = (run: string) =>
  until(
    async () => {
      const state = await runOf(run);
      return state.ending !== null && state;
    },
    { what: "the run's end" },
  );

const signed: Record<string, State> = {
  SIGN: human(ways(["approved", "DONE"], ["rejected", "REFUSED", "{{human.feedback}}"]), {
    prompt: "Release {{input.invoice}}?",
  }),
  DONE: noop(),
  REFUSED: { ...noop(), outcome: "failed" },
};

test("the approval is there as soon as its state is, with its prompt and its deadline", async () => {
  const { run, id, expiresAt } = await waiting(signed);
  const state = await approvalOf(id);
  expect(state).toMatchObject({
    status: "pending",
    expires_at: expiresAt,
    request: { prompt: "Release INV-7?", execution_id: run, state_name: "SIGN", visit: 1 },
  });
});

test("a decision and the run's next step are one commit", async () => {
  const { run, id } = await waiting(signed);
  const { version } = (await node.runtime.read(runAt(run))) ?? {};
  await approvals().approve(act(id), crypto.randomUUID(), { feedback: "fine" });
  // What was answered is committed: the run is past its state already.
  const state = await runOf(run);
  expect((await node.runtime.read(runAt(run)))?.version).toBeGreaterThan(version ?? 0);
  expect(state.current_state).toBe("DONE");
  expect(state.blackboard.SIGN).toMatchObject({ decision: "approved", feedback: "fine", decided_by: { sub: "bob" } });
  expect(state.blackboard.human).toMatchObject({ decision: "approved", approver: "bob@example.com" });
  expect((await ended(run)).status).toBe("completed");
});

describe("a rejection", () => {
  test("takes its path, and its reason goes along", async () => {
    const { run, id } = await waiting(signed);
    await approvals().reject(act(id), crypto.randomUUID(), "too dear", null);
    const state = await ended(run);
    expect([state.status, state.current_state]).toEqual(["failed", "REFUSED"]);
    expect(state.blackboard.human).toMatchObject({ feedback: "too dear" });
    expect(state.blackboard.state).toMatchObject({ feedback: "too dear" });
  });

  test("without a path fails the run, even past always", async () => {
    for (const transitions of [ways(["approved", "DONE"]), ways(["always", "DONE"])]) {
      const { run, id } = await waiting({ SIGN: human(transitions), DONE: noop() });
      await approvals().reject(act(id), crypto.randomUUID(), "no", null);
      expect(await ended(run)).toMatchObject({ status: "failed", ending: { error_code: "approval_rejected" } });
    }
  });
});

test("silence is no refusal: the run takes its own path, or fails by its own name", async () => {
  const patient = { timeout_ms: 150 };
  const late = await waiting({
    SIGN: human(ways(["on_timeout", "DONE"], ["rejected", "NO"]), patient),
    DONE: noop(),
    NO: noop(),
  });
  expect((await ended(late.run)).current_state).toBe("DONE");
  const alone = await waiting({ SIGN: human(ways(["approved", "DONE"]), patient), DONE: noop() });
  expect(await ended(alone.run)).toMatchObject({ status: "failed", ending: { error_code: "human_input_timeout" } });
});

test("a cancelled run withdraws its approval in the same commit", async () => {
  const { run, id } = await waiting(signed);
  expect(await node.runtime.ask(runAt(run), "cancel", { reason: "enough" })).toMatchObject({ outcome: "cancelled" });
  expect(await approvalOf(id)).toMatchObject({ status: "withdrawn" });
  expect((await ended(run)).status).toBe("cancelled");
  const refused = approvals().approve(act(id), crypto.randomUUID(), {});
  await expect(refused).rejects.toMatchObject({ code: "approval_already_decided", extras: { status: "withdrawn" } });
});

test("a restart changes nothing for waiting callers; what was due is done", async () => {
  const still = await waiting(signed);
  const due = await waiting({
    SIGN: human(ways(["always", "DONE"]), { timeout_ms: 300, default_response: "yes" }),
    DONE: noop(),
  });
  const before = await approvalOf(still.id);
  await node.stop();
  await until(() => Date.now() > due.expiresAt);
  node = await startNode();
  expect((await ended(due.run)).status).toBe("completed");
  expect(await approvalOf(still.id)).toEqual(before);
  await approvals().approve(act(still.id), crypto.randomUUID(), {});
  expect((await ended(still.run)).status).toBe("completed");
});
