/** The activity `workflow.tool` after a crash, and where it may not call now (docs/reference/workflow-calls.md). */
import { beforeEach, describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { ToolCall } from "../../../../actors/workflow/run/activities/tool-call.ts";
import type { Call, Invoked } from "../../../../src/features/pipeline/port.ts";
import { type ToolCallOptions, toolCallActivity } from "../../../../src/features/workflows/runs/calls/tool-call.ts";
import type { ActivityContext } from "../../../../src/runtime/port.ts";
import { runId } from "../../../actors/workflow/fixture.ts";

const made: Call[] = [];
const changed: string[] = [];
let answer: () => Promise<Invoked>;
/** The record of a call that may have been made before. */
let row: { readonly outcome: string; readonly code: string | null; readonly result: Json } | null;
let isHandedOver: boolean;
beforeEach(() => {
  made.length = 0;
  changed.length = 0;
  row = null;
  isHandedOver = false;
  answer = async () => ({ is: "succeeded", result: { count: 1 } });
});

const tools = [
  { name: "reads", readOnly: true, idempotent: false },
  { name: "repeats", readOnly: false, idempotent: true },
  { name: "once", readOnly: false, idempotent: false },
];
// Of each part only what the activity asks of it.
const options = {
  runtime: { of: () => ({ at: () => ({ read: async () => (isHandedOver ? {} : null), tell: async () => {} }) }) },
  pipeline: {
    async invoke(call: Call) {
      made.push(call);
      return answer();
    },
  },
  waiting: {},
  contexts: { defaultOf: async () => "default" },
  registry: { of: async () => ({ find: (name: string) => tools.find((one) => one.name === name) }) },
  invocations: {
    one: async () => (row === null ? null : { record: row }),
    resultOf: async () => row?.result ?? null,
    change: (_: string, __: string, { outcome }: { readonly outcome: string }) => changed.push(outcome),
  },
} as unknown as ToolCallOptions;

function attempt(tool: string, resumed = false): Promise<Json> {
  const input: ToolCall = {
    invocation_id: "0190f3c4-0000-7000-8000-00000000000a",
    key: "0190f3c4-0000-7000-8000-00000000000b",
    ...{ tool, arguments: { a: 1 }, context: null, ceilings: ["build"], starter: null, counted_for: null },
    run: {
      ...{ id: runId, root_execution_id: runId, workflow_id: "w", workflow_name: "w", state_name: "WORK", visit: 1 },
      owner: { kind: "workflow_run", key: runId },
    },
  };
  const actor = { kind: "workflow_run", key: runId, tenant: "t" };
  const context = { id: "tool:x", actor, attempt: 1, resumed, signal: new AbortController().signal };
  return toolCallActivity(options).run(input, context as unknown as ActivityContext);
}
const ended = (outcome: string, code?: string) => ({
  is: "ended",
  outcome: expect.objectContaining({
    outcome,
    ...(code === undefined ? {} : { result: expect.objectContaining({ code }) }),
  }),
});

test("calls as the run, under the default context and its ceilings", async () => {
  expect(await attempt("once")).toEqual(ended("success"));
  expect(made).toMatchObject([
    {
      ...{ tenant: "t", entry: "workflow", tool: "once", arguments: { a: 1 } },
      policy: { context: "default", ceilings: ["build"], tools: null },
      who: { execution: null, principal: runId, run: { state_name: "WORK" } },
    },
  ]);
});

describe("resumed", () => {
  test.each<[string, string, typeof row, number, object]>([
    ["makes a call that was not begun", "once", null, 1, ended("success")],
    ["makes one again that reads", "reads", { outcome: "running", code: null, result: null }, 1, ended("success")],
    [
      "makes one again that repeats",
      "repeats",
      { outcome: "interrupted", code: null, result: null },
      1,
      ended("success"),
    ],
    [
      "never makes another twice",
      "once",
      { outcome: "running", code: null, result: null },
      0,
      ended("failed", "interrupted"),
    ],
    [
      "has the result of one that ended",
      "once",
      { outcome: "success", code: null, result: { n: 2 } },
      0,
      ended("success"),
    ],
    [
      "has the failure of one that failed",
      ...(["once", { outcome: "failed", code: "timeout", result: { code: "timeout" } }, 0] as const),
      ended("failed", "timeout"),
    ],
    [
      "has the code of one that did not run",
      "once",
      { outcome: "failed", code: "x", result: null },
      0,
      ended("failed", "x"),
    ],
  ])("%s", async (_, tool, before, calls, wanted) => {
    row = before;
    expect<unknown>(await attempt(tool, true)).toEqual(wanted);
    expect(made).toHaveLength(calls);
  });

  test("leaves a call that people are asked about to its own actor", async () => {
    isHandedOver = true;
    expect(await attempt("once", true)).toEqual({ is: "waiting" });
    expect(made).toEqual([]);
  });
});

test.each([
  ["a rate", 2005, { retry_after_seconds: 7 }, 7000],
  ["a number of calls", 2008, {}, 1000],
])("%s is tried again later", async (_, error_code, details, after_ms) => {
  answer = async () => ({ is: "refused", error_code, code: "c", violation_type: "v", message: "m", details });
  expect(await attempt("once")).toMatchObject({ is: "later", after_ms, outcome: { outcome: "failed" } });
});

test("so is a call that could not be begun; what policy forbids is not", async () => {
  answer = async () => {
    throw new Problem("service_unavailable", "A store is away");
  };
  expect(await attempt("once")).toMatchObject({ is: "later" });
  const refused = { error_code: 2001, code: "tool_denied", violation_type: "v", message: "m", details: {} };
  answer = async () => ({ is: "refused", ...refused });
  expect(await attempt("once")).toEqual(ended("failed", "tool_denied"));
});
