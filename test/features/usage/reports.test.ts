/** What a tenant has used, from what its executions really did (docs/reference/usage.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientName } from "../../../actors/tool/run-tools.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { calls, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "../executions/fixture.ts";
import { callTool } from "../mcp/fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "usage-"));
const SVC_CONFIG_FILE = join(folder, "config.json");
const model = { alias: "default", model: "told", cost_per_1k_tokens: { input: 1, output: 2 } };

let at: ExecutionFixture;
beforeAll(async () => {
  writeFileSync(SVC_CONFIG_FILE, JSON.stringify({ llm_providers: [{ name: "s", type: "scripted", models: [model] }] }));
  at = await ExecutionFixture.open({ SVC_CONFIG_FILE });
});
afterAll(async () => {
  await at?.close();
  rmSync(folder, { recursive: true, force: true });
});

const call = (query = "", headers: Record<string, string> = {}) =>
  at.node.call("GET", `/v1/usage?${query}`, undefined, headers);
async function usage(query = "", headers: Record<string, string> = {}): Promise<LooseJson> {
  const { status, body } = await call(query, headers);
  expect([status, body]).toEqual([200, body]);
  return body;
}
const tokens = (input: number, output: number) => ({ usage: { input_tokens: input, output_tokens: output } });
const rowOf = ({ usage: rows }: LooseJson, key: string | null): LooseJson =>
  rows.find((row: LooseJson) => row.key === key);

test("an execution counts with its calls that ran, tokens, their cost and its sandbox", async () => {
  const script = [
    {
      ...calls(["fs.write", { path: "a", content: "hi" }], ["fs.read", { path: 7 }], ["no.such", {}]),
      ...tokens(100, 10),
    },
    { ...shell("true"), ...tokens(200, 5) },
    { content: "ok", ...tokens(700, 5) },
  ];
  const record = await at.run({ script, tools: ["fs.*", "cmd.run"] });
  expect(record.usage).toMatchObject({ llm_calls: 3, tool_calls: 2, cost_usd: 1.04 });
  const byAgent = await usage("group_by=agent");
  expect(byAgent.items).toEqual(byAgent.usage);
  expect(byAgent).toMatchObject({ count: 1, next_cursor: null, group_by: "agent" });
  const row = rowOf(byAgent, record.agent_id);
  expect(row).toMatchObject({
    ...{ name: record.agent_name, executions: 1, tool_calls: 2, input_tokens: 1_000, output_tokens: 20, cost: 1.04 },
    ...{ storage_gib_hours: null, host_commands: null },
  });
  expect(row.sandbox_seconds).toBeGreaterThan(0);
  expect(rowOf(await usage("group_by=tool"), "fs.write").tool_calls).toBe(1);
  expect(rowOf(await usage("group_by=tool"), "cmd.run").tool_calls).toBe(1);
  expect(rowOf(await usage("group_by=model"), "default")).toMatchObject({ input_tokens: 1_000, executions: null });
  expect(rowOf(await usage("group_by=workflow"), null)).toMatchObject({ executions: 1, tool_calls: 2 });
  const today = await usage();
  expect(rowOf(today, new Date().toISOString().slice(0, 10))).toMatchObject({ executions: 1, storage_gib_hours: 0 });
  const totals = await Promise.all(
    ["day", "agent", "model", "workflow", "tool"].map(async (by) => (await usage(`group_by=${by}`)).totals),
  );
  for (const one of totals) expect(one).toEqual(today.totals);
});

test("an execution that was cancelled counts, with the sandbox that it had", async () => {
  const before = (await usage()).totals;
  const id = await at.launch({ script: [shell("sleep 60")] });
  await ExecutionFixture.seen(await at.follow(id), "tool_call_started");
  expect((await at.node.call("POST", `/v1/executions/${id}/cancel`, {})).status).toBe(200);
  await at.ended(id);
  const after = (await usage()).totals;
  expect(after.executions - before.executions).toBe(1);
  expect(after.tool_calls - before.tool_calls).toBe(1);
  expect(after.sandbox_seconds).toBeGreaterThan(before.sandbox_seconds);
});

test("a workflow's command and its executions count for the workflow", async () => {
  const agent = await at.deploy({ script: [{ content: "done", ...tokens(10, 1) }] });
  const definition = {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: "metered", version: "1.0.0" },
    spec: {
      initial_state: "RUN",
      states: {
        RUN: { kind: "System", command: "sleep 0.3", transitions: [{ condition: "always", target: "ASK" }] },
        ASK: { kind: "Agent", agent, input: "x", transitions: [] },
      },
    },
  };
  expect((await at.node.call("POST", "/v1/workflows", definition)).status).toBeLessThan(300);
  const { body } = await at.node.call("POST", "/v1/workflows/metered/run", { input: {} });
  const run = body.execution_id;
  await until(async () => (await at.node.call("GET", `/v1/workflows/executions/${run}`)).body.status === "completed", {
    timeoutMs: 30_000,
    what: "the run to end",
  });
  const row = rowOf(await usage("group_by=workflow"), "metered");
  expect(row).toMatchObject({ name: "metered", executions: 1, input_tokens: 10 });
  const [command] = await at.stores.sql<{ duration_ms: string }[]>`
    select duration_ms from usage_activities where kind = 4 and workflow = 'metered' and agent_id is null`;
  expect(Number(command?.duration_ms)).toBeGreaterThanOrEqual(300);
});

test("a call of the tool endpoint counts under no agent", async () => {
  const { isError } = await callTool([at.node], clientName("svc.agent.list"), {});
  expect(isError).toBe(false);
  await until(async () => rowOf(await usage("group_by=tool"), "svc.agent.list")?.tool_calls === 1, {
    what: "the call to be counted",
  });
  expect(rowOf(await usage("group_by=agent"), null)).toMatchObject({ tool_calls: 1, executions: 0 });
});

test("cost is null without billing:read, in rows, totals and CSV", async () => {
  const key = await at.node.call("POST", "/v1/api-keys", { name: "usage", scopes: ["usage:read"] });
  const narrow = { Authorization: `Bearer ${key.body.key}` };
  const { usage: rows, totals } = await usage("group_by=agent", narrow);
  expect(rows.length).toBeGreaterThan(0);
  expect([...rows, totals].map(({ cost }) => cost)).toEqual([...rows, totals].map(() => null));
  expect(totals.input_tokens).toBeGreaterThan(0);
  const csv = await fetch(`${at.node.url}/v1/usage?group_by=model`, { headers: { ...narrow, Accept: "text/csv" } });
  expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const [head, ...lines] = (await csv.text()).trimEnd().split("\n");
  expect(head?.split(",").slice(0, 7)).toEqual([
    ...["key", "name", "executions", "tool_calls"],
    ...["input_tokens", "output_tokens", "cost"],
  ]);
  expect(lines).toEqual([`default,default,,,${totals.input_tokens},${totals.output_tokens},,,,`]);
  const other = await at.node.call("POST", "/v1/api-keys", { name: "none", scopes: ["agent:list"] });
  expect(await call("", { Authorization: `Bearer ${other.body.key}` })).toMatchObject({ status: 403 });
});

test.each([
  ["from=2031-04-02&to=2031-04-02", "from"],
  ["from=2031-04-03&to=2031-04-02T09:00:00Z", "from"],
  ["from=soon", "from"],
  ["to=", "to"],
  ["group_by=hour", "group_by"],
  ["cursor=x", "cursor"],
])("a report of %s is refused with 422", async (query, path) => {
  const { status, body } = await call(query);
  expect([status, body.issues?.[0]?.path]).toEqual([422, path]);
});

test("a report ends before `to`, and is of 30 days unless it says more", async () => {
  const { from, to } = await usage("to=2031-04-02");
  expect([from, to]).toEqual(["2031-03-03T00:00:00.000Z", "2031-04-02T00:00:00.000Z"]);
  const none = await usage("from=2001-01-01&to=2001-02-01T12:30:00%2B01:00");
  expect([none.count, none.totals.executions, none.to]).toEqual([0, 0, "2001-02-01T11:30:00.000Z"]);
});
