/** Executions end to end: a real node, real processes, the scripted model. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { calls, manifest, say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "./fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at.close());

describe("the start", () => {
  test("bad id 400, no input 422, unknown agent 404, and nothing is stored", async () => {
    const before = (await at.node.call("GET", "/v1/executions")).body.count;
    expect(await at.start("abc")).toMatchObject({
      status: 400,
      body: { code: "invalid_agent_id", error: "Invalid agent ID" },
    });
    expect((await at.node.call("POST", "/v1/agents/abc/execute", { input: "" })).body.code).toBe("invalid_agent_id");
    expect(await at.start(crypto.randomUUID())).toMatchObject({ status: 404, body: { code: "agent_not_found" } });
    const agent = await at.deploy({ script: [say("x")] });
    const none = await at.node.call("POST", "/v1/executions", { agent_id: agent });
    expect(none).toMatchObject({ status: 422, body: { code: "validation_failed", issues: [{ path: "input" }] } });
    expect((await at.node.call("POST", "/v1/executions", { input: "" })).status).toBe(422);
    expect((await at.node.call("GET", "/v1/executions")).body.count).toBe(before);
  });

  test.each([
    ["input", { input: "a\0b" }, 422, "input_validation_failed"],
    ["a name in the input", { input: { "a\0": 1 } }, 422, "input_validation_failed"],
    ["half a surrogate", { input: "\ud800" }, 422, "input_validation_failed"],
    ["more than 1 MiB", { input: "x".repeat(1024 * 1024) }, 422, "input_validation_failed"],
    ["10 MB", { input: "x".repeat(10_000_000) }, 413, "body_too_large"],
    ["null", { input: null }, 422, "validation_failed"],
    ["intent of 10 001", { intent: "x".repeat(10_001) }, 422, "validation_failed"],
    ["intent with NUL", { intent: "\0" }, 422, "validation_failed"],
    ["labels with NUL", { labels: { a: "\0" } }, 422, "validation_failed"],
    [
      "10 000 labels",
      { labels: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, "v"])) },
      422,
      "validation_failed",
    ],
    ["a long name of a label", { labels: { ["k".repeat(64)]: "v" } }, 422, "validation_failed"],
    ["attachments nobody declared", { attachments: [{}] }, 422, "attachments_not_declared"],
    ["another context", { security_context: "build" }, 422, "unknown_security_context"],
    ["a longer timeout", { timeout_seconds: 100_000 }, 422, "validation_failed"],
    ["no whole second", { timeout_seconds: 0 }, 422, "validation_failed"],
    ["an unknown version", { version: "9.9.9" }, 404, "agent_version_not_found"],
    ["too long a wait", { wait_seconds: 61 }, 422, "validation_failed"],
  ])("%s is refused", async (_, body, status, code) => {
    const agent = await at.deploy({ script: [say("x")] });
    const answer = await at.start(agent, body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("an unknown model alias and an unknown tool are refused at the start", async () => {
    const tool = await at.deploy({ tools: ["fs.read", "nothing.here"] });
    expect(await at.start(tool)).toMatchObject({ status: 422, body: { code: "unknown_tool" } });
  });

  test("a body that is no JSON, or an array, is refused", async () => {
    const headers = { "Content-Type": "application/json" };
    expect((await at.node.call("POST", "/v1/executions", "{", headers)).body.code).toBe("malformed_body");
    expect((await at.node.call("POST", "/v1/executions", [], headers)).status).toBe(422);
    expect((await at.node.call("POST", "/v1/executions", "a: b")).body.code).toBe("unsupported_media_type");
  });

  test("the same Idempotency-Key is one execution; another body 422", async () => {
    const agent = await at.deploy({ script: [say("once")] });
    const key = { "Idempotency-Key": crypto.randomUUID() };
    const [first, second] = await Promise.all([at.start(agent, {}, key), at.start(agent, {}, key)]);
    const third = await at.start(agent, {}, key);
    expect(new Set([first, second, third].map(({ body }) => body.execution_id)).size).toBe(1);
    expect(third.headers.get("idempotent-replay")).toBe("true");
    expect(await at.start(agent, { input: "other" }, key)).toMatchObject({
      status: 422,
      body: { code: "idempotency_key_reused" },
    });
    const { body } = await at.node.call("GET", `/v1/executions?agent_id=${agent}`);
    expect(body.count).toBe(1);
  });

  test("wait_seconds holds the answer until the end", async () => {
    const agent = await at.deploy({ script: [say("done")] });
    const { body } = await at.start(agent, { wait_seconds: 30 });
    expect(body).toMatchObject({ status: "completed", output: "done", agent_version: "1.0.0" });
    expect(body.id).toBe(body.execution_id);
    const { body: pending } = await at.start(agent);
    expect(pending).toMatchObject({ status: "pending", output: null });
  });
});

describe("a run", () => {
  test("one-shot, in order, ids ascending, one key per event, then closed", async () => {
    const executionId = await at.launch({ script: [shell("echo hello > note; cat note"), say("it says hello")] });
    const followed = await at.follow(executionId);
    await followed.done;
    expect(followed.ended).toBe(true);
    const order = ["execution_started", "iteration_started", "iteration_completed", "execution_completed"];
    expect(followed.names.filter((name) => order.includes(name))).toEqual(order);
    expect(followed.names[0]).toBe("execution_started");
    expect(followed.names.at(-1)).toBe("execution_completed");
    expect(followed.ids).toEqual(followed.ids.map((_, index) => index + 1));
    expect(followed.frames[0]?.text.startsWith("retry: 3000\n")).toBe(true);
    for (const { text, body } of followed.frames) {
      const data = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "");
      expect(Object.keys(data).length).toBe(1);
      expect(body.execution_id).toBe(executionId);
      expect(Object.keys(body).filter((member) => member.startsWith("_"))).toEqual([]);
    }
    const record = await at.record(executionId);
    expect(record).toMatchObject({ status: "completed", output: "it says hello", total_iterations: 1 });
    expect(record.iterations[0].trajectory[0]).toMatchObject({ tool_name: "cmd.run", status: "succeeded" });
    expect(JSON.parse(record.iterations[0].trajectory[0].result_json)).toMatchObject({
      exit_code: 0,
      stdout: "hello\n",
    });
  });

  test("rejected by a schema, then accepted; the second prompt holds the feedback", async () => {
    const record = await at.run({
      script: { 1: [say("{}")], 2: [calls(["fs.list", { path: "/workspace" }]), say('```json\n{"lanes":[]}\n```')] },
      tools: ["fs.list"],
      execution: {
        mode: "iterative",
        max_iterations: 3,
        validation: [{ type: "json_schema", schema: { type: "object", required: ["lanes"] } }],
      },
    });
    expect(record).toMatchObject({ status: "completed", total_iterations: 2 });
    expect(record.iterations.map(({ status }: { status: string }) => status)).toEqual(["rejected", "success"]);
    expect(record.iterations[0].validation_results[0].feedback).toBe("output: required property lanes is missing");
    expect(record.iterations[0].llm_interactions[0].prompt).toContain('{"type":"object","required":["lanes"]}');
    expect(record.iterations[1].llm_interactions[0].prompt).toContain("required property lanes is missing");
  });

  test("a failing validator ends a one-shot agent at once, an iterative one at its last", async () => {
    const validation = [{ type: "regex", pattern: "^yes$" }];
    const once = await at.run({ script: [say("no")], execution: { validation } });
    expect(once).toMatchObject({ status: "failed", error_code: "validation_rejected", total_iterations: 1 });
    const thrice = await at.run({ script: [say("no")], execution: { max_iterations: 3, validation } });
    expect(thrice).toMatchObject({ status: "failed", error_code: "max_iterations_exceeded", total_iterations: 3 });
  });

  test("stderr with exit 0 passes by default; min_score 1 rejects at 0.85", async () => {
    // The bootstrap's own lines do not count; what the agent's process writes itself cannot be scripted here.
    const passing = await at.run({ script: [say("x")], execution: { validation: [{ type: "exit_code" }] } });
    expect(passing.iterations[0].validation_results[0]).toMatchObject({ type: "exit_code", score: 1, passed: true });
    const strict = await at.run({
      script: [say("x")],
      execution: { validation: [{ type: "exit_code", expected: 3 }] },
    });
    expect(strict.iterations[0].validation_results[0]).toMatchObject({ score: 0, passed: false });
  });

  test("a regex on stderr does not see stdout", async () => {
    const record = await at.run({
      script: [say("needle")],
      execution: { validation: [{ type: "regex", pattern: "needle", target: "stderr" }] },
    });
    expect(record).toMatchObject({ status: "failed", error_code: "validation_rejected" });
  });

  test("prompts are null by default and shown to who may see them", async () => {
    const executionId = await at.launch({ script: [say("x")] });
    await at.ended(executionId);
    const shown = (await at.events(executionId, "?verbose=true")).find(({ name }) => name === "llm_interaction");
    const hidden = (await at.events(executionId)).find(({ name }) => name === "llm_interaction");
    expect(shown?.body.response).toBe("x");
    expect(hidden?.body).toMatchObject({ prompt: null, response: null });
    const plain = await at.record(executionId);
    expect(plain.iterations[0].llm_interactions[0]).toMatchObject({ prompt: null, response: null });
  });

  test("a rate limit that passes is outlasted; an authentication error ends the run", async () => {
    const outlasted = await at.run({ script: [{ error: { class: "rate_limit", attempts: 2 }, content: "at last" }] });
    expect(outlasted).toMatchObject({ status: "completed", output: "at last" });
    const executionId = await at.launch({
      script: [{ error: { class: "authentication" } }],
      execution: { max_iterations: 3 },
    });
    const record = await at.ended(executionId);
    expect(record).toMatchObject({ status: "failed", total_iterations: 1 });
    const failed = (await at.events(executionId)).filter(({ name }) => name === "llm_call_failed");
    expect(failed.map(({ body }) => [body.error_class, body.attempts])).toEqual([["authentication", 1]]);
  });

  test("a tool that would leave the workspace is refused, and the run goes on", async () => {
    const record = await at.run({ script: [calls(["fs.read", { path: "/etc/passwd" }]), say("fine")] });
    expect(record).toMatchObject({ status: "completed", output: "fine" });
    expect(record.iterations[0].trajectory[0]).toMatchObject({ status: "refused" });
    expect(record.iterations[0].policy_violations).toEqual(["fs.read"]);
  });

  test("a hostile pattern in a validator is answered in linear time", async () => {
    const record = await at.run({
      script: [say("a".repeat(5000))],
      execution: { validation: [{ type: "regex", pattern: ".*.*.*.*.*x" }] },
    });
    expect(record.iterations[0].validation_results[0]).toMatchObject({ score: 0, details: { matched: false } });
  });

  test("the environment names the run and holds no secret of the service", async () => {
    const record = await at.run({
      script: [shell("env | cut -d= -f1 | sort"), say("x")],
      spec: { env: { MINE: "1" } },
    });
    const names = JSON.parse(record.iterations[0].trajectory[0].result_json).stdout.split("\n");
    expect(names).toContain("SVC_EXECUTION_ID");
    expect(names).toContain("AEGIS_EXECUTION_ID");
    expect(names).toContain("MINE");
    for (const secret of ["SVC_EXECUTION_TOKEN", "AEGIS_EXECUTION_TOKEN", "DATABASE_URL", "REDIS_URL"]) {
      expect(names).not.toContain(secret);
    }
  });
});

describe("its end", () => {
  test("cancel", async () => {
    const executionId = await at.launch({ script: [shell("sleep 60"), say("late")] });
    const followed = await at.follow(executionId);
    await ExecutionFixture.seen(followed, "tool_call_started");
    const path = `/v1/executions/${executionId}/cancel`;
    const first = await at.node.call("POST", path, { reason: "enough" });
    expect(first).toMatchObject({ status: 200, body: { status: "cancelled", success: true, reason: "enough" } });
    expect((await at.record(executionId)).status).toBe("cancelled");
    await followed.done;
    expect(followed.frames.at(-1)).toMatchObject({ name: "execution_cancelled", body: { reason: "enough" } });
    expect(await at.node.call("POST", path)).toMatchObject({ status: 200, body: first.body });
    const finished = await at.launch({ script: [say("x")] });
    await at.ended(finished);
    const late = await at.node.call("POST", `/v1/executions/${finished}/cancel`);
    expect(late).toMatchObject({ status: 409, body: { code: "execution_already_terminal", status: "completed" } });
  });

  test("past its timeout", async () => {
    const executionId = await at.launch({ script: [shell("sleep 60")] }, { timeout_seconds: 2 });
    const events = await at.events(executionId);
    expect(events.at(-1)).toMatchObject({ name: "execution_timed_out", body: { timeout_seconds: 2 } });
    expect(await at.record(executionId)).toMatchObject({ status: "timed_out", error_code: "execution_timeout" });
  });

  test("an iteration past its own timeout is a fault, and its instance is gone", async () => {
    const record = await at.run({
      script: [shell("sleep 60")],
      execution: { iteration_timeout: 2, max_iterations: 1 },
    });
    expect(record).toMatchObject({ status: "failed", error_code: "iteration_timeout" });
  });

  test("delete removes record, events and workspace; a repeat is 404", async () => {
    const executionId = await at.launch({ script: [shell("sleep 60")] });
    await ExecutionFixture.seen(await at.follow(executionId), "tool_call_started");
    const path = `/v1/executions/${executionId}`;
    expect(await at.node.call("DELETE", path)).toMatchObject({
      status: 200,
      body: { status: "deleted", execution_id: executionId },
    });
    expect((await at.node.call("DELETE", path)).body.code).toBe("execution_not_found");
    expect((await at.node.call("GET", path)).status).toBe(404);
    expect((await at.node.call("GET", `${path}/stream`)).status).toBe(404);
    const folder = `${at.node.dataDir}/workspaces/${executionId}`;
    await until(
      async () =>
        !(await Bun.file(`${folder}/.`)
          .stat()
          .catch(() => null)),
      { what: "the workspace to go" },
    );
  });
});

describe("records", () => {
  test("lists are the tenant's, newest first, filtered and paged", async () => {
    const tenant = { "X-Tenant-Id": "acme-lists" };
    const agent = await at.deploy({ script: [say("x")] }, tenant);
    const ids: string[] = [];
    for (const label of ["a", "b", "a"])
      ids.unshift((await at.start(agent, { labels: { kind: label } }, tenant)).body.execution_id);
    await until(
      async () => (await at.node.call("GET", "/v1/executions?status=completed", undefined, tenant)).body.count === 3,
    );
    const list = async (query: string) => {
      const { body } = await at.node.call("GET", `/v1/executions${query}`, undefined, tenant);
      expect(body.executions).toEqual(body.items);
      return { ids: body.items.map(({ id }: { id: string }) => id), next: body.next_cursor };
    };
    expect((await list("")).ids).toEqual(ids);
    expect((await list("?label=kind=a")).ids).toEqual([ids[0], ids[2]]);
    expect((await list(`?agent_id=${agent}&status=completed,failed`)).ids).toEqual(ids);
    expect((await list("?status=running")).ids).toEqual([]);
    const page = await list("?limit=2");
    expect(page.ids).toEqual(ids.slice(0, 2));
    expect((await list(`?limit=2&cursor=${page.next}`)).ids).toEqual(ids.slice(2));
    expect((await list("?offset=1&limit=1")).ids).toEqual([ids[1]]);
    const { body } = await at.node.call("GET", "/v1/executions", undefined, tenant);
    for (const member of ["input", "output", "iterations", "attachments"])
      expect(body.items[0]).not.toHaveProperty(member);
    const other = await at.node.call("GET", "/v1/executions", undefined, { "X-Tenant-Id": "acme-other" });
    expect(other.body.items).toEqual([]);
  });

  test.each([
    "?status=nothing",
    "?agent_id=abc",
    "?limit=0",
    "?limit=501",
    "?cursor=%00",
    "?cursor=bm90",
    "?started_after=yesterday",
    "?started_after=0000-01-01",
    "?label=novalue",
    "?workflow_name=%00",
  ])("a bad list query %s is 422", async (query) => {
    expect((await at.node.call("GET", `/v1/executions${query}`)).status).toBe(422);
  });

  test("a cursor that was tampered with finds nothing", async () => {
    const cursor = Buffer.from(JSON.stringify(["1; drop", "x"])).toString("base64url");
    expect(await at.node.call("GET", `/v1/executions?cursor=${cursor}`)).toMatchObject({
      status: 200,
      body: { count: 0 },
    });
  });

  test("foreign and unknown are one: the same 404 on every route", async () => {
    const executionId = await at.launch({ script: [say("x")] });
    const foreign = { "X-Tenant-Id": "acme-foreign" };
    const routes = [
      ["GET", ""],
      ["GET", "/iterations"],
      ["GET", "/iterations/1"],
      ["GET", "/stream"],
      ["GET", "/events"],
      ["POST", "/cancel"],
      ["POST", "/retry"],
      ["DELETE", ""],
    ] as const;
    for (const [method, path] of routes) {
      const strip = ({ status, body }: { status: number; body: Record<string, unknown> }) => ({
        status,
        ...body,
        request_id: null,
      });
      const theirs = await at.node.call(method, `/v1/executions/${executionId}${path}`, undefined, foreign);
      const nobodys = await at.node.call(method, `/v1/executions/${crypto.randomUUID()}${path}`, undefined, foreign);
      expect(strip(theirs)).toEqual(strip(nobodys));
      expect(theirs).toMatchObject({
        status: 404,
        body: { code: "execution_not_found", error: "Execution not found" },
      });
      expect((await at.node.call(method, `/v1/executions/nope${path}`)).body.code).toBe("invalid_execution_id");
    }
    await at.ended(executionId);
  });

  test("iterations alone", async () => {
    const executionId = await at.launch({ script: [say("x")] });
    await at.ended(executionId);
    const { body } = await at.node.call("GET", `/v1/executions/${executionId}/iterations`);
    expect(body).toMatchObject({ count: 1, items: [{ number: 1, status: "success", output: "x" }] });
    expect((await at.node.call("GET", `/v1/executions/${executionId}/iterations/1`)).body.number).toBe(1);
    expect(await at.node.call("GET", `/v1/executions/${executionId}/iterations/2`)).toMatchObject({
      status: 404,
      body: { code: "iteration_not_found" },
    });
  });

  test("deleting an agent cancels its running execution and keeps the record", async () => {
    const answer = await at.node.call("POST", "/v1/agents", manifest({ script: [shell("sleep 60")] }));
    const executionId = (await at.start(answer.body.agent_id)).body.execution_id;
    await ExecutionFixture.seen(await at.follow(executionId), "tool_call_started");
    expect((await at.node.call("DELETE", `/v1/agents/${answer.body.agent_id}`)).status).toBe(200);
    expect(await at.ended(executionId)).toMatchObject({ status: "cancelled" });
  });

  test("a start that a deletion overtakes is cancelled, too", async () => {
    for (let round = 0; round < 5; round++) {
      const agentId = await at.deploy({ script: [shell("sleep 60")] });
      const [deleted, ...starts] = await Promise.all([
        at.node.call("DELETE", `/v1/agents/${agentId}`),
        ...Array.from({ length: 5 }, () => at.start(agentId)),
      ]);
      expect(deleted.status).toBe(200);
      for (const { status, body } of starts) {
        expect([200, 404]).toContain(status);
        if (status === 200) expect(await at.ended(body.execution_id)).toMatchObject({ status: "cancelled" });
      }
    }
  });
});
