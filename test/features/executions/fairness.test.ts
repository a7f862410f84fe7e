/** Slots are taken in turn by tenant: one tenant's many runs do not starve another's one. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { manifest, say, shell } from "../../harness/manifests.ts";
import { ExecutionFixture } from "./fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open({ SVC_MAX_INSTANCES: "2" });
});
afterAll(() => at.close());

test("another tenant's run goes ahead of a long line; the line itself keeps its order", async () => {
  const script = [{ content: "done", delay_ms: 250 }];
  const agent = await at.deploy({ script });
  const started = await Promise.all(Array.from({ length: 60 }, () => at.start(agent)));
  expect(started.map(({ status }) => status)).toEqual(started.map(() => 200));
  const pending = async () => (await at.node.call("GET", "/v1/executions?status=pending&limit=100")).body.count;
  const before = await pending();

  const bearer = await at.node.token({ tenant_id: "acme" }, "tenant-acme");
  const headers = { Authorization: `Bearer ${bearer}` };
  const theirs = await at.node.call("POST", "/v1/agents", manifest({ script }), headers);
  expect(theirs.status).toBe(200);
  const body = { agent_id: theirs.body.agent_id, input: "", wait_seconds: 60 };
  const guest = await at.node.call("POST", "/v1/executions", body, headers);
  expect(guest.body).toMatchObject({ status: "completed", output: "done" });
  // Whoever held the slots when it came may finish first, and a few beside it; no more.
  expect(await pending()).toBeGreaterThan(before - 12);
  expect(before).toBeGreaterThan(45);

  const { body: line } = await at.node.call("GET", "/v1/executions?status=completed,running&limit=100");
  const begun = new Set(line.executions.map(({ id }: { id: string }) => id));
  const order = started.map(({ body }) => body).sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const late = order.slice(40).filter(({ execution_id }) => begun.has(execution_id));
  expect(late).toEqual([]);
}, 90_000);

test("runs that hold every slot do not keep the judges of their own calls waiting", async () => {
  const judge = `slot-judge-${process.pid}`;
  await at.deploy({ name: judge, script: [{ content: '{"score":1}' }], tools: [] });
  const agent = await at.deploy({
    script: [shell("true"), say("done")],
    execution: { tool_validation: [{ type: "semantic", judge_agent: judge, criteria: "Harmless" }] },
  });
  const runs = await Promise.all(Array.from({ length: 4 }, () => at.start(agent, { input: "", wait_seconds: 60 })));
  expect(runs.map(({ body }) => [body.status, body.output])).toEqual(runs.map(() => ["completed", "done"]));
}, 90_000);

test("nor do judges that hold every slot keep the judges of their own calls waiting", async () => {
  const [inner, outer] = [`inner-judge-${process.pid}`, `outer-judge-${process.pid}`];
  const judged = (judge_agent: string) => ({
    tool_validation: [{ type: "semantic", judge_agent, criteria: "Harmless", timeout_seconds: 60 }],
  });
  await at.deploy({ name: inner, script: [{ content: '{"score":1}' }], tools: [] });
  await at.deploy({ name: outer, script: [shell("true"), say('{"score":1}')], execution: judged(inner) });
  const agent = await at.deploy({ script: [shell("true"), say("done")], execution: judged(outer) });
  const run = await at.start(agent, { input: "", wait_seconds: 40 });
  expect([run.body.status, run.body.output]).toEqual(["completed", "done"]);
}, 90_000);
