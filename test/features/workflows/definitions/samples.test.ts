/** The sample workflows, each from its start to its final output on a whole node. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { podman } from "../../../harness/outside/podman.ts";
import { until } from "../../../harness/until.ts";
import { NodeFixture } from "./node-fixture.ts";

const engine = await podman();
let at: NodeFixture;
beforeAll(async () => {
  at = await NodeFixture.open(
    engine === null
      ? {}
      : { SVC_DOCKER_SOCKET: engine.socket, SVC_RUNTIME_DEFAULT: "process", SVC_IMAGE_REGISTRIES: "localhost" },
  );
  for (const name of ["release-writer", "release-critic", "vendor-cost", "vendor-security", "vendor-support"]) {
    await at.sample(`agents/${name}`);
  }
  for (const name of ["release-notes", "vendor-panel", "container-pipeline"]) await at.sample(name);
}, 60_000);
afterAll(() => at.close());

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
