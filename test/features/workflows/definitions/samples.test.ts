/** The sample workflows, each from its start to its final output on a whole node. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { podman } from "../../../harness/outside/podman.ts";
import { until } from "../../../harness/until.ts";
import { figuresService } from "./figures.ts";
import { NodeFixture } from "./node-fixture.ts";

const engine = await podman();
let at: NodeFixture;
const figures = figuresService();
beforeAll(async () => {
  at = await NodeFixture.open({
    // Where the sample of a nightly report finds its figures.
    SVC_EGRESS_ALLOW_PRIVATE: '["127.0.0.1"]',
    ...(engine === null
      ? {}
      : { SVC_DOCKER_SOCKET: engine.socket, SVC_RUNTIME_DEFAULT: "process", SVC_IMAGE_REGISTRIES: "localhost" }),
  });
  const panel = ["vendor-cost", "vendor-security", "vendor-support"];
  for (const name of ["release-writer", "release-critic", "ticket-triager", ...panel])
    await at.sample(`agents/${name}`);
  const others = ["order-saga", "triage-ticket", "triage-map"];
  for (const name of ["release-notes", "vendor-panel", "container-pipeline", ...others]) await at.sample(name);
  await at.sample("nightly-report", (text) => text.replaceAll("127.0.0.1:9099", `127.0.0.1:${figures.port}`));
}, 60_000);
afterAll(async () => {
  await at.close();
  await figures.close();
});

describe("release notes", () => {
  const notes = "# Release\n\n- Workflows hold for people.\n- Decisions resume them at once.";

  test("are written, judged, released by a person and kept", async () => {
    const id = await at.start("release-notes", { input: { changes: ["one", "two"] } });
    const approval = await at.approvalOf(id);
    const [pending] = (await at.ok("GET", `/v1/human-approvals?execution_id=${id}`)).pending_requests;
    expect(pending).toMatchObject({ id: approval, prompt: `Release these notes?\n\n${notes}`, timeout_seconds: 7200 });
    expect((await at.approve(id)).status).toBe(200);
    const record = await at.ended(id);
    expect(record).toMatchObject({
      status: "completed",
      final_output: { notes, characters: notes.length, released_by: expect.any(String) },
      state_outputs: { DRAFT: { status: "completed", score: 0.9, iterations: 1 }, PUBLISH: { exit_code: 0 } },
      input: { version: "next" },
    });
    const agents = (await at.agentsOf(id)).map(({ agent_name }) => agent_name);
    expect(agents.sort()).toEqual(["release-critic", "release-writer"]);
  }, 60_000);

  test("sent back, they are written again with the person's words", async () => {
    const id = await at.start("release-notes", { input: { changes: ["one"] } });
    const approval = await at.approvalOf(id);
    await at.ok("POST", `/v1/human-approvals/${approval}/reject`, { reason: "say more of the first" });
    const again = await at.reached(
      id,
      ({ waiting_for }) => waiting_for !== null && waiting_for.approval_id !== approval,
      "a second wait",
    );
    expect(again).toMatchObject({
      state_visits: { DRAFT: 2, RELEASE: 2 },
      blackboard: { human: { feedback: "say more of the first" } },
    });
    const [second] = (await at.agentsOf(id)).filter(({ agent_name }) => agent_name === "release-writer");
    const written = await at.ok("GET", `/v1/executions/${second?.id}`);
    expect(written.input).toContain("The last draft came back: say more of the first");
    await at.ok("POST", `/v1/workflows/executions/${id}/cancel`);
    expect((await at.ended(id)).status).toBe("cancelled");
  }, 60_000);
});

test("a vendor panel weighs its verdicts", async () => {
  const record = await at.ended(await at.start("vendor-panel", { input: { offer: "Ten seats for a year" } }));
  // (2 × 0.9 + 3 × 0.7 + 1 × 0.8) / 6
  expect(record.state_outputs.ASSESS.consensus.score).toBeCloseTo(4.7 / 6, 9);
  expect(record).toMatchObject({ status: "completed", final_output: { accepted: true, decided_by: "the panel" } });
  expect(record.final_output.score).toBeCloseTo(4.7 / 6, 9);
}, 60_000);

test.skipIf(engine === null)(
  "a container pipeline builds, checks, has notes written and released, and packs",
  async () => {
    const input = { image: engine?.bare, source: "Sign here" };
    const id = await at.start("container-pipeline", { input });
    const children = async () => (await at.ok("GET", `/v1/workflows/executions?parent_execution_id=${id}`)).executions;
    const child = await until(async () => (await children())[0], { timeoutMs: 60_000, what: "the sub-workflow" });
    expect(child).toMatchObject({ workflow_name: "release-notes", parent_execution_id: id });
    await at.approve(child.id);
    const record = await at.ended(id);
    const digest = createHash("sha256").update("SIGN HERE").digest("hex");
    expect(record).toMatchObject({
      status: "completed",
      final_output: { digest: `${digest}  out/artifact`, checks: 3, notes: { released_by: expect.any(String) } },
      state_outputs: { CHECK: { overall_success: true }, NOTES: { child_execution_id: child.id, final_state: "DONE" } },
    });
  },
  120_000,
);

describe("an order in steps that are undone", () => {
  const undoneIn = async (id: string) =>
    (await at.logOf(id))
      .filter(({ type }) => type === "WorkflowCompensationCompleted")
      .map(({ details }) => [details.state_name, details.of_state]);
  const undone = [
    ["REFUND", "CHARGE"],
    ["RELEASE", "RESERVE"],
  ];

  test("that nothing ships is refunded, then released", async () => {
    const id = await at.start("order-saga", { input: { order: "A-7", carrier: "none" } });
    const record = await at.ended(id);
    expect(record).toMatchObject({
      status: "failed",
      error_code: "command_failed",
      compensation: { status: "done", remaining: [] },
      final_output: null,
    });
    expect(await undoneIn(id)).toEqual(undone);
    expect((await at.logOf(id)).at(-1)?.type).toBe("WorkflowExecutionFailed");
  }, 60_000);

  test("that is delivered is closed; one that is cancelled before is undone", async () => {
    const delivered = await at.start("order-saga", { input: { order: "A-8" } });
    const waits = ({ waiting_for }: { waiting_for: { kind: string } | null }) => waiting_for?.kind === "signal";
    await at.reached(delivered, waits as never, "the run to wait for its delivery");
    await at.ok("POST", `/v1/workflows/executions/${delivered}/signal`, { signal_name: "delivered" });
    const ledger = "reserved for A-8\ncharged 10 for A-8\nhanded to post\n";
    expect(await at.ended(delivered)).toMatchObject({ status: "completed", final_output: { order: "A-8", ledger } });

    const cancelled = await at.start("order-saga", { input: { order: "A-9" } });
    await at.reached(cancelled, waits as never, "the run to wait for its delivery");
    await at.ok("POST", `/v1/workflows/executions/${cancelled}/cancel`, { compensate: true });
    expect(await at.ended(cancelled)).toMatchObject({ status: "cancelled", compensation: { status: "done" } });
    expect(await undoneIn(cancelled)).toEqual(undone);
  }, 60_000);
});

test("tickets of a stimulus are filed side by side, doubtful ones by a person", async () => {
  await at.ok("POST", "/v1/stimulus-routes", { source: "helpdesk", workflow: "triage-map" });
  const subjects = ["My invoice", "It hums", "A new password", "It glows"];
  const tickets = subjects.map((subject, index) => ({ id: `T-${index + 1}`, subject }));
  await at.ok("POST", "/v1/stimuli", { source: "helpdesk", content: JSON.stringify({ tickets }) });
  const runs = async () => (await at.ok("GET", "/v1/workflows/executions?workflow_name=triage-map")).executions;
  const run = await until(async () => (await runs())[0], { timeoutMs: 60_000, what: "the run of the stimulus" });
  const asked = async () => {
    const { pending_requests } = await at.ok("GET", "/v1/human-approvals");
    const ours = pending_requests.filter(
      ({ workflow_name }: { workflow_name: string }) => workflow_name === "triage-ticket",
    );
    return ours.length === 2 ? ours : null;
  };
  const approvals = await until(asked, { timeoutMs: 60_000, what: "both questions" });
  for (const { id, prompt } of approvals) {
    const isFirst = prompt.includes("It hums");
    const decision = isFirst ? "approve" : "reject";
    await at.ok("POST", `/v1/human-approvals/${id}/${decision}`, isFirst ? {} : { reason: "other" });
  }
  expect(await at.ended(run.id)).toMatchObject({
    status: "completed",
    final_output: {
      failed: 0,
      filed: [
        { id: "T-1", queue: "billing", decided_by: "rules" },
        { id: "T-2", queue: "hardware", decided_by: expect.any(String) },
        { id: "T-3", queue: "access", decided_by: "rules" },
        { id: "T-4", queue: "other", decided_by: expect.any(String) },
      ],
    },
  });
  const { items } = await at.ok("GET", `/v1/workflows/executions/${run.id}/items?state=TRIAGE`);
  expect(items.map(({ index, status }: { index: number; status: string }) => [index, status])).toEqual(
    [0, 1, 2, 3].map((index) => [index, "completed"]),
  );
}, 60_000);

test("a nightly report, run by hand, waits for its figures and hands them on", async () => {
  const { schedules } = await at.ok("GET", "/v1/workflows/nightly-report/schedules");
  expect(schedules).toMatchObject([{ name: "nightly", cron: "30 2 * * *", paused: false }]);
  expect(schedules[0].next_times).toHaveLength(5);
  const input = { day: "monday", pause_seconds: 1 };
  const { execution_id: id } = await at.ok("POST", `/v1/workflows/nightly-report/schedules/${schedules[0].id}/run`, {
    input,
  });
  expect(await at.ended(id)).toMatchObject({
    status: "completed",
    schedule_id: schedules[0].id,
    state_visits: { FIGURES: 2, LATER: 1 },
    final_output: { orders: 118, report: "118 orders monday" },
  });
  expect(figures.reports).toEqual([{ day: "monday", text: "118 orders monday" }]);
}, 60_000);
