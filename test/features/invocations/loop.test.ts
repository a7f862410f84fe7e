/** Tool calls of a loop, by the policy of the tenant and on its record (docs/reference/tools.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LooseJson } from "../../harness/loose-json.ts";
import { calls, manifest, say, shell } from "../../harness/manifests.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at?.close());

const listed = async (query: string): Promise<LooseJson[]> => {
  const { status, body } = await at.node.call("GET", `/v1/tool-invocations?${query}`);
  expect(status).toBe(200);
  return body.items;
};

test("each call has a record with its result; a refused one says deny", async () => {
  const context = {
    name: "looks",
    capabilities: [{ tool_pattern: "fs.*" }, { tool_pattern: "cmd.run", max_timeout_secs: 7 }],
  };
  expect(await at.node.call("POST", "/v1/security-contexts", { ...context, deny_list: ["fs.delete"] })).toMatchObject({
    status: 201,
  });
  const script = [
    calls(["fs.write", { path: "a", content: "hi" }], ["fs.delete", { path: "a" }], ["fs.read", { path: 7 }]),
    shell("echo done"),
    say("ok"),
  ];
  const { execution_id: id } = await at.run({ script, tools: ["*"] }, { security_context_name: "looks" });
  const records = (await listed(`execution_id=${id}`)).toReversed();
  expect(records).toMatchObject([
    { tool_name: "fs.write", outcome: "success", decision: "allow", arguments: { path: "a", content: "hi" } },
    { tool_name: "fs.delete", outcome: "failed", decision: "deny", code: "tool_denied" },
    { tool_name: "fs.read", outcome: "failed", decision: "allow", code: "invalid_arguments" },
    { tool_name: "cmd.run", outcome: "success", entry: "dispatch", capability_index: 1 },
  ]);
  for (const record of records) {
    expect(record).toMatchObject({ execution_id: id, security_context: "looks", context_version: 1, count: 1 });
    expect(record.arguments_sha256).toMatch(/^[0-9a-f]{64}$/);
  }
  const [written, denied] = records;
  const { body } = await at.node.call("GET", `/v1/tool-invocations/${written?.id}`);
  expect(body).toMatchObject({ id: written?.id, result: { path: "/workspace/a", created: true } });
  const refused = await at.node.call("GET", `/v1/tool-invocations/${denied?.id}`);
  expect(refused.body.result).toMatchObject({ isError: true, code: "tool_denied", error_code: 2001 });
  expect(await listed(`execution_id=${id}&decision=deny`)).toHaveLength(1);
  expect(await listed(`execution_id=${id}&outcome=success&tool_name=cmd.run`)).toHaveLength(1);
});

test("a manifest without tools: every call of its model is 2000", async () => {
  const script = [calls(["fs.list", {}]), say("ok")];
  const { execution_id: id } = await at.run({ script, tools: [] });
  expect(await listed(`execution_id=${id}`)).toMatchObject([{ decision: "deny", code: "tool_not_allowed" }]);
});

test("unknown ids are 404, ids of another form 400, filters that are none 422", async () => {
  const answer = (path: string) => at.node.call("GET", `/v1/tool-invocations${path}`);
  expect(await answer(`/${crypto.randomUUID()}`)).toMatchObject({
    status: 404,
    body: { code: "invocation_not_found" },
  });
  expect(await answer("/x")).toMatchObject({ status: 400, body: { code: "invalid_invocation_id" } });
  expect(await answer("?outcome=x")).toMatchObject({ status: 422 });
  expect(await answer("?since=x")).toMatchObject({ status: 422 });
});

test("a deployment warns of tools that the tenant has not, and of no others", async () => {
  const tools = ["web.fetch", "svc.agent.list", "fs.*", "made.up", "mcp:nowhere"];
  const { status, body } = await at.node.call("POST", "/v1/agents", manifest({ tools }));
  expect(status).toBe(200);
  const warned = body.warnings.filter(({ code }: LooseJson) => code === "unknown_tool");
  expect(warned.map(({ path }: LooseJson) => path)).toEqual(["spec.tools.3", "spec.tools.4"]);
});
