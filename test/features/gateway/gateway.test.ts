/**
 * The dispatch gateway as a bootstrap meets it (docs/reference/gateway.md). The execution's own bootstrap is kept busy by a
 * long command; the test speaks in its place, with a token signed by the node's own key.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createGatewayKeys } from "../../../src/features/execution-tokens/keys.ts";
import type { ExecutionTokens } from "../../../src/features/execution-tokens/port.ts";
import { createExecutionTokens } from "../../../src/features/execution-tokens/tokens.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { calls, say, shell } from "../../harness/manifests.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
let tokens: ExecutionTokens;
let silent: ReturnType<typeof post>;
beforeAll(async () => {
  at = await ExecutionFixture.open();
  tokens = createExecutionTokens(createGatewayKeys(at.stores.sql), Date.now);
  // Asked while the other tests run: it takes longer than all of them.
  silent = bootstrap().then((own) => own.generate([{ content: "late", delay_ms: 35_000 }]));
  silent.catch(() => {});
});
afterAll(() => at.close());

interface Bootstrap {
  readonly executionId: string;
  readonly agentId: string;
  readonly token: string;
  send(body: Record<string, unknown>, headers?: Record<string, string>): ReturnType<typeof post>;
  /** A `generate` whose prompt scripts the model. */
  generate(script: unknown, more?: Record<string, unknown>): ReturnType<typeof post>;
  result(dispatch: { dispatch_id: string }, more?: Record<string, unknown>): ReturnType<typeof post>;
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(at.node.internalUrl + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const answer: LooseJson = await response.json();
  return { status: response.status, headers: response.headers, body: answer };
}

const gateway = "/v1/dispatch-gateway";

async function bootstrap(): Promise<Bootstrap> {
  const executionId = await at.launch({ script: [shell("sleep 300")], tools: ["*"], resources: { timeout: 300 } });
  const followed = await at.follow(executionId);
  const { instance_id } = (await ExecutionFixture.seen(followed, "instance_spawned")).body;
  const { agent_id } = (await ExecutionFixture.seen(followed, "tool_call_started")).body;
  followed.close();
  const livesSeconds = 360;
  const token = await tokens.mint({
    executionId,
    agentId: agent_id,
    tenant: "svc-system",
    instanceId: instance_id,
    livesSeconds,
  });
  const bearer = { Authorization: `Bearer ${token}` };
  const send: Bootstrap["send"] = (body, headers = {}) => post(gateway, body, { ...bearer, ...headers });
  return {
    executionId,
    agentId: agent_id,
    token,
    send,
    generate: (script, more = {}) =>
      send({
        type: "generate",
        execution_id: executionId,
        agent_id: "",
        iteration_number: 1,
        model_alias: "default",
        prompt: `\`\`\`svc-script\n${JSON.stringify(script)}\n\`\`\``,
        ...more,
      }),
    result: ({ dispatch_id }, more = {}) =>
      send({ type: "dispatch_result", execution_id: executionId, dispatch_id, exit_code: 0, stdout: "ok\n", ...more }),
  };
}

describe("who may speak", () => {
  test("public 404, internal without a token 401, anything else there 404", async () => {
    expect(await at.node.call("POST", gateway, {})).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await post(gateway, {})).toMatchObject({ status: 401, body: { code: "missing_authorization" } });
    for (const path of ["/", "/v1/executions", "/health", "/openapi.json"]) {
      expect(await post(path, {})).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
  });

  test("a foreign execution's id is 404; a foreign, provider's or expired token is 401", async () => {
    const own = await bootstrap();
    const answer = await own.generate([say("x")], { execution_id: crypto.randomUUID() });
    expect(answer).toMatchObject({ status: 404, body: { code: "execution_not_found" } });
    const claims = { executionId: own.executionId, agentId: own.agentId, tenant: "svc-system", instanceId: "x" };
    const expired = await tokens.mint({ ...claims, livesSeconds: -100 });
    const former = await tokens.mint({ ...claims, instanceId: crypto.randomUUID(), livesSeconds: 360 });
    const egress = createExecutionTokens(createGatewayKeys(at.stores.sql), Date.now, "svc-egress");
    const ofProxy = await egress.mint({ ...claims, livesSeconds: 360 });
    expect(await egress.verify(ofProxy)).toMatchObject({ executionId: own.executionId });
    expect(egress.verify(own.token)).rejects.toThrow("not valid");
    for (const token of [
      ofProxy,
      "nonsense",
      "a.b.c",
      await at.node.token(),
      expired,
      `${own.token.slice(0, -4)}AAAA`,
      former,
    ]) {
      const refused = await own.send(
        { type: "generate", execution_id: own.executionId, iteration_number: 1, model_alias: "default", prompt: "x" },
        { Authorization: `Bearer ${token}` },
      );
      expect(refused).toMatchObject({ status: 401, body: { code: "invalid_token" } });
    }
  });

  test("a token in the path counts and is never logged; two that differ are refused", async () => {
    const [one, other] = [await bootstrap(), await bootstrap()];
    const body = {
      type: "generate",
      execution_id: one.executionId,
      iteration_number: 1,
      model_alias: "default",
      prompt: "hi",
    };
    const inPath = await post(`/x/${one.token}${gateway}`, body);
    expect(inPath).toMatchObject({ status: 200, body: { type: "final", content: "hi" } });
    expect((await post(`/x/${one.token}${gateway}`, body, { Authorization: `Bearer ${one.token}` })).status).toBe(200);
    const both = await post(`/x/${one.token}${gateway}`, body, { Authorization: `Bearer ${other.token}` });
    expect(both).toMatchObject({ status: 401, body: { code: "invalid_token" } });
    expect((await post(`/x/nonsense${gateway}`, body)).status).toBe(401);
    expect((await post(`/x/${one.token}/v1/executions`, body)).status).toBe(404);
    expect(at.node.output).not.toContain(one.token);
  });
});

describe("messages", () => {
  test.each([
    ["an unknown type", { type: "hello" }, 422, "unknown_message_type"],
    ["no type", {}, 422, "unknown_message_type"],
    ["a list", [], 422, "unknown_message_type"],
    ["broken JSON", "{", 400, "malformed_body"],
    ["no prompt", { type: "generate", iteration_number: 1, model_alias: "default" }, 422, "validation_failed"],
    [
      "an empty prompt",
      { type: "generate", iteration_number: 1, model_alias: "default", prompt: "" },
      422,
      "validation_failed",
    ],
    [
      "iteration 21",
      { type: "generate", iteration_number: 21, model_alias: "default", prompt: "x" },
      422,
      "validation_failed",
    ],
    [
      "a former iteration",
      { type: "generate", iteration_number: 2, model_alias: "default", prompt: "x" },
      409,
      "iteration_not_current",
    ],
    [
      "another agent",
      { type: "generate", agent_id: crypto.randomUUID(), iteration_number: 1, model_alias: "default", prompt: "x" },
      403,
      "agent_mismatch",
    ],
    [
      "a dispatch id that is none",
      { type: "dispatch_result", dispatch_id: "x", exit_code: 0 },
      422,
      "validation_failed",
    ],
    [
      "an unknown dispatch",
      { type: "dispatch_result", dispatch_id: crypto.randomUUID(), exit_code: 0 },
      404,
      "dispatch_not_found",
    ],
  ])("%s is refused", async (_, body, status, code) => {
    const own = await shared();
    const full = Array.isArray(body) || typeof body === "string" ? body : { execution_id: own.executionId, ...body };
    const answer = await post(gateway, full, { Authorization: `Bearer ${own.token}` });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body).toHaveProperty("request_id");
  });

  let kept: Promise<Bootstrap> | null = null;
  const shared = () => {
    kept ??= bootstrap();
    return kept;
  };

  test.each([17, 40])("%d MiB are 413, told in JSON", async (mebibytes) => {
    const own = await shared();
    const bearer = { Authorization: `Bearer ${own.token}` };
    const large = JSON.stringify({ type: "generate", prompt: "x".repeat(mebibytes * 1024 * 1024) });
    expect(await post(gateway, large, bearer)).toMatchObject({ status: 413, body: { code: "body_too_large" } });
  });

  test("another media type is 415", async () => {
    const own = await shared();
    const bearer = { Authorization: `Bearer ${own.token}` };
    expect(await post(gateway, "{}", { ...bearer, "Content-Type": "text/plain" })).toMatchObject({ status: 415 });
  });

  test("four calls of one reply, two dispatches in turn, four tool messages in order", async () => {
    const own = await bootstrap();
    const first = await own.generate([
      calls(
        ["fs.read", { path: "nothing" }],
        ["cmd.run", { command: "a", args: [] }],
        ["cmd.run", { command: "b", args: ["x y"] }],
        // No name server knows it: the tool runs, and fails.
        ["web.fetch", { url: "http://nowhere.invalid/" }],
      ),
      say("done"),
    ]);
    expect(first.body).toMatchObject({ type: "dispatch", action: "exec", command: "a", iteration_number: 1 });
    const second = await own.result(first.body);
    expect(second.body).toMatchObject({ type: "dispatch", command: "b", args: ["x y"] });
    const { body: final } = await own.result(second.body, { exit_code: 3 });
    expect(final).toMatchObject({ type: "final", content: "done", tool_calls_executed: 4, finish_reason: "stop" });
    const roles = final.conversation.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(["user", "assistant", "tool", "tool", "tool", "tool", "assistant"]);
    const ids = final.conversation[1].tool_calls.map(({ id }: { id: string }) => id);
    expect(final.conversation.slice(2, 6).map((message: { tool_call_id: string }) => message.tool_call_id)).toEqual(
      ids,
    );
    expect(JSON.parse(final.conversation[4].content)).toMatchObject({ exit_code: 3, stdout: "ok\n" });
    expect(JSON.parse(final.conversation[5].content)).toMatchObject({ tool: "web.fetch", isError: true });
  });

  test.each([
    ["small", "ok\n", "other"],
    ["large", `${"x".repeat(3_000_000)}1`, `${"x".repeat(3_000_000)}2`],
  ])("a repeated %s result: same answer, one model call; altered 409; it completes", async (_, stdout, other) => {
    const own = await bootstrap();
    const { body: dispatch } = await own.generate([calls(["cmd.run", { command: "a", args: [] }]), say("done")]);
    const [one, two] = await Promise.all([own.result(dispatch, { stdout }), own.result(dispatch, { stdout })]);
    expect(two.body).toEqual(one.body);
    expect(one.body.type).toBe("final");
    const again = await own.result(dispatch, { stdout });
    expect(again.body).toEqual(one.body);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect(await own.result(dispatch, { stdout: other })).toMatchObject({
      status: 409,
      body: { code: "dispatch_result_conflict" },
    });
    const record = await at.record(own.executionId);
    // One call by the real bootstrap, two by this one.
    expect(record.usage.llm_calls).toBe(3);
  });

  test("the same generate twice at once is one model call; later it is replayed", async () => {
    const own = await bootstrap();
    const script = [{ content: "slow", delay_ms: 300 }];
    const [one, two] = await Promise.all([own.generate(script), own.generate(script)]);
    expect(two.body).toEqual(one.body);
    const again = await own.generate(script);
    expect(again.body).toEqual(one.body);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect((await at.record(own.executionId)).usage.llm_calls).toBe(2);
  });

  test("another generate supersedes the loop: its dispatch is answered 409", async () => {
    const own = await bootstrap();
    const { body: dispatch } = await own.generate([calls(["cmd.run", { command: "a", args: [] }]), say("done")]);
    expect((await own.generate([say("other")])).body.content).toBe("other");
    expect(await own.result(dispatch)).toMatchObject({ status: 409, body: { code: "loop_not_active" } });
  });

  test("a model that never stops calling tools ends at 50 rounds", async () => {
    const own = await bootstrap();
    const answer = await own.generate([calls(["fs.list", {}])]);
    expect(answer.status === 200 ? answer.body.finish_reason : answer.body.code).toMatch(/round_limit/);
    // One call by the real bootstrap; fifty rounds, the one that would begin another, and the last without tools.
    expect((await at.record(own.executionId)).usage.llm_calls).toBe(1 + 50 + 1 + 1);
  }, 60_000);

  test("a rate limit is 429 with Retry-After and not stored: a repeat asks again", async () => {
    const own = await bootstrap();
    for (const round of [1, 2]) {
      const refused = await own.generate([{ error: { class: "rate_limit" } }]);
      expect(refused).toMatchObject({ status: 429, body: { code: "upstream_rate_limit" } });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      const failures = (await at.events(own.executionId, "?follow=false")).filter(
        ({ name }) => name === "llm_call_failed",
      );
      expect(failures.length).toBe(round);
    }
  }, 60_000);

  test("after the end the execution says so", async () => {
    const own = await bootstrap();
    await at.node.call("POST", `/v1/executions/${own.executionId}/cancel`);
    expect(await own.generate([say("x")])).toMatchObject({ status: 409, body: { code: "execution_not_running" } });
  });
});

describe("output of a running command", () => {
  const chunk = (content: string, offset = 0) => ({ stream: "stdout", offset, content });
  const output = (subject: Bootstrap, dispatch_id: string, ...chunks: object[]) =>
    subject.send({ type: "dispatch_output", execution_id: subject.executionId, dispatch_id, chunks });

  test("becomes events; a flood is left out before it costs the execution a message", async () => {
    const subject = await bootstrap();
    const { body: dispatch } = await subject.generate([shell("true"), say("done")]);
    const follow = await at.follow(subject.executionId, "?events=console_output,tool_call_started");
    expect(await output(subject, dispatch.dispatch_id, chunk("hello\n"))).toMatchObject({
      status: 200,
      body: { type: "output_noted", taken: true },
    });
    const seen = await ExecutionFixture.seen(follow, "console_output");
    const started = follow.frames.filter(({ name }) => name === "tool_call_started").at(-1);
    expect(seen.body).toMatchObject({ stream: "stdout", content: "hello\n", call_id: started?.body.call_id });
    const flood = Array.from({ length: 60 }, (_, n) =>
      output(subject, dispatch.dispatch_id, chunk("x".repeat(60_000), n)),
    );
    const answers = await Promise.all(flood);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.filter(({ body }) => body.taken === false).length).toBeGreaterThan(40);
    follow.close();
  });

  test("malformed, too much at once, of another execution: refused", async () => {
    const subject = await bootstrap();
    const id = crypto.randomUUID();
    expect((await output(subject, id)).status).toBe(422);
    expect((await output(subject, id, chunk("x".repeat(65_537)))).status).toBe(422);
    expect((await output(subject, id, ...Array.from({ length: 65 }, () => chunk("x")))).status).toBe(422);
    expect((await output(subject, "x", chunk("x"))).status).toBe(422);
    const foreign = { type: "dispatch_output", execution_id: id, dispatch_id: id, chunks: [chunk("x")] };
    expect(await subject.send(foreign)).toMatchObject({ status: 404, body: { code: "execution_not_found" } });
    expect((await post(gateway, foreign)).status).toBe(401);
    // No such dispatch: there is nothing to be told, and nothing to be refused.
    expect((await output(subject, id, chunk("x"))).status).toBe(200);
  });
});

test("a model call may be silent for longer than Bun's own patience", async () => {
  expect((await silent).body).toMatchObject({ type: "final", content: "late" });
}, 60_000);
