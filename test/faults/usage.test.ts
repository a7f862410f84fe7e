/** Usage on a node that is killed at its work: each activity counts once, as its records say (docs/reference/usage.md). */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { isEnd } from "../../actors/edge-host/command.ts";
import { FleetFixture } from "../features/edge/fleet/fixture.ts";
import type { LooseJson } from "../harness/loose-json.ts";
import { calls, manifest, say, shell } from "../harness/manifests.ts";
import { until } from "../harness/until.ts";

setDefaultTimeout(90_000);

let at: FleetFixture;
beforeAll(async () => {
  at = await FleetFixture.open();
}, 60_000);
afterAll(() => at?.close());

const call = (method: string, path: string, body?: unknown) => at.node.call(method, path, body, at.ann);
const slow = (reply: object) => ({ ...reply, delay_ms: 150 });
const script = [
  slow(calls(["fs.write", { path: "a", content: "hi" }], ["fs.read", { path: "a" }], ["no.such", {}])),
  slow(shell("sleep 0.2")),
  slow(calls(["fs.list", { path: "." }])),
  slow(say("done")),
];
const kills = 2;

test("model calls, tool calls and host commands count once where their node is killed", async () => {
  const { sql } = at.edge.stores;
  const daemons = await at.hosts("metered", ["m-1", "m-2", "m-3", "m-4"]);
  const agent = (await call("POST", "/v1/agents", manifest({ script, tools: ["fs.*", "cmd.run"] }))).body.agent_id;
  const ids: string[] = [];
  for (let kill = 0; kill < kills; kill++) {
    for (let each = 0; each < 2; each++) {
      const started = await call("POST", "/v1/executions", { agent_id: agent, input: "" });
      expect(started.status).toBe(200);
      ids.push(started.body.execution_id);
    }
    await at.begin({ target: { Selector: { tags: ["metered"] } }, tool: "cmd.run", args: { command: "true" } });
    const [before] = await sql<[{ count: number }]>`select count(*)::int as count from usage_activities`;
    // Some of it is on record, and more is on its way.
    const [first] = daemons;
    if (first !== undefined) await first.result(await first.next());
    await until(async () => {
      const [row] = await sql<[{ count: number }]>`select count(*)::int as count from usage_activities`;
      return row.count >= before.count + 2 + kill;
    });
    await at.node.kill();
    await at.node.restart();
    await at.signIn();
    for (const daemon of daemons) await daemon.connect();
    for (const daemon of daemons.slice(1)) await daemon.result(await daemon.next());
  }
  const records: LooseJson[] = [];
  for (const id of ids) {
    records.push(
      await until(
        async () => {
          const { body } = await call("GET", `/v1/executions/${id}?wait_seconds=5`);
          return /^(pending|running)$/.test(body.status) ? null : body;
        },
        { timeoutMs: 60_000, what: "the execution to end" },
      ),
    );
  }
  await until(async () => (await sql`select from edge_runs where ended_at is null`).length === 0, {
    what: "the runs to end",
  });

  const sumOf = (member: string) => records.reduce((sum, { usage }) => sum + Number(usage[member]), 0);
  const rows = await sql<
    { kind: number; id: string }[]
  >`select kind, id from usage_activities where tenant = ${at.tenant}`;
  const countOf = (kind: number) => rows.filter((row) => row.kind === kind).length;
  expect(
    rows
      .filter(({ kind }) => kind === 1)
      .map(({ id }) => id)
      .sort(),
  ).toEqual([...ids].sort());
  expect(countOf(2)).toBe(sumOf("llm_calls"));
  const ended = await sql`
    select from runtime_logs where kind = 'execution' and log = 'events' and key = any(${ids}::text[])
      and entry like '{"instance_terminated":%'`;
  expect(ended.length).toBeGreaterThan(0);
  expect(countOf(4)).toBe(ended.length);
  const ran = await sql`
    select from tool_invocations where tenant = ${at.tenant} and decision = 'allow' and execution_id is not null
      and outcome in ('success', 'failed', 'interrupted')`;
  expect(countOf(3)).toBe(ran.length);
  expect(countOf(3)).toBe(sumOf("tool_calls"));
  const commands = await sql<{ status: string; started_at: Date | null; stdout_bytes: string | null }[]>`
    select status, started_at, stdout_bytes from edge_commands where tenant = ${at.tenant}`;
  const reached = commands.filter((row) => row.started_at !== null || row.stdout_bytes !== null);
  expect(commands.every(({ status }) => isEnd(status as never))).toBe(true);
  expect(countOf(5)).toBe(reached.length);
  expect(countOf(5)).toBeGreaterThan(0);

  const { body } = await call("GET", "/v1/usage");
  expect(body.totals).toMatchObject({
    executions: ids.length,
    tool_calls: ran.length,
    input_tokens: sumOf("input_tokens"),
    output_tokens: sumOf("output_tokens"),
    host_commands: reached.length,
  });
});
