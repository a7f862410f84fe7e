/** Signed calls that wait for a person (docs/reference/seal.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../harness/until.ts";
import { agentKey, call, envelope, type Headers, SealFixture, told } from "./fixture.ts";

let at: SealFixture;
let operator: Headers;
const { privateKey, raw } = agentKey();
beforeAll(async () => {
  at = await SealFixture.open();
  operator = { Authorization: `Bearer ${await at.node.token()}` };
  const capabilities = [{ tool_pattern: "svc.runtime.list", approval: {} }, { tool_pattern: "svc.*" }];
  const made = await at.node.call("POST", "/v1/security-contexts", { name: "asks", capabilities });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
});
afterAll(() => at?.close());

async function opened() {
  const asked = { public_key: raw.toString("base64"), security_context: "asks" };
  const { status, body } = await at.outside("/v1/seal/attest", asked, operator);
  if (status !== 200) throw new Error(JSON.stringify(body));
  const send = (name: string, given: object = {}, headers: Headers = {}) =>
    at.outside("/v1/seal/invoke", envelope(privateKey, body.security_token, call(name, given)), headers);
  return { sessionId: body.session_id as string, send };
}

test("a signed call that waits is 202, under its key the same, then the result", async () => {
  const { send } = await opened();
  const key = { "Idempotency-Key": "wait-1" };
  const first = await send("svc.runtime.list", {}, key);
  expect([first.status, first.body.result.code]).toEqual([202, "approval_pending"]);
  const { invocation_id, approval_id } = first.body.result;
  const again = await send("svc.runtime.list", {}, key);
  expect([again.status, again.body.result.invocation_id]).toEqual([202, invocation_id]);
  expect(told(await send("svc.runtime.list", { more: 1 }, key))).toEqual([422, -32602, "idempotency_key_reused"]);
  expect((await send("svc.invocation.get", { invocation_id })).body.result.status).toBe("pending");
  const decided = await at.node.call("POST", `/v1/human-approvals/${approval_id}/approve`, {});
  expect(decided.status).toBe(200);
  const read = await until(
    async () => {
      const { result } = (await send("svc.invocation.get", { invocation_id, wait_seconds: 5 })).body;
      return result.status === "pending" ? null : result;
    },
    { timeoutMs: 30_000, what: "the call to end" },
  );
  expect(read).toMatchObject({ status: "success", outcome: "success" });
  const after = await send("svc.runtime.list", {}, key);
  expect([after.status, after.body.result]).toEqual([200, read.result]);
  // Outcomes are written in batches, shortly after.
  const record = await until(
    async () => {
      const { body } = await at.node.call("GET", `/v1/tool-invocations/${invocation_id}`);
      return body.outcome === "success" ? body : null;
    },
    { timeoutMs: 30_000, what: "the outcome on the record" },
  );
  expect(record).toMatchObject({ entry: "seal", tool_name: "svc.runtime.list", approval_id });
});

test("a call that waits is withdrawn with its session", async () => {
  const { send, sessionId } = await opened();
  const { approval_id, invocation_id } = (await send("svc.runtime.list")).body.result;
  await at.node.call("DELETE", `/v1/seal/sessions/${sessionId}`);
  await until(
    async () => (await at.node.call("GET", `/v1/tool-invocations/${invocation_id}`)).body.outcome === "withdrawn",
    { timeoutMs: 30_000, what: "the call to be withdrawn" },
  );
  const late = await at.node.call("POST", `/v1/human-approvals/${approval_id}/approve`, {});
  expect(late.status).toBe(409);
});

test("a call whose approver says no reads why", async () => {
  const { send } = await opened();
  const { approval_id, invocation_id } = (await send("svc.runtime.list")).body.result;
  await at.node.call("POST", `/v1/human-approvals/${approval_id}/reject`, { reason: "not today" });
  const read = await until(
    async () => {
      const { result } = (await send("svc.invocation.get", { invocation_id, wait_seconds: 5 })).body;
      return result.status === "pending" ? null : result;
    },
    { timeoutMs: 30_000, what: "the call to end" },
  );
  expect(JSON.stringify(read)).toContain("rejected_by_person");
  expect(JSON.stringify(read)).toContain("not today");
});
