/** Signed calls that wait for a person (docs/reference/seal.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LooseJson } from "../../harness/loose-json.ts";
import { until } from "../../harness/until.ts";
import { agentKey, call, envelope, type Headers, type Instance, SealFixture, told } from "./fixture.ts";

let at: SealFixture;
let operator: Headers;
const { privateKey, raw } = agentKey();
beforeAll(async () => {
  at = await SealFixture.open();
  operator = { Authorization: `Bearer ${await at.node.token()}` };
  const capabilities = [{ tool_pattern: "svc.runtime.list", approval: {} }, { tool_pattern: "svc.*" }];
  const made = await at.node.call("POST", "/v1/security-contexts", { name: "asks", capabilities });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
}, 120_000);
afterAll(() => at?.close());

async function opened(security_context = "asks", by = operator) {
  const asked = { public_key: raw.toString("base64"), security_context };
  const { status, body } = await at.outside("/v1/seal/attest", asked, by);
  if (status !== 200) throw new Error(JSON.stringify(body));
  const send = (name: string, given: object = {}, headers: Headers = {}) =>
    at.outside("/v1/seal/invoke", envelope(privateKey, body.security_token, call(name, given)), headers);
  return { sessionId: body.session_id as string, send };
}

/** What a waiting call came to, read in a session of its execution or caller. */
const ended = (send: Awaited<ReturnType<typeof opened>>["send"], invocation_id: string): Promise<LooseJson> =>
  until(
    async () => {
      const { result } = (await send("svc.invocation.get", { invocation_id, wait_seconds: 5 })).body;
      return result.status === "pending" ? null : result;
    },
    { timeoutMs: 30_000, what: "the call to end" },
  );
const approve = (id: string, body: object = {}, headers: Headers = {}) =>
  at.node.call("POST", `/v1/human-approvals/${id}/approve`, body, headers);
const approval = async (id: string) => (await at.node.call("GET", `/v1/human-approvals/${id}/history`)).body;

test("a signed call that waits is 202, under its key the same, then the result", async () => {
  const { send } = await opened();
  const key = { "Idempotency-Key": "wait-1" };
  const first = await send("svc.runtime.list", {}, key);
  expect([first.status, first.body.result.code]).toEqual([202, "approval_pending"]);
  const { invocation_id, approval_id } = first.body.result;
  const again = await send("svc.runtime.list", {}, key);
  expect([again.status, again.body.result.invocation_id]).toEqual([202, invocation_id]);
  // As after a node that died before it kept its answer.
  await at.at.stores
    .sql`update idempotency_keys set status = null, body = null, held_until = null where key = 'wait-1'`;
  expect((await send("svc.runtime.list", {}, key)).body.result).toMatchObject({ invocation_id, approval_id });
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
  const { status: _, ...result } = read.result;
  expect(record.result).toMatchObject(result);
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

test("a call whose session was superseded waits on, runs, and is read in another", async () => {
  const { send } = await opened();
  const { approval_id, invocation_id } = (await send("svc.runtime.list")).body.result;
  const others = [];
  for (let count = 0; count < 5; count += 1) others.push(await opened());
  expect(told(await send("svc.runtime.list"))).toEqual([401, 1006, "session_inactive"]);
  expect((await approve(approval_id)).status).toBe(200);
  const [other] = others;
  if (other === undefined) throw new Error("no other session");
  expect(await ended(other.send, invocation_id)).toMatchObject({ outcome: "success" });
  expect(await approval(approval_id)).toMatchObject({ tool_call: { executed: true } });
});

test("what is remembered in a session holds there alone", async () => {
  const capabilities = [
    { tool_pattern: "svc.runtime.list", approval: { remember: "tool" } },
    { tool_pattern: "svc.*" },
  ];
  await at.node.call("POST", "/v1/security-contexts", { name: "remembers", capabilities });
  const first = await opened("remembers");
  const { approval_id, invocation_id } = (await first.send("svc.runtime.list")).body.result;
  await approve(approval_id, { remember: "tool" });
  await ended(first.send, invocation_id);
  expect((await first.send("svc.runtime.list")).status).toBe(200);
  expect((await (await opened("remembers")).send("svc.runtime.list")).status).toBe(202);
});

test("forbid_initiator: no link serves the initiator, nor any of an unknown address", async () => {
  const signedIn = await at.node.token({ grant_type: "password", username: "admin", password: "dev" }, "svc-system");
  const subOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).sub;
  const approvers = [`user:${subOf(await at.node.token())}`, "email:ida@example.com", "email:other@example.com"];
  const capabilities = [{ tool_pattern: "svc.runtime.list", approval: { approvers, forbid_initiator: true } }];
  await at.node.call("POST", "/v1/security-contexts", { name: "forbids", capabilities });
  const own = { Authorization: `Bearer ${signedIn}` };
  const { send } = await opened("forbids", own);
  const asked = async () => (await send("svc.runtime.list")).body.result.approval_id as string;
  const link = async (id: string, recipient: string) => {
    const { status, body } = await at.node.call("POST", `/v1/human-approvals/${id}/links`, { recipient });
    return [status, body.code];
  };
  expect(await link(await asked(), "other@example.com")).toEqual([403, "approver_not_allowed"]);
  // As a token that vouches for the address would have left it; sightings are written behind the requests.
  await until(async () => {
    const rows = await at.at.stores.sql`
      update users set email = 'ida@example.com' where user_id = ${subOf(signedIn)} returning 1`;
    return rows.length > 0;
  });
  const id = await asked();
  expect(await link(id, "ida@example.com")).toEqual([403, "self_approval_forbidden"]);
  expect(await link(id, "other@example.com")).toEqual([201, undefined]);
  expect(await approve(id, {}, own)).toMatchObject({ status: 403, body: { code: "self_approval_forbidden" } });
});

describe("a signed call of an execution", () => {
  let inside: Instance;
  let send: Awaited<ReturnType<typeof opened>>["send"];
  const record = async () => (await at.node.call("GET", `/v1/executions/${inside.executionId}`)).body;
  beforeAll(async () => {
    const capabilities = [
      { tool_pattern: "fs.write", path_allowlist: ["/workspace"], approval: { editable: true, remember: "tool" } },
      { tool_pattern: "svc.runtime.list", approval: { on_timeout: "fail", timeout_seconds: 60 } },
      { tool_pattern: "fs.read" },
      { tool_pattern: "cmd.run" },
    ];
    await at.node.call("POST", "/v1/security-contexts", { name: "guarded", capabilities });
    await at.at.stores.sql`update security_contexts
      set spec = replace(spec::text, '"timeout_seconds": 60', '"timeout_seconds": 2')::jsonb where name = 'guarded'`;
    inside = await at.instance({ spec: { security_context: "guarded" } });
    const { body } = await at.attestInside(inside, { public_key: raw.toString("base64") });
    send = (name, given = {}, headers = {}) =>
      at.outside("/v1/seal/invoke", envelope(privateKey, body.security_token, call(name, given)), headers);
  }, 90_000);

  test("shows no secrets; an edit that leaves [redacted] runs with the original", async () => {
    const secret = "password=hunter2hunter2";
    const first = await send("fs.write", { path: "a.txt", content: secret });
    expect(first.status).toBe(202);
    const { approval_id, invocation_id } = first.body.result;
    const { tool_call } = await approval(approval_id);
    expect(tool_call.arguments).toEqual({ path: "a.txt", content: "password=[redacted]" });
    const shown = await until(async () => (await record()).waiting_for ?? null);
    expect(shown).toMatchObject({ kind: "tool_call", approval_id, tool: "fs.write" });
    for (const unfit of [{ path: 5 }, { path: "/etc/passwd", content: "x" }, { path: "[redacted]", content: "x" }]) {
      expect(await approve(approval_id, { arguments: unfit })).toMatchObject({
        status: 422,
        body: { code: "invalid_arguments" },
      });
    }
    const edit = { path: "b.txt", content: "password=[redacted]" };
    expect((await approve(approval_id, { arguments: edit, remember: "tool" })).status).toBe(200);
    expect(await ended(send, invocation_id)).toMatchObject({ outcome: "success", result: { edited: true } });
    expect((await send("fs.read", { path: "b.txt" })).body.result.content).toBe(secret);
    const events = await until(async () =>
      (await record()).waiting_for === null ? await approval(approval_id) : null,
    );
    expect(events.events.map(({ type }: LooseJson) => type)).toEqual(["requested", "edited", "approved"]);
    const kept = await until(async () => {
      const { body } = await at.node.call("GET", `/v1/tool-invocations/${invocation_id}`);
      return body.outcome === "success" ? body : null;
    });
    expect(kept.edited_arguments).toEqual({ path: "b.txt", content: "password=[redacted]" });
    // What was granted is the execution's: the tool is not asked about again.
    expect((await send("fs.write", { path: "c.txt", content: "x" })).status).toBe(200);
  }, 60_000);

  test("whose approval is not given in time fails the execution under on_timeout: fail", async () => {
    const { approval_id } = (await send("svc.runtime.list")).body.result;
    const failed = await until(
      async () => {
        const found = await record();
        return found.status === "failed" ? found : null;
      },
      { timeoutMs: 30_000, what: "the execution to fail" },
    );
    expect(failed.error_code).toBe("tool_approval_timed_out");
    expect(await approval(approval_id)).toMatchObject({ status: "timed_out", reject_on_timeout: false });
  }, 60_000);
});
