/** Signed calls that tool judges have to clear first (docs/reference/tools.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { say } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { agentKey, call, envelope, type Headers, type Instance, SealFixture, told } from "./fixture.ts";

let at: SealFixture;
let count = 0;
const { privateKey, raw } = agentKey();
beforeAll(async () => {
  at = await SealFixture.open({ SVC_TOOL_PARALLELISM: "2" });
});
afterAll(() => at?.close());

/** An instance whose calls a judge of this verdict has to clear, with a session. @param delay_ms that it takes */
async function judged(score: number, delay_ms = 0) {
  count += 1;
  const judge = `guard-${process.pid}-${count}`;
  const verdict = JSON.stringify({ score, reasoning: `worth ${score}` });
  await at.at.deploy({ name: judge, tools: [], script: [{ ...say(verdict), delay_ms }] });
  const validator = { type: "semantic", judge_agent: judge, criteria: "Nothing is deleted" };
  const own = await at.instance({
    execution: { tool_validation: [validator] },
    spec: { tools: ["fs.*", { name: "fs.read", skip_judge: true }, { name: "cmd.run", skip_judge: true }] },
  });
  const { body: session } = await at.attestInside(own, { public_key: raw.toString("base64") });
  const send = (name: string, given: object, headers: Headers = {}) =>
    at.outside("/v1/seal/invoke", envelope(privateKey, session.security_token, call(name, given)), headers);
  const append = (headers: Headers = {}) => send("fs.write", { path: "a", content: "x", mode: "append" }, headers);
  const written = async () => (await send("fs.read", { path: "a" })).body.result.content ?? null;
  return { judge, own, sessionId: session.session_id as string, send, append, written };
}

const childrenOf = async ({ executionId }: Instance) =>
  (await at.node.call("GET", `/v1/executions?parent_execution_id=${executionId}`)).body.executions;
/** Until a judge of the instance is at work. */
const judging = (own: Instance, most = 1) =>
  until(
    async () =>
      (await childrenOf(own)).filter(({ status }: { status: string }) => status === "running").length >= most || null,
    { timeoutMs: 60_000, what: "judges at work" },
  );

test("a call that its judges clear is run, one that may skip them without them", async () => {
  const { judge, own, append, written, send } = await judged(0.9);
  expect(await written()).toBe(null);
  expect(await childrenOf(own)).toEqual([]);
  expect((await append()).body.result).toMatchObject({ status: "success", bytes_written: 1 });
  expect(await written()).toBe("x");
  const [child, ...others] = await childrenOf(own);
  expect(others).toEqual([]);
  expect(child).toMatchObject({ agent_name: judge, trigger: "validator", status: "completed" });
  expect((await at.at.record(child.id)).input).toMatchObject({
    ...{ validation_context: "tool_judge", criteria: "Nothing is deleted", iteration_number: 1, output: "" },
    ...{ tool_name: "fs.write", arguments: { path: "a", content: "x", mode: "append" } },
  });
  const { body } = await send("svc.invocation.get", { invocation_id: crypto.randomUUID() });
  expect(body.result).toMatchObject({ isError: true, code: "not_found" });
});

test("a call that a judge rejects is 2009 with judge and score, told once", async () => {
  const { judge, own, append, written } = await judged(0.1);
  const followed = await at.at.follow(own.executionId);
  const refused = await append();
  expect(told(refused)).toEqual([403, 2009, "judge_rejected"]);
  expect(refused.body.error.details).toMatchObject({ tool: "fs.write", judge, score: 0.1 });
  expect(refused.body.message).toContain("worth 0.1");
  expect(await written()).toBe(null);
  const event = await until(() => followed.frames.find(({ name }) => name === "policy_violation"), {
    timeoutMs: 30_000,
    what: "the event",
  });
  followed.close();
  expect(event.body).toMatchObject({ tool_name: "fs.write", details: { code: "judge_rejected", judge, score: 0.1 } });
  const record = await at.at.record(own.executionId);
  expect(record.iterations[0].policy_violations).toEqual(["fs.write"]);
  const incidents = await until(
    async () => {
      const { body } = await at.node.call("GET", `/v1/security/incidents?execution_id=${own.executionId}`);
      return body.items.length > 0 ? body.items : null;
    },
    { timeoutMs: 30_000, what: "the incident" },
  );
  expect(incidents).toMatchObject([{ category: "seal_policy_violation_blocked", violation_type: "judge_rejected" }]);
});

test("more calls than may be judged at once are 2008 and may come again", async () => {
  const { own, append, written } = await judged(0.9, 4000);
  const first = [append(), append()];
  await judging(own, 2);
  const third = await append();
  expect(told(third)).toEqual([429, 2008, "concurrency_exceeded"]);
  expect(third.headers.get("retry-after")).toBe("5");
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
  expect(await written()).toBe("xx");
});

test.each([
  [
    "its execution ends",
    "execution_not_running",
    ({ own }: Awaited<ReturnType<typeof judged>>) =>
      at.node.call("POST", `/v1/executions/${own.executionId}/cancel`, {}),
  ],
  [
    "its session is revoked",
    "session_inactive",
    ({ sessionId }: Awaited<ReturnType<typeof judged>>) => at.node.call("DELETE", `/v1/seal/sessions/${sessionId}`),
  ],
])("a call that is judged while %s is not run: 1006", async (_what, code, end) => {
  const working = await judged(0.9, 3000);
  const answer = working.append();
  await judging(working.own);
  await end(working);
  expect(told(await answer)).toEqual([401, 1006, code]);
  const { executionId } = working.own;
  const files = await at.node.call("GET", `/v1/executions/${executionId}/files`);
  expect(JSON.stringify(files.body)).not.toContain('"a"');
});

test("a node killed while judge or tool works: a call under its key runs once", async () => {
  const { own, append, written, send } = await judged(0.9, 4000);
  const key = { "Idempotency-Key": "judged-1" };
  const run = () =>
    send("cmd.run", { command: "sh", args: ["-c", "echo r >> ran; sleep 300"] }, { "Idempotency-Key": "ran-1" });
  const ran = async () => (await send("fs.read", { path: "ran" })).body.result.content ?? null;
  // An instance that was just spawned has no way in yet.
  await until(async () => (await send("cmd.run", { command: "true" })).body.result.status === "success", {
    timeoutMs: 30_000,
    what: "a way into the instance",
  });
  const cut = run().catch(() => "lost");
  await until(ran, { timeoutMs: 30_000, what: "the command to run" });
  const lost = append(key).catch(() => "lost");
  await judging(own);
  await at.node.kill();
  expect(await Promise.all([lost, cut])).toEqual(["lost", "lost"]);
  await at.node.restart();
  const answers = [await append(key), await append(key)];
  expect(answers.map(({ status, body }) => [status, body.result])).toEqual(
    Array(2).fill([200, expect.objectContaining({ status: "success", bytes_written: 1 })]),
  );
  expect(await written()).toBe("x");
  expect(await childrenOf(own)).toHaveLength(1);
  // Whether what was under way took effect is not known: it is not run again, and its key says so from now on.
  const interrupted = [await run(), await run()];
  expect(interrupted.map(({ status, body }) => [status, body.result.code])).toEqual(
    Array(2).fill([200, "interrupted"]),
  );
  expect(await ran()).toBe("r\n");
}, 90_000);
