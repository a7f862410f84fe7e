/** Executions of agents that bring nothing to run, as a router's are: through a whole node, from start to record. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { AgentOptions } from "../../../harness/manifests.ts";
import { say, shell } from "../../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../../harness/node/node-process.ts";
import { until } from "../../../harness/until.ts";
import { ExecutionFixture } from "../fixture.ts";

const program = "test/features/executions/iteration/stimulus-node-program.ts";
let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open({}, program);
});
afterAll(() => at.close());

async function started(agentId: string, node: NodeProcess = at.node): Promise<string> {
  const body = JSON.stringify({ agentId, input: "an order was paid" });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`http://127.0.0.1:${node.port}/starts`, { method: "POST", body, headers });
  return ((await answer.json()) as { execution_id: string }).execution_id;
}

/** Deploys an agent without tools and starts it for a stimulus. */
const routed = async (options: AgentOptions): Promise<string> => started(await at.deploy({ tools: [], ...options }));
const inlineRuntime = { isolation: "process", image: null, sandbox: "none", egress_enforced: true };
const held = (folder: string): string[] => readdirSync(join(at.node.dataDir, folder)).filter((name) => name[0] !== ".");

describe("a router's execution", () => {
  test("is answered without a sandbox, and its record says so", async () => {
    const id = await routed({ script: [say('{"workflow":"a"}')] });
    expect(await at.ended(id)).toMatchObject({
      status: "completed",
      output: '{"workflow":"a"}',
      trigger: "stimulus",
      runtime: inlineRuntime,
      volumes: [],
      warnings: [],
      usage: { llm_calls: 1 },
      iterations: [{ status: "success", exit_code: 0, stderr: "" }],
    });
    expect((await at.events(id)).map(({ name }) => name)).toEqual([
      "execution_started",
      "iteration_started",
      "instance_spawned",
      "llm_interaction",
      "instance_terminated",
      "iteration_completed",
      "execution_completed",
    ]);
    expect([held("instances"), held("workspaces")]).toEqual([[], []]);
    expect(await underWay()).toBe(0);
    const files = await at.node.call("GET", `/v1/executions/${id}/files`);
    expect(files).toMatchObject({ status: 200, body: { items: [], count: 0 } });
    expect((await at.node.call("DELETE", `/v1/executions/${id}`)).status).toBe(200);
    expect((await at.node.call("GET", `/v1/executions/${id}`)).status).toBe(404);
  });

  test("validators judge it as any other, and what they say is asked again", async () => {
    const script = { 1: say("no"), 2: say("{}") };
    const validation = [
      { type: "json_schema", schema: { type: "object" } },
      { type: "exit_code", min_score: 1 },
    ];
    const id = await routed({ script, execution: { mode: "iterative", max_iterations: 3, validation } });
    const record = await at.ended(id);
    expect(record).toMatchObject({ status: "completed", output: "{}", total_iterations: 2 });
    expect(record.iterations[1].llm_interactions[0].prompt).toContain("Earlier attempts at this task");
  });

  test("a tool that its model makes up is refused in the loop; nothing runs", async () => {
    const record = await at.ended(await routed({ script: [shell("touch made"), say("well")] }));
    expect(record).toMatchObject({ status: "completed", output: "well" });
    expect(record.iterations[0].trajectory.map(({ status }: { status: string }) => status)).not.toContain("succeeded");
    expect(held("workspaces")).toEqual([]);
  });

  test("a model that fails is its fault", async () => {
    const record = await at.ended(await routed({ script: [{ error: { class: "authentication" } }] }));
    expect(record).toMatchObject({ status: "failed", error_code: "llm_error" });
  });

  test("cancelled while the model is silent, it ends at once", async () => {
    const id = await routed({ script: [{ content: "late", delay_ms: 60_000 }] });
    await ExecutionFixture.seen(await at.follow(id), "instance_spawned");
    const answer = await at.node.call("POST", `/v1/executions/${id}/cancel`, {});
    expect(answer).toMatchObject({ status: 200, body: { status: "cancelled" } });
    await until(async () => (await underWay()) === 0, { what: "no work left" });
    expect((await at.record(id)).status).toBe("cancelled");
  });

  test.each([
    ["the iteration's", { iteration_timeout: 1 }, {}, { status: "failed", error_code: "iteration_timeout" }],
    ["the execution's", {}, { timeout: 1 }, { status: "timed_out", error_code: "execution_timeout" }],
  ])("%s time is kept", async (_, execution, resources, end) => {
    const script = [{ content: "late", delay_ms: 60_000 }];
    const id = await routed({ script, execution, ...(Object.keys(resources).length > 0 && { resources }) });
    expect(await at.ended(id)).toMatchObject(end);
    await until(async () => (await underWay()) === 0, { what: "no work left" });
  });
});

/** Rows of work that the node is at. */
async function underWay(): Promise<number> {
  const [row] = await at.stores.sql<{ count: number }[]>`select count(*)::int as count from runtime_activities`;
  return row?.count ?? 0;
}

describe("an instance of its own has", () => {
  test("an agent with tools; and any agent that no stimulus asks", async () => {
    const tooled = await started(await at.deploy({ script: [say("x")] }));
    const asked = await at.launch({ script: [say("x")], tools: [] });
    for (const id of [tooled, asked]) {
      const { runtime, volumes } = await at.ended(id);
      expect(runtime).not.toEqual(inlineRuntime);
      expect(volumes).toHaveLength(1);
    }
  });
});

describe("its node is killed while the model is asked", () => {
  const script = [{ content: "done", delay_ms: 2500 }];
  const seen = async (id: string) => ExecutionFixture.seen(await at.follow(id), "instance_spawned");
  const goesOn = async (id: string) => {
    const names = (await at.events(id)).map(({ name }) => name);
    expect(names.at(-1)).toBe("execution_completed");
    for (const once of ["instance_spawned", "llm_interaction"]) {
      expect(names.filter((name) => name === once)).toHaveLength(1);
    }
    expect(names).not.toContain("iteration_restarted");
    expect(await at.record(id)).toMatchObject({ output: "done", total_iterations: 1, iterations: [{ attempt: 1 }] });
  };

  test("a node on another host goes on with it", async () => {
    const other = await startNodeProcess(at.stores, { program });
    const id = await started(await at.deploy({ tools: [], script }), other);
    await seen(id);
    await other.kill();
    await at.ended(id);
    await goesOn(id);
    await other.dispose();
  }, 60_000);

  test("started again, it goes on itself", async () => {
    const id = await routed({ script });
    await seen(id);
    await at.node.kill();
    await at.node.restart();
    await at.ended(id);
    await goesOn(id);
  }, 60_000);
});
