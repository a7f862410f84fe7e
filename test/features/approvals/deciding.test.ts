/** Deciding over HTTP (docs/reference/approvals.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Problem } from "../../../actors/kernel/problem.ts";
import { source } from "../../actors/approval/fixture.ts";
import { until } from "../../harness/until.ts";
import { caller, openFixture } from "./fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
const ada = caller("ada");
const bob = caller("bob");
const stranger = caller("eve", { homeTenant: "other" });
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.dispose());

const path = (id: string, rest = "") => `/v1/human-approvals/${id}${rest}`;
const approve = (token: string, id: string, body: object = {}) => fixture.call(token, path(id, "/approve"), { body });
const reject = (token: string, id: string, body: object) => fixture.call(token, path(id, "/reject"), { body });
const statusOf = async (id: string) => (await fixture.call(ada, path(id, "/history"))).body.status;

describe("approve", () => {
  test("goes on with the run in one commit, and the request is no longer pending", async () => {
    const { id, run } = await fixture.open();
    const shown = await fixture.call(ada, path(id));
    expect(shown.body).toEqual({
      request: {
        id,
        kind: "workflow",
        execution_id: run,
        workflow_execution_id: run,
        fleet_command_id: null,
        workflow_id: "0198c1de-0000-7000-8000-000000000002",
        workflow_name: "invoice-release",
        state_name: "SIGN",
        visit: 1,
        tenant_id: "acme",
        prompt: "Release INV-7 (5 characters)?",
        created_at: expect.any(String),
        timeout_seconds: 7200,
        tool_call: null,
        expires_at: expect.any(String),
        status: "pending",
        default_response: null,
        reject_on_timeout: false,
        approvers: [],
        required_role: null,
        quorum: 1,
        approvals: 0,
      },
    });
    const { created_at, expires_at } = shown.body.request;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(7_200_000);

    const answer = await approve(ada, id, { feedback: "fine", approved_by: "the board" });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      status: "approved",
      approval_id: id,
      request_id: id,
      decided_at: expect.any(String),
    });
    const [told] = await until(async () => {
      const all = await fixture.told(run);
      return all.length > 0 && all;
    });
    expect(told).toMatchObject({ approval_id: id, status: "approved", via: "approve" });
    expect(told?.result).toMatchObject({ response: "approved", feedback: "fine", approved_by: "the board" });

    const gone = await fixture.call(ada, path(id));
    expect([gone.status, gone.body]).toEqual([
      200,
      {
        error: "Request not found or already completed",
        code: "approval_not_pending",
        request_id: gone.headers.get("x-request-id"),
      },
    ]);
  });

  test.each<[string, Record<string, string>, string | undefined]>([
    ["no body at all", {}, undefined],
    ["an empty body of any media type", { "content-type": "text/plain" }, ""],
    ["nulls for what is optional", { "content-type": "application/json" }, '{"feedback":null,"approved_by":null}'],
    ["members nobody knows", { "content-type": "application/json" }, '{"__proto__":{"a":1},"more":[[[]]]}'],
  ])("with %s", async (_, headers, body) => {
    const { id } = await fixture.open();
    const options = { method: "POST", headers, ...(body === undefined ? {} : { body }) };
    expect((await fixture.call(ada, path(id, "/approve"), options)).status).toBe(200);
  });
});

test("reject needs a reason, which is the run's feedback", async () => {
  const { id, run } = await fixture.open();
  for (const body of [{}, { reason: "" }, { reason: " \n\t" }, { reason: null }, { reason: 7 }]) {
    const refused = await reject(ada, id, body);
    expect([refused.status, refused.body.code, refused.body.issues[0].path]).toEqual([
      422,
      "validation_failed",
      "reason",
    ]);
  }
  const bodiless = await fixture.call(ada, path(id, "/reject"), { method: "POST" });
  expect([bodiless.status, bodiless.body.issues]).toMatchObject([422, [{ path: "reason" }]]);
  const done = await reject(ada, id, { reason: "too dear", rejected_by: "somebody" });
  expect(done.body).toMatchObject({ status: "rejected", approval_id: id, request_id: id });
  const [told] = await until(async () => {
    const all = await fixture.told(run);
    return all.length > 0 && all;
  });
  expect(told?.result).toMatchObject({
    status: "failed",
    response: "rejected",
    feedback: "too dear",
    rejected_by: "somebody",
    error: "approval_rejected",
  });
});

test("texts are bounded in bytes and must be storable", async () => {
  const { id } = await fixture.open();
  for (const [verb, member, text] of [
    ["approve", "feedback", "x".repeat(16_385)],
    ["approve", "feedback", "ä".repeat(8_193)],
    ["approve", "approved_by", "x".repeat(257)],
    ["approve", "feedback", "a\0b"],
    ["approve", "approved_by", "\ud800"],
    ["reject", "reason", "ä".repeat(8_193)],
    ["reject", "reason", "a\0b"],
  ] as const) {
    const refused = await fixture.call(ada, path(id, `/${verb}`), { body: { [member]: text } });
    expect([refused.status, refused.body.issues?.[0]?.path]).toEqual([422, member]);
  }
  expect((await approve(ada, id, { feedback: "ä".repeat(8_192) })).status).toBe(200);
});

test("user: names a subject of the tenant's own realm, and none of another realm", async () => {
  const { id } = await fixture.open({ approvers: ["user:ada"] });
  for (const facts of [
    { kind: "consumer" },
    { kind: "operator", role: "admin" },
    { kind: "service_account" },
  ] as const) {
    const refused = await approve(caller("ada", { ...facts, membership: null }), id);
    expect([facts.kind, refused.status, refused.body.code]).toEqual([facts.kind, 403, "approver_not_allowed"]);
  }
  expect((await approve(ada, id)).status).toBe(200);
});

describe("the first decision wins", () => {
  test("of twenty approvals at once one is taken, the others learn of it", async () => {
    const { id, run } = await fixture.open();
    const answers = await Promise.all(Array.from({ length: 20 }, () => approve(ada, id)));
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(1);
    for (const { status, body } of answers.filter((one) => one.status !== 200)) {
      expect([status, body.code, body.status]).toEqual([409, "approval_already_decided", "approved"]);
      expect(body.decided_at).toBe(taken[0]?.body.decided_at);
      expect(body.request_id).not.toBe(id);
    }
    await until(async () => (await fixture.told(run)).length === 1);
  });

  test("for any second one", async () => {
    const { id } = await fixture.open();
    await reject(ada, id, { reason: "no" });
    const recorded = { code: "approval_already_decided", status: "rejected" };
    for (const second of [await approve(bob, id), await reject(bob, id, { reason: "no" })]) {
      expect(second.status).toBe(409);
      expect(second.body).toMatchObject(recorded);
    }
    const signal = fixture.approvals.signal({ ...actOf("bob", id), signalName: null, text: "yes", payload: null });
    expect(await refusalOf(signal)).toMatchObject({ code: recorded.code, extras: { status: "rejected" } });
  });
});

describe("a stranger", () => {
  test("finds nothing and changes nothing", async () => {
    const { id } = await fixture.open();
    for (const [token, wanted] of [
      [stranger, id],
      [ada, crypto.randomUUID()],
    ] as const) {
      for (const answer of [
        await approve(token, wanted),
        await reject(token, wanted, { reason: "no" }),
        await fixture.call(token, path(wanted, "/history")),
        await fixture.call(token, path(wanted, "/links"), { body: { recipient: "eve@example.com" } }),
      ]) {
        expect([answer.status, answer.body.code]).toEqual([404, "approval_not_found"]);
      }
      const shown = await fixture.call(token, path(wanted));
      expect([shown.status, shown.body.code]).toEqual([200, "approval_not_pending"]);
    }
    expect((await fixture.call(ada, path(id))).body.request.status).toBe("pending");
  });

  test("an id that is none is told at once", async () => {
    for (const answer of [
      await fixture.call(ada, path("abc")),
      await fixture.call(ada, path("abc", "/history")),
      await fixture.call(ada, path("abc", "/approve"), { method: "POST" }),
      await reject(ada, "abc", {}),
    ]) {
      expect([answer.status, answer.body.code, answer.body.error]).toEqual([
        400,
        "invalid_request_id",
        "Invalid request ID",
      ]);
    }
  });
});

test("checks come in a fixed order", async () => {
  const reader = caller("rea", { scopes: new Set(["approval:read"]) });
  const { id } = await fixture.open({ approvers: ["user:ada"] });
  const { id: decided } = await fixture.open({ approvers: ["user:ada"] });
  await approve(ada, decided);
  const text = { method: "POST", body: "approve", headers: { "content-type": "text/plain" } };
  const broken = { method: "POST", body: "{", headers: { "content-type": "application/json" } };
  const unknown = crypto.randomUUID();
  const codes = [];
  for (const [token, wanted, options] of [
    [null, "abc", text],
    [reader, "abc", text],
    [bob, "abc", text],
    [bob, unknown, text],
    [bob, unknown, broken],
    [bob, unknown, { body: { feedback: 1 } }],
    [bob, unknown, { body: {} }],
    [bob, decided, { body: {} }],
    [bob, id, { body: {} }],
    [ada, id, { body: {} }],
  ] as const) {
    const answer = await fixture.call(token, path(wanted, "/approve"), options);
    codes.push(`${answer.status} ${answer.body.code ?? answer.body.status}`);
  }
  expect(codes).toEqual([
    "401 invalid_token",
    "403 insufficient_scope",
    "400 invalid_request_id",
    "415 unsupported_media_type",
    "400 malformed_body",
    "422 validation_failed",
    "404 approval_not_found",
    "409 approval_already_decided",
    "403 approver_not_allowed",
    "200 approved",
  ]);
});

describe("a signal", () => {
  test.each([
    [{ signalName: null, text: "yes" }, "approved"],
    [{ signalName: "approve", text: "whatever" }, "approved"],
    [{ signalName: null, text: "No" }, "rejected"],
    [{ signalName: "note", text: "later" }, "responded"],
  ])("%j makes it %s", async (signal, status) => {
    const { id, run } = await fixture.open();
    const decided = await fixture.approvals.signal({ ...actOf("ada", id), ...signal, payload: { n: 1 } });
    expect(decided).toMatchObject({ status, approval_id: id });
    const [told] = await until(async () => {
      const all = await fixture.told(run);
      return all.length > 0 && all;
    });
    expect(told).toMatchObject({ status, via: "signal", result: { response: signal.text, payload: { n: 1 } } });
  });

  test("with what stores do not take is refused, and leaves it pending", async () => {
    const { id } = await fixture.open();
    for (const payload of ["\0", { a: ["\ud800"] }, { "\0": 1 }]) {
      const signal = fixture.approvals.signal({ ...actOf("ada", id), signalName: null, text: "yes", payload });
      expect(await refusalOf(signal)).toMatchObject({ code: "validation_failed" });
    }
    expect(await statusOf(id)).toBe("pending");
  });

  test("of an agent decides only where agents are let", async () => {
    const agent = { ...actOf("bot", "").by, kind: "agent" };
    const { id } = await fixture.open();
    const signal = { ...actOf("bot", id), by: agent, signalName: null, text: "yes", payload: null };
    expect(await refusalOf(fixture.approvals.signal(signal))).toMatchObject({ code: "approver_not_allowed" });
    const { id: open } = await fixture.open({ allow_agents: true });
    expect(await fixture.approvals.signal({ ...signal, approvalId: open })).toMatchObject({ status: "approved" });
  });
});

describe("who may decide", () => {
  test("refusals are 403, leave it pending and are recorded", async () => {
    const { id } = await fixture.open({
      forbid_initiator: true,
      approvers: ["role:owner", "user:ada"],
      initiator: { kind: "tenant_user", sub: "ada", email: null },
    });
    expect((await approve(ada, id)).body).toMatchObject({ code: "self_approval_forbidden" });
    const other = await fixture.call(bob, path(id, "/approve"), {
      method: "POST",
      headers: { "user-agent": "curl/8" },
    });
    expect([other.status, other.body.code]).toEqual([403, "approver_not_allowed"]);
    const { body } = await fixture.call(ada, path(id, "/history"));
    expect(body.status).toBe("pending");
    expect(body.events).toMatchObject([
      { sequence: 1, type: "requested", actor: null },
      { sequence: 2, type: "refused", actor: { sub: "ada" }, via: "approve", note: "self_approval_forbidden" },
      {
        sequence: 3,
        type: "refused",
        actor: { sub: "bob", kind: "tenant_user", email: "bob@example.com", role: "member" },
        http_request_id: other.headers.get("x-request-id"),
        ip: "127.0.0.1",
        user_agent: "curl/8",
        note: "approver_not_allowed",
      },
    ]);
    const owner = caller("olga", { membership: "owner" });
    expect((await approve(owner, id)).status).toBe(200);
  });

  test("history names the authenticated caller, not a claimed name", async () => {
    const { id, run } = await fixture.open();
    await approve(ada, id, { approved_by: "Her Majesty" });
    const { body } = await fixture.call(ada, `/v1/human-approvals/history?execution_id=${run}`);
    expect(body.approvals).toEqual(body.items);
    expect(body.items).toMatchObject([
      {
        id,
        status: "approved",
        decision: "approved",
        via: "approve",
        approved_by: "Her Majesty",
        decided_by: { sub: "ada", kind: "tenant_user", email: "ada@example.com" },
        events: [{ type: "requested" }, { type: "approved", actor: { sub: "ada" } }],
      },
    ]);
  });

  test("a fleet run asks for the fleet's own scope", async () => {
    const { id } = await fixture.open({ kind: "fleet_run", workflow_id: null, workflow_name: null, state_name: null });
    const refused = await approve(ada, id);
    expect(refused.body).toMatchObject({ code: "insufficient_scope", required: "aegis.edge.fleet.manage" });
    expect(refused.status).toBe(403);
    const manager = caller("max", { scopes: new Set(["approval:approve", "aegis.edge.fleet.manage"]) });
    expect((await approve(manager, id)).status).toBe(200);
  });

  test("several must agree where the state says so", async () => {
    const { id, run } = await fixture.open({ quorum: 2 });
    const first = await approve(ada, id);
    expect(first.body).toEqual({ status: "pending", approval_id: id, request_id: id, approvals: 1, quorum: 2 });
    expect((await approve(ada, id)).body).toMatchObject({ status: "pending", approvals: 1 });
    expect((await fixture.call(ada, path(id))).body.request).toMatchObject({ status: "pending", approvals: 1 });
    expect(await fixture.told(run)).toEqual([]);
    expect((await approve(bob, id)).body).toMatchObject({ status: "approved" });
  });
});

test("under one Idempotency-Key a decision is repeated, not refused", async () => {
  const { id } = await fixture.open();
  const options = { body: { feedback: "x" }, headers: { "idempotency-key": `k-${id}` } };
  const first = await fixture.call(ada, path(id, "/approve"), options);
  const again = await fixture.call(ada, path(id, "/approve"), options);
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(again.headers.get("idempotent-replay")).toBe("true");
  expect((await fixture.call(ada, path(id, "/approve"), { body: options.body })).status).toBe(409);
  const other = { body: { feedback: "y" }, headers: options.headers };
  expect((await fixture.call(ada, path(id, "/approve"), other)).body.code).toBe("idempotency_key_reused");
});

test("a decision whose answer was lost is found again by its piece of work", async () => {
  const { id } = await fixture.open();
  const act = { ...actOf("ada", id), managesFleet: false };
  const work = crypto.randomUUID();
  const first = await fixture.approvals.reject(act, work, "no", null);
  expect(await fixture.approvals.reject(act, work, "no", null)).toEqual(first);
});

test("withdrawn with its run: 409, and history says so", async () => {
  const { id, run } = await fixture.open();
  await fixture.giveUp(run, id);
  await until(async () => (await statusOf(id)) === "withdrawn");
  expect((await approve(ada, id)).body).toMatchObject({ code: "approval_already_decided", status: "withdrawn" });
  expect((await fixture.call(ada, path(id))).body.code).toBe("approval_not_pending");
  expect(await fixture.told(run)).toEqual([]);
});

function actOf(sub: string, approvalId: string) {
  const by = { sub, kind: "tenant_user", email: `${sub}@example.com`, roles: ["member"] };
  return { tenant: "acme", approvalId, by, source };
}

async function refusalOf(work: Promise<unknown>): Promise<Problem> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("it was not refused");
}
