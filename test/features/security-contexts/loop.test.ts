/** Agents at work under security contexts: real nodes, real processes, the scripted model. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LooseJson } from "../../harness/loose-json.ts";
import { calls, say } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at?.close());

let contexts = 0;
async function contextOf(capabilities: readonly object[], deny_list: readonly string[] = []): Promise<string> {
  const name = `held-${contexts++}`;
  const made = await at.node.call("POST", "/v1/security-contexts", { name, capabilities, deny_list });
  expect(made.status).toBe(201);
  return name;
}

/** What became of each call, by the record of the iteration and by those of the calls. */
async function run(security_context: string, ...tools: readonly (readonly [string, Record<string, unknown>])[]) {
  const record = await at.run({ script: [calls(...tools), say("done")], spec: { security_context } });
  const [iteration] = record.iterations;
  const list = await at.node.call("GET", `/v1/tool-invocations?execution_id=${record.execution_id}`);
  const invocations: LooseJson[] = [...list.body.items].reverse();
  return {
    steps: iteration.trajectory.map(({ status }: LooseJson) => status),
    results: iteration.trajectory.map(({ result_json }: LooseJson) => JSON.parse(result_json ?? "null")),
    violations: iteration.policy_violations,
    codes: invocations.map(({ code }) => code),
    invocations,
  };
}

test("an agent is held to its context's names, paths and commands", async () => {
  const name = await contextOf(
    [
      { tool_pattern: "fs.*", path_allowlist: ["/workspace"] },
      { tool_pattern: "cmd.run", subcommand_allowlist: { echo: [], git: ["status"] } },
    ],
    ["fs.delete"],
  );
  const { steps, codes, violations, invocations } = await run(
    name,
    ["fs.write", { path: "n.md", content: "hi" }],
    ["fs.read", { path: "/workspace/../etc/passwd" }],
    ["fs.delete", { path: "n.md" }],
    ["cmd.run", { command: "echo a; rm -rf x" }],
    ["cmd.run", { command: "git push" }],
    ["cmd.run", { command: "echo fine" }],
  );
  expect(steps).toEqual(["succeeded", "refused", "refused", "refused", "refused", "succeeded"]);
  expect(violations).toEqual(["fs.read", "fs.delete", "cmd.run", "cmd.run"]);
  expect(codes).toEqual([
    null,
    "path_not_allowed",
    "tool_denied",
    "command_not_allowed",
    "subcommand_not_allowed",
    null,
  ]);
  expect(invocations[1]).toMatchObject({
    decision: "deny",
    violation_type: "path_traversal_attempt",
    security_context: name,
    context_version: 1,
    capability_index: 0,
  });
});

test("a link in /workspace to /etc leads neither a file tool nor a command there: 2002", async () => {
  const name = await contextOf([{ tool_pattern: "*", path_allowlist: ["/workspace"] }]);
  const { steps, codes } = await run(
    name,
    ["cmd.run", { command: "ln", args: ["-s", "/etc", "/workspace/link"] }],
    ["fs.read", { path: "link/passwd" }],
    ["cmd.run", { command: "pwd", args: [], cwd: "/workspace/link" }],
    ["cmd.run", { command: "pwd", args: [], cwd: "/workspace" }],
  );
  expect(steps).toEqual(["succeeded", "refused", "refused", "succeeded"]);
  expect(codes).toEqual([null, "path_not_allowed", "path_not_allowed", null]);
});

test("a rate of two refuses the third call of an agent in spite of a later *", async () => {
  const name = await contextOf([
    { tool_pattern: "fs.list", rate_limit: { calls: 2, per_seconds: 60 } },
    { tool_pattern: "*" },
  ]);
  const { steps, codes, results } = await run(
    name,
    ["fs.list", {}],
    ["fs.list", {}],
    ["fs.list", {}],
    ["fs.glob", { pattern: "*" }],
  );
  expect(steps).toEqual(["succeeded", "succeeded", "refused", "succeeded"]);
  expect(codes[2]).toBe("rate_limited");
  expect(results[2].retry_after_seconds).toBeGreaterThan(0);
});

test("max_response_size 100 cuts what fs.read gives to 100 bytes", async () => {
  const name = await contextOf([{ tool_pattern: "fs.read", max_response_size: 100 }, { tool_pattern: "*" }]);
  const { results } = await run(
    name,
    ["fs.write", { path: "long.txt", content: "x".repeat(1000) }],
    ["fs.read", { path: "long.txt" }],
  );
  expect([results[1].content, results[1].truncated]).toEqual(["x".repeat(100), true]);
});

test("what a context stops opening is refused in an execution that runs", async () => {
  const name = await contextOf([{ tool_pattern: "*" }]);
  const script = [
    calls(["fs.write", { path: "a", content: "" }]),
    ...Array.from({ length: 15 }, () => calls(["fs.list", {}], ["cmd.run", { command: "sleep", args: ["0.2"] }])),
    say("done"),
  ];
  const executionId = await at.launch({ script, spec: { security_context: name } });
  const listed = async () =>
    (await at.node.call("GET", `/v1/tool-invocations?execution_id=${executionId}`)).body.items as LooseJson[];
  await until(async () => (await listed()).length > 0, { what: "the first call" });
  const closed = { capabilities: [{ tool_pattern: "cmd.run" }] };
  expect((await at.node.call("PUT", `/v1/security-contexts/${name}`, closed)).status).toBe(200);
  const record = await at.ended(executionId);
  expect(record.iterations[0].policy_violations).toContain("fs.list");
  expect((await listed()).find(({ code }) => code === "tool_not_allowed")).toMatchObject({ context_version: 2 });
});
