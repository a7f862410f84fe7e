/** Parked instances and the slots of a node (docs/reference/sandboxes.md). */
import { expect, test } from "bun:test";
import { calls, say } from "../../../harness/manifests.ts";
import { until } from "../../../harness/until.ts";
import { ExecutionFixture } from "../fixture.ts";

test("a parked instance's slot serves another execution, and it goes on once approved", async () => {
  const at = await ExecutionFixture.open({ SVC_TOOL_WAIT_PARK_SECONDS: "1", SVC_MAX_INSTANCES: "1" });
  const script = [calls(["fs.write", { path: "a", content: "x" }]), say("done")];
  const spec = { tools: [{ name: "fs.write", approval: {} }] };
  const waits = await at.launch({ script, spec });
  const waiting = await until(async () => (await at.record(waits)).waiting_for ?? null, {
    timeoutMs: 60_000,
    what: "the call to wait",
  });
  // The node has one slot, and the first execution is not over.
  expect(await at.run({ script: [say("other")] })).toMatchObject({ status: "completed" });
  expect(await at.record(waits)).toMatchObject({ status: "running" });
  const path = `/v1/human-approvals/${waiting.approval_id}/approve`;
  expect(await at.node.call("POST", path, {})).toMatchObject({ status: 200 });
  expect(await at.ended(waits)).toMatchObject({ status: "completed" });
  await at.close();
}, 150_000);
