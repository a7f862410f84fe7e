/** A schedule end to end: a node, its death, another node (docs/reference/agents.md). */
import { expect, test } from "bun:test";
import { manifest } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

/** Manifests know minutes only; what is stored may be shorter. */
async function hasten({ sql }: TestStores, agentId: string, everyMs: number): Promise<void> {
  await sql`
    update agent_versions set spec = jsonb_set(spec::jsonb, '{schedule,every_ms}', ${String(everyMs)}::text::jsonb)::json
    where agent_id = ${agentId}`;
}

test("a scheduled agent runs, outlives its node, pauses and ends with the agent", async () => {
  const stores = await freshStores();
  const nodes: NodeProcess[] = [await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } })];
  const [first] = nodes as [NodeProcess];
  try {
    const schedule = { type: "interval", seconds: 60 };
    const task = { instruction: "Say what you were given.", prompt_template: "{{input}}", input_data: "by itself" };
    const deployed = await first.call("POST", "/v1/agents", manifest({ spec: { schedule, task } }));
    expect(deployed.status).toBe(200);
    const agentId: string = deployed.body.agent_id;
    await hasten(stores, agentId, 1000);
    // A change of any kind has the schedule settled anew.
    expect((await first.call("PATCH", `/v1/agents/${agentId}`, { status: "paused" })).status).toBe(200);
    expect((await first.call("PATCH", `/v1/agents/${agentId}`, { status: "active" })).status).toBe(200);

    const runs = async (node: NodeProcess) =>
      (await node.call("GET", `/v1/executions?agent_id=${agentId}&limit=100`)).body.items as {
        execution_id: string;
        status: string;
      }[];
    const completed = await until(async () => (await runs(first)).find(({ status }) => status === "completed"), {
      timeoutMs: 40_000,
      what: "a run",
    });
    const record = (await first.call("GET", `/v1/executions/${completed.execution_id}`)).body;
    expect(record).toMatchObject({ trigger: "schedule", input: "by itself", output: "by itself" });
    expect(record.initiating_user_sub).toBeString();

    await first.kill();
    const second = await startNodeProcess(stores, { dataDir: first.dataDir, env: { SVC_LOG_LEVEL: "warn" } });
    nodes.push(second);
    const seen = new Set((await runs(second)).map(({ execution_id }) => execution_id));
    await until(
      async () => (await runs(second)).some((run) => !seen.has(run.execution_id) && run.status === "completed"),
      { timeoutMs: 60_000, what: "a run on the second node" },
    );
    expect((await second.call("DELETE", `/v1/agents/${agentId}`)).status).toBe(200);
    const [row] = await stores.sql`select 1 from schedule_fires where agent_id = ${agentId}`;
    expect(row).toBeUndefined();
  } finally {
    await Promise.all(nodes.map((node) => node.dispose()));
    await stores.dispose();
  }
}, 150_000);
