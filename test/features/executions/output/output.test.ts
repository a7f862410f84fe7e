/** Context, output handlers and deliveries end to end: a real node, servers of others under names of the test's making. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { say, shell } from "../../../harness/manifests.ts";
import { Receiver } from "../../../harness/outside/receiver.ts";
import { until } from "../../../harness/until.ts";
import { ExecutionFixture } from "../fixture.ts";

let at: ExecutionFixture;
let count = 0;
const receiver = new Receiver();
const folder = mkdtempSync(join(tmpdir(), "svc-output-"));
beforeAll(async () => {
  const names = join(folder, "names.json");
  writeFileSync(names, JSON.stringify({ "hook.test": ["127.0.0.1"], "inside.test": ["10.0.0.1"] }));
  at = await ExecutionFixture.open(
    { SVC_TEST_NAMES: names, SVC_EGRESS_ALLOW_PRIVATE: '["127.0.0.1"]' },
    "test/harness/node/node-with-resolver.ts",
  );
});
afterAll(async () => {
  await at.close();
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.replies.clear();
});

const hook = (path: string) => receiver.url(path, "hook.test");
const childrenOf = async (executionId: string) =>
  (await at.node.call("GET", `/v1/executions?parent_execution_id=${executionId}`)).body.executions;
async function helper(script: unknown, spec: Record<string, unknown> = {}): Promise<string> {
  count += 1;
  const name = `helper-${process.pid}-${count}`;
  await at.deploy({ name, script, tools: [], spec });
  return name;
}
/** Lets an agent's handler and destinations reach the receiver, which is on this machine. */
const listing = () => ({ network: { mode: "deny", allowlist: [`127.0.0.1:${receiver.port}`] } });
const output_handler = (handler: Record<string, unknown>) => ({
  spec: { output_handler: handler, security: listing() },
});

describe("output handler", () => {
  test("a webhook: the record has both outputs, the stream tells of it", async () => {
    receiver.replies.set("/tidy", ({ body }) => new Response(`tidy ${JSON.parse(body).text}`));
    const handler = {
      type: "webhook",
      url: `${hook("/tidy")}?key=hidden`,
      headers: { Authorization: "Bearer hidden" },
      body_template: '{"text": {{json output}} }',
    };
    const record = await at.run({ script: [say("raw")], ...output_handler(handler) });
    expect(record).toMatchObject({
      status: "completed",
      output: "tidy raw",
      final_output: "tidy raw",
      raw_output: "raw",
      summary: "tidy raw",
      warnings: [],
    });
    const events = await at.events(record.id);
    expect(events.slice(-4).map(({ name }) => name)).toEqual([
      "iteration_completed",
      "output_handler_started",
      "output_handler_completed",
      "execution_completed",
    ]);
    expect(events.at(-2)?.body).toMatchObject({ handler_type: "webhook", result: "tidy raw" });
    expect(events.at(-1)?.body.final_output).toBe("tidy raw");
    expect(receiver.received[0]?.headers.get("authorization")).toBe("Bearer hidden");
    expect(JSON.stringify([record, events, at.node.output])).not.toContain("hidden");
  });

  test("an agent: a child execution, exempt, with the rendered template as its input", async () => {
    const name = await helper([say("child says so")]);
    const handler = { type: "agent", agent_id: name, input_template: "Day {{input.day}}: {{output}}" };
    const record = await at.run({ script: [say("raw")], ...output_handler(handler) }, { input: { day: "today" } });
    expect(record).toMatchObject({ status: "completed", output: "child says so", raw_output: "raw" });
    const [child, ...others] = await childrenOf(record.id);
    expect(others).toEqual([]);
    expect(child).toMatchObject({
      agent_name: name,
      trigger: "output_handler",
      status: "completed",
      hierarchy: { parent_execution_id: record.id, depth: 1, path: [record.id] },
    });
    expect((await at.record(child.id)).input).toBe("Day today: raw");
    const names = (await at.events(record.id)).map(({ name }) => name);
    expect(names.slice(-5)).toEqual([
      "output_handler_started",
      "child_execution_spawned",
      "child_execution_completed",
      "output_handler_completed",
      "execution_completed",
    ]);
  });

  test("an agent by its id, with an input_schema: the JSON text is parsed", async () => {
    const name = await helper([say("fine")], {
      input_schema: { type: "object", required: ["lanes"], properties: { lanes: { type: "array" } } },
    });
    const { body } = await at.node.call("GET", `/v1/agents/lookup/${name}`);
    const record = await at.run({
      script: [say('{"lanes":[]}')],
      ...output_handler({ type: "agent", agent_id: body.id, required: true }),
    });
    expect(record).toMatchObject({ status: "completed", output: "fine" });
    const [child] = await childrenOf(record.id);
    expect((await at.record(child.id)).input).toEqual({ lanes: [] });
  });

  test.each<[string, () => Promise<Record<string, unknown>>, string]>([
    [
      "an agent that fails",
      async () => ({ type: "agent", agent_id: await helper([{ error: { class: "authentication" } }]) }),
      "ended as failed",
    ],
    [
      "a webhook that refuses",
      async () => {
        receiver.replies.set("/no", () => new Response("no", { status: 400 }));
        return { type: "webhook", url: hook("/no") };
      },
      "status 400",
    ],
    ["a private address", async () => ({ type: "webhook", url: "http://inside.test/" }), "is refused"],
    [
      "an answer in brotli, which is not asked for",
      async () => {
        const answer = brotliCompressSync("tidy");
        receiver.replies.set("/br", () => new Response(answer, { headers: { "Content-Encoding": "br" } }));
        return { type: "webhook", url: hook("/br"), retry: { max_attempts: 1 } };
      },
      "compressed in a way that was not asked for",
    ],
  ])("%s: optional warns, required fails", async (_, handler, why) => {
    const given = await handler();
    const optional = await at.run({ script: [say("raw")], ...output_handler(given) });
    expect(optional).toMatchObject({
      status: "completed",
      output: "raw",
      raw_output: "raw",
      warnings: [{ code: "output_handler_failed" }],
    });
    expect(optional.warnings[0].message).toContain(why);
    const required = await at.run({ script: [say("raw")], ...output_handler({ ...given, required: true }) });
    expect(required).toMatchObject({
      status: "failed",
      error_code: "output_handler_failed",
      output: null,
      raw_output: "raw",
      iterations: [{ status: "success" }],
    });
    expect(required.error).toContain(why);
    const events = await at.events(required.id);
    expect(events.slice(-2).map(({ name }) => name)).toEqual(["output_handler_failed", "execution_failed"]);
  });

  test("a private address that only the node allows is not reached", async () => {
    const handler = { type: "webhook", url: hook("/x"), required: true };
    for (const security of [{}, { network: { mode: "allow", allowlist: [`hook.test:${receiver.port}`] } }]) {
      const record = await at.run({ script: [say("raw")], spec: { output_handler: handler, security } });
      expect(record.error).toBe(`hook.test:${receiver.port} is refused: loopback_address`);
      const path = `/v1/security/incidents?category=ssrf_blocked&execution_id=${record.id}`;
      const [incident] = await until(async () => {
        const { incidents } = (await at.node.call("GET", path)).body;
        return incidents.length === 1 && incidents;
      });
      expect(incident).toMatchObject({ severity: "high", violation_type: "loopback_address", count: 1 });
    }
    expect(receiver.received).toEqual([]);
  });

  test("an agent that is gone when it is needed", async () => {
    const name = await helper([say("x")]);
    const executionId = await at.launch({
      script: [{ content: "raw", delay_ms: 500 }],
      ...output_handler({ type: "agent", agent_id: name }),
    });
    const { body } = await at.node.call("GET", `/v1/agents/lookup/${name}`);
    expect((await at.node.call("DELETE", `/v1/agents/${body.id}`)).status).toBe(200);
    expect(await at.ended(executionId)).toMatchObject({
      status: "completed",
      output: "raw",
      warnings: [
        { code: "output_handler_failed", message: `The agent ${name} could not be started (agent_not_found)` },
      ],
    });
  });

  test("cancelling while a child handles the output cancels the child", async () => {
    const name = await helper([{ content: "late", delay_ms: 30_000 }]);
    const executionId = await at.launch({
      script: [say("raw")],
      ...output_handler({ type: "agent", agent_id: name, required: true }),
    });
    await ExecutionFixture.seen(await at.follow(executionId), "child_execution_spawned");
    expect((await at.node.call("POST", `/v1/executions/${executionId}/cancel`)).status).toBe(200);
    const [child] = await childrenOf(executionId);
    expect((await at.ended(child.id)).status).toBe("cancelled");
    expect((await at.record(executionId)).status).toBe("cancelled");
  });

  test("an agent that handles its own output ends at the depth limit", async () => {
    count += 1;
    const name = `ouroboros-${process.pid}-${count}`;
    const record = await at.run({
      name,
      script: [say("again")],
      ...output_handler({ type: "agent", agent_id: name }),
    });
    expect(record).toMatchObject({ status: "completed", output: "again" });
    const depths: number[] = [];
    for (let id = record.id; ; ) {
      const [child] = await childrenOf(id);
      if (child === undefined) break;
      depths.push(child.hierarchy.depth);
      id = child.id;
    }
    expect(depths).toEqual([1, 2, 3]);
  });
});

describe("deliveries", () => {
  const execution = (...destinations: object[]) => ({
    execution: { delivery: { destinations } },
    spec: { security: listing() },
  });

  test("a completed run: signed body, condition, no trace of the secret", async () => {
    const secret = "top-secret-value";
    const record = await at.run({
      script: [say("raw")],
      ...execution(
        { name: "a", type: "webhook", url: hook("/a"), secret },
        { name: "b", type: "rest", url: hook("/b"), method: "PUT", condition: "always" },
        { name: "c", type: "webhook", url: hook("/c"), condition: "on_failure" },
      ),
    });
    expect(record).toMatchObject({ status: "completed", warnings: [] });
    await until(() => receiver.received.length === 2);
    const [a] = receiver.at("/a");
    expect(JSON.parse(a?.body ?? "")).toEqual({
      execution_id: record.id,
      agent_id: record.agent_id,
      agent_name: record.agent_name,
      status: "completed",
      output: "raw",
      error: null,
      ended_at: record.ended_at,
    });
    const mac = createHmac("sha256", secret)
      .update(a?.body ?? "")
      .digest("hex");
    expect(a?.headers.get("x-svc-signature")).toBe(`sha256=${mac}`);
    expect(receiver.at("/b")).toMatchObject([{ method: "PUT" }]);
    const told = JSON.stringify([record, await at.events(record.id), at.node.output]);
    expect(told).not.toContain(secret);
  });

  test("a failed run: on_failure and always, with the error", async () => {
    const record = await at.run({
      script: [shell("true"), { error: { class: "authentication" } }],
      ...execution(
        { type: "webhook", url: hook("/good") },
        { type: "webhook", url: hook("/bad"), condition: "on_failure" },
        { type: "webhook", url: hook("/any"), condition: "always" },
      ),
    });
    expect(record.status).toBe("failed");
    await until(() => receiver.received.length === 2);
    for (const { body } of receiver.received) {
      expect(JSON.parse(body)).toMatchObject({ status: "failed", output: null, error: record.error });
    }
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(["/any", "/bad"]);
  });

  test("a destination that is down does not hold the execution up", async () => {
    receiver.replies.set("/down", () => new Response("no", { status: 500 }));
    const record = await at.run({ script: [say("raw")], ...execution({ type: "webhook", url: hook("/down") }) });
    expect(record).toMatchObject({ status: "completed", warnings: [] });
    await until(() => receiver.at("/down").length === 1);
    expect((await at.node.call("DELETE", `/v1/executions/${record.id}`)).status).toBe(200);
  });
});

describe("context", () => {
  const prompts = (record: { iterations: { llm_interactions: { prompt: string }[] }[] }) =>
    record.iterations.map(({ llm_interactions }) => llm_interactions[0]?.prompt ?? "");

  test("text, address and the default prompt; loaded once for all iterations", async () => {
    receiver.replies.set("/page", (_, earlier) => new Response(`page, asked ${earlier + 1} times`));
    const record = await at.run({
      script: { 1: [say("no")], 2: [say("yes")] },
      execution: {
        mode: "iterative",
        max_iterations: 2,
        validation: [{ type: "regex", pattern: "yes" }],
      },
      spec: {
        context: [
          { type: "text", content: "Lanes are numbered.", description: "House rules" },
          { type: "url", url: hook("/page") },
          { type: "file", path: "nothing.md" },
        ],
        security: {
          network: { mode: "allow", allowlist: [`hook.test:${receiver.port}`, `127.0.0.1:${receiver.port}`] },
        },
      },
    });
    expect(record).toMatchObject({ status: "completed", warnings: [{ code: "context_unavailable" }] });
    expect(record.warnings[0].message).toContain("spec.context.2");
    const [first, second] = prompts(record);
    expect(first).toContain("House rules\n\nLanes are numbered.");
    expect(first).toContain(`## ${hook("/page")}\n\npage, asked 1 times`);
    expect(second).toContain("page, asked 1 times");
    expect(receiver.at("/page").length).toBe(1);
  });

  test("a template places it; without a network policy no address is reached", async () => {
    const record = await at.run({
      script: [say("x")],
      spec: {
        task: { instruction: "Do as told.", prompt_template: "<{{context}}> {{input}}" },
        context: [
          { type: "text", content: "known" },
          { type: "url", url: hook("/page") },
        ],
      },
    });
    expect(prompts(record)[0]).toStartWith("<known>");
    expect(record.warnings).toMatchObject([{ code: "context_unavailable" }]);
    expect(receiver.received).toEqual([]);
  });

  test("files of a persistent volume", async () => {
    const volumes = [{ name: "kept", mount_path: "/workspace/kept", storage_class: "persistent" }];
    const context = [{ type: "directory", path: "/workspace/kept" }];
    const agentId = await at.deploy({
      script: [shell("echo re''membered > kept/note.md"), say("x")],
      spec: { volumes, context },
    });
    const first = await at.ended((await at.start(agentId)).body.execution_id);
    expect(first).toMatchObject({ status: "completed", warnings: [] });
    const second = await at.ended((await at.start(agentId)).body.execution_id);
    expect(prompts(first)[0]).not.toContain("remembered");
    expect(prompts(second)[0]).toContain("### note.md\n\nremembered");
  });
});
