/** Calls of a loop whose node died while they were under way (docs/reference/executions.md). */
import { expect, test } from "bun:test";
import { toolCallActivity } from "../../../../src/features/executions/iteration/loop/loop-activities.ts";
import type { Pipeline } from "../../../../src/features/pipeline/port.ts";

const work = {
  ...{ execution_id: "e", iteration: 1, instance_id: "i", log: "loop:i", seq: 1, call_id: "c1" },
  ...{ tool: "files.write", repeatable: false, invocation_id: "0190f3c4-0000-7000-8000-000000000001" },
};
const message = { role: "assistant", content: "", tool_calls: [{ id: "c1", name: "files.write", arguments: {} }] };

/** What becomes of the call where the registry says so of its tool. */
async function outcome(tool: { readOnly: boolean; idempotent: boolean } | null, resumed: boolean) {
  let ran = 0;
  const judged =
    tool === null
      ? { clearance: { is: "failed", code: "unknown_tool", message: "no such tool" } }
      : { clearance: { is: "cleared" }, tool, target: null };
  const pipeline = {
    clear: async () => [judged],
    run: async () => {
      ran += 1;
      return { status: "succeeded", result: {} };
    },
  };
  const activity = toolCallActivity({
    runtime: {
      of: () => ({ at: () => ({ log: async () => [{ seq: 1, entry: { entry: "message", message } }] }) }),
    } as never,
    plans: { of: async () => ({ tools: [], calls: undefined }) } as never,
    // Of the pipeline no more is asked here than these.
    pipeline: pipeline as unknown as Pipeline,
  });
  const actor = { kind: "execution", key: "e", tenant: "acme" };
  const context = { actor, signal: new AbortController().signal, id: "tool:1", resumed };
  const answer = (await activity.run(work as never, context as never)) as { status: string; code?: string };
  return [answer.code ?? answer.status, ran];
}

test("is made again where its tool may be run again; otherwise it is interrupted", async () => {
  expect(await outcome({ readOnly: true, idempotent: false }, true)).toEqual(["succeeded", 1]);
  expect(await outcome({ readOnly: false, idempotent: true }, true)).toEqual(["succeeded", 1]);
  expect(await outcome({ readOnly: false, idempotent: false }, true)).toEqual(["interrupted", 0]);
  expect(await outcome({ readOnly: false, idempotent: false }, false)).toEqual(["succeeded", 1]);
  // Of a tool that is no longer there it is not known what it did.
  expect(await outcome(null, true)).toEqual(["interrupted", 0]);
});
