/** Tool calls of loops that wait for people, on a node (docs/reference/executions.md#calls-that-wait-for-people). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LooseJson } from "../../harness/loose-json.ts";
import { calls, say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "./fixture.ts";

let at: ExecutionFixture;
let admin: Record<string, string>;
beforeAll(async () => {
  at = await ExecutionFixture.open();
  const token = await at.node.token({ grant_type: "password", username: "admin", password: "dev" }, "svc-system");
  admin = { Authorization: `Bearer ${token}` };
}, 120_000);
afterAll(() => at?.close());

type Members = Record<string, unknown>;

/** A security context by which people are asked about what its capabilities say. */
async function context(name: string, capabilities: readonly Members[]): Promise<void> {
  const { status, body } = await at.node.call("POST", "/v1/security-contexts", { name, capabilities });
  if (status !== 201) throw new Error(JSON.stringify(body));
}

/** Approvals under it end within seconds, which no caller may ask for. */
const hasten = (name: string) => at.stores.sql`
  update security_contexts set spec = replace(spec::text, '"timeout_seconds": 60', '"timeout_seconds": 2')::jsonb
  where name = ${name}`;

const write = (path: string, content: string) => calls(["fs.write", { path, content }]);
/** An agent that writes a file once people agree, and then says so. */
const launch = (spec: Members, script: unknown = [write("note.txt", "as asked"), say("done")], more: Members = {}) =>
  at.launch({ script, spec, ...more });
const asking = (approval: Members) => ({ tools: [{ name: "fs.write", approval }, "fs.read", "cmd.run"] });

const open = (executionId: string, nth = 0): Promise<LooseJson> =>
  until(
    async () => (await at.node.call("GET", `/v1/human-approvals?execution_id=${executionId}`)).body.items[nth] ?? null,
    { timeoutMs: 60_000, what: "the approval to open" },
  );
const approve = (id: string, body: Members = {}, headers: Record<string, string> = {}) =>
  at.node.call("POST", `/v1/human-approvals/${id}/approve`, body, headers);
const history = async (id: string) => (await at.node.call("GET", `/v1/human-approvals/${id}/history`)).body;
const result = (record: LooseJson, nth = 0) => JSON.parse(record.iterations[0].trajectory[nth].result_json);
const tools = async (executionId: string) =>
  (await at.node.call("GET", `/v1/tool-invocations?execution_id=${executionId}`)).body.items;
/** What the loop read back of the file that it wrote. */
const readBack = [write("note.txt", "as asked"), calls(["fs.read", { path: "note.txt" }]), say("done")];

describe("what a waiting call comes to", () => {
  test("reject: the model reads rejected_by_person and the reason", async () => {
    const id = await launch(asking({}));
    const asked = await open(id);
    await at.node.call("POST", `/v1/human-approvals/${asked.id}/reject`, { reason: "Not on a Friday" });
    const record = await at.ended(id);
    expect(record.status).toBe("completed");
    expect(result(record)).toMatchObject({ code: "rejected_by_person", reason: "Not on a Friday", isError: true });
  }, 120_000);

  test("time-out under reject is read by the model, under fail it fails the execution", async () => {
    for (const on_timeout of ["reject", "fail"]) {
      const approval = { timeout_seconds: 60, on_timeout };
      await context(`short-${on_timeout}`, [{ tool_pattern: "fs.write", approval }, { tool_pattern: "*" }]);
      await hasten(`short-${on_timeout}`);
    }
    const launched = ["short-reject", "short-fail"].map((security_context) =>
      launch({ tools: ["fs.*"], security_context }),
    );
    const [rejected, failed] = await Promise.all(launched.map(async (id) => at.ended(await id)));
    expect(rejected.status).toBe("completed");
    expect(result(rejected)).toMatchObject({ code: "approval_timed_out", isError: true });
    expect(failed).toMatchObject({ status: "failed", error_code: "tool_approval_timed_out" });
  }, 120_000);

  test("execution cancelled: the approval is withdrawn", async () => {
    const id = await launch(asking({}));
    const asked = await open(id);
    await at.node.call("POST", `/v1/executions/${id}/cancel`, {});
    const withdrawn = await until(async () => {
      const found = await history(asked.id);
      return found.status === "withdrawn" ? found : null;
    });
    expect(withdrawn).toMatchObject({ tool_call: { executed: null } });
    expect(await approve(asked.id)).toMatchObject({ status: 409, body: { code: "approval_already_decided" } });
  }, 120_000);

  test("two decisions at once: one counts; beside a cancellation nothing runs", async () => {
    const [twice, ended] = await Promise.all([launch(asking({})), launch(asking({}))]);
    const asked = await open(twice);
    const both = await Promise.all([approve(asked.id), approve(asked.id, {}, admin)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await at.ended(twice)).toMatchObject({ status: "completed" });
    expect((await tools(twice)).filter(({ tool_name }: LooseJson) => tool_name === "fs.write")).toHaveLength(1);
    const late = await open(ended);
    await Promise.all([at.node.call("POST", `/v1/executions/${ended}/cancel`, {}), approve(late.id)]);
    const after = await until(async () => {
      const found = await history(late.id);
      return found.status === "withdrawn" || found.tool_call.executed !== null ? found : null;
    });
    expect(["withdrawn", "approved"]).toContain(after.status);
    expect((await at.record(ended)).status).toBe("cancelled");
  }, 120_000);

  test("context tightened before the approval: its code, the tool not run", async () => {
    await context("loose", [{ tool_pattern: "fs.write", approval: {} }, { tool_pattern: "*" }]);
    const id = await launch({ tools: ["fs.*"], security_context: "loose" });
    const asked = await open(id);
    const tightened = { name: "loose", capabilities: [{ tool_pattern: "*" }], deny_list: ["fs.write"] };
    expect((await at.node.call("PUT", "/v1/security-contexts/loose", tightened)).status).toBe(200);
    await approve(asked.id);
    expect(result(await at.ended(id))).toMatchObject({ code: "tool_denied", error_code: 2001 });
    expect(await history(asked.id)).toMatchObject({ status: "approved", tool_call: { executed: false } });
    const [call] = await tools(id);
    expect(call).toMatchObject({ tool_name: "fs.write", outcome: "failed", decision: "deny", code: "tool_denied" });
  }, 120_000);
});

describe("time while a call waits", () => {
  test("approved after iteration_timeout and timeout, the execution completes", async () => {
    const execution = { iteration_timeout: "4s", timeout: "6s" };
    const id = await launch(asking({}), undefined, { execution });
    const { id: approval } = await open(id);
    const due = async () => Date.parse((await at.record(id)).deadline_at);
    const first = await due();
    await until(async () => (await due()) > first + 7000, { timeoutMs: 60_000, what: "the deadline to move along" });
    await approve(approval);
    expect(await at.ended(id)).toMatchObject({ status: "completed" });
  }, 120_000);

  test("with a running call beside it the deadline holds", async () => {
    const sleeper = await at.launch({ script: [shell("sleep 120")], resources: { timeout: 130 } });
    const both = calls(
      ["fs.write", { path: "a", content: "x" }],
      ["svc.task.wait", { execution_id: sleeper, timeout_seconds: 100 }],
    );
    const spec = { tools: [{ name: "fs.write", approval: {} }, "svc.task.wait"] };
    const id = await launch(spec, [both, say("done")], { execution: { iteration_timeout: "8s", max_iterations: 1 } });
    const asked = await open(id);
    expect((await at.ended(id)).status).not.toBe("completed");
    expect(await history(asked.id)).toMatchObject({ status: "withdrawn" });
    await at.node.call("POST", `/v1/executions/${sleeper}/cancel`, {});
  }, 120_000);
});

describe("who is asked, and how often", () => {
  test("who is asked only under a condition is not asked where it does not hold", async () => {
    const free = await launch(asking({ when: "path == 'other.txt'" }));
    expect(await at.ended(free)).toMatchObject({ status: "completed" });
    const { body } = await at.node.call("GET", `/v1/human-approvals/history?execution_id=${free}`);
    expect(body.items).toEqual([]);
  }, 120_000);

  test("context and manifest ask in turn; an edit by the second goes to the first again", async () => {
    await context("first", [{ tool_pattern: "fs.write", approval: {} }, { tool_pattern: "*" }]);
    const id = await launch({ ...asking({ editable: true }), security_context: "first" }, readBack);
    const first = await open(id);
    expect(first.tool_call).toMatchObject({ security_context: "first", editable: false });
    expect(await approve(first.id, { arguments: { path: "b" } })).toMatchObject({
      status: 422,
      body: { code: "arguments_not_editable" },
    });
    await approve(first.id);
    const second = await until(async () => {
      const found = await open(id);
      return found.id === first.id ? null : found;
    });
    expect(second.tool_call).toMatchObject({ security_context: null, arguments: { content: "as asked" } });
    await approve(second.id, { arguments: { path: "note.txt", content: "as edited" } });
    const again = await until(async () => {
      const found = await open(id);
      return found.id === second.id ? null : found;
    });
    expect(again.tool_call).toMatchObject({ security_context: "first", arguments: { content: "as edited" } });
    await approve(again.id);
    const record = await at.ended(id);
    expect([result(record).edited, result(record, 1).content]).toEqual([true, "as edited"]);
    const { body } = await at.node.call("GET", `/v1/human-approvals/history?execution_id=${id}`);
    expect(body.items.map(({ tool_call }: LooseJson) => tool_call.executed)).toEqual([true, true, true]);
  }, 120_000);

  test("a condition is held against the arguments as they were edited", async () => {
    const { sub } = JSON.parse(Buffer.from(admin.Authorization?.split(".")[1] ?? "", "base64url").toString());
    const approvals = [
      { name: "fs.write", approval: { when: "path == 'note.txt'", editable: true } },
      { name: "fs.*", approval: { when: "path == 'other.txt'", approvers: [`user:${sub}`] } },
    ];
    const id = await launch({ tools: approvals }, [write("note.txt", "x"), say("done")]);
    const first = await open(id);
    await approve(first.id, { arguments: { path: "other.txt", content: "x" } });
    const second = await until(async () => {
      const found = await open(id);
      return found.id === first.id ? null : found;
    });
    expect(second).toMatchObject({ approvers: [`user:${sub}`], tool_call: { arguments: { path: "other.txt" } } });
    expect(await approve(second.id)).toMatchObject({ status: 403, body: { code: "approver_not_allowed" } });
    expect((await approve(second.id, {}, admin)).status).toBe(200);
    expect(await at.ended(id)).toMatchObject({ status: "completed" });
  }, 120_000);

  test("quorum 2 stays pending after one person's two approvals, and counts from an edit", async () => {
    const id = await launch(asking({ quorum: 2, editable: true }));
    const asked = await open(id);
    const sha = { arguments_sha256: asked.tool_call.arguments_sha256 };
    expect((await approve(asked.id)).body).toMatchObject({ status: "pending", approvals: 1, quorum: 2 });
    expect((await approve(asked.id)).body).toMatchObject({ status: "pending", approvals: 1 });
    const edit = { arguments: { path: "c.txt", content: "x" } };
    expect((await approve(asked.id, edit, admin)).body).toMatchObject({ status: "pending", approvals: 1 });
    // Who looked before the edit agrees to nothing that they have not seen.
    expect(await approve(asked.id, sha)).toMatchObject({ status: 409, body: { code: "arguments_changed" } });
    expect((await approve(asked.id)).body).toMatchObject({ status: "approved" });
    expect(result(await at.ended(id))).toMatchObject({ path: "/workspace/c.txt", edited: true });
  }, 120_000);

  test("remember: equal arguments are not asked about again; more than offered is 422", async () => {
    const script = [write("a", "1"), write("a", "1"), write("a", "2"), say("done")];
    const id = await launch(asking({ remember: "execution" }), script);
    const first = await open(id);
    expect(await approve(first.id, { remember: "tool" })).toMatchObject({
      status: 422,
      body: { code: "remember_not_allowed" },
    });
    await approve(first.id, { remember: "execution" });
    const second = await until(async () => {
      const found = await open(id);
      return found.id === first.id ? null : found;
    });
    expect(second.tool_call.arguments).toMatchObject({ content: "2" });
    await approve(second.id);
    expect((await at.ended(id)).iterations[0].trajectory).toHaveLength(3);
  }, 120_000);

  test("a ninth waiting call is refused with 2008", async () => {
    const nine = calls(...Array.from({ length: 9 }, (_, n) => ["fs.write", { path: `${n}`, content: "x" }] as const));
    const id = await launch(asking({}), [nine, say("done")]);
    await open(id, 7);
    const refused = await until(async () => {
      const { trajectory } = (await at.record(id)).iterations[0];
      return trajectory.find(({ status }: LooseJson) => status === "refused") ?? null;
    });
    expect(JSON.parse(refused.result_json)).toMatchObject({ code: "concurrency_exceeded", error_code: 2008 });
    await at.node.call("POST", `/v1/executions/${id}/cancel`, {});
  }, 120_000);

  test("who started it may not decide under forbid_initiator", async () => {
    const agent = await at.deploy({ script: [write("a", "x"), say("done")], spec: asking({ forbid_initiator: true }) });
    const { body } = await at.start(agent, {}, admin);
    const asked = await open(body.execution_id);
    expect(await approve(asked.id, {}, admin)).toMatchObject({
      status: 403,
      body: { code: "self_approval_forbidden" },
    });
    expect((await approve(asked.id)).status).toBe(200);
    await at.ended(body.execution_id);
  }, 120_000);
});

describe("what people are shown", () => {
  test("65 KiB: cut, whole at /arguments, edit 422; bidirectional characters are escaped", async () => {
    const content = `safe\u202e ${"y".repeat(65 * 1024)}`;
    const id = await launch(asking({ editable: true }), [write("big", content), say("done")]);
    const asked = await open(id);
    expect(asked.tool_call).toMatchObject({ truncated: true, editable: false });
    expect(asked.tool_call.arguments).toContain("safe\\\\u202e");
    expect(asked.tool_call.arguments).toHaveLength(65_536);
    const whole = await at.node.call("GET", `/v1/human-approvals/${asked.id}/arguments`);
    expect(whole.body.arguments.content).toHaveLength(content.length + 5);
    const edit = await approve(asked.id, { arguments: { path: "big", content: "y" } });
    expect(edit).toMatchObject({ status: 422, body: { code: "arguments_not_editable" } });
    await approve(asked.id);
    expect(await at.ended(id)).toMatchObject({ status: "completed" });
  }, 120_000);

  test("secrets are redacted; an edit that leaves [redacted] runs with the original", async () => {
    const secret = "password=hunter2hunter2";
    const script = [write("note.txt", secret), calls(["fs.read", { path: "kept.txt" }]), say("done")];
    const walled = { tool_pattern: "fs.write", path_allowlist: ["/workspace"], approval: { editable: true } };
    await context("walled", [walled, { tool_pattern: "fs.read" }]);
    const id = await launch({ tools: ["fs.*"], security_context: "walled" }, script);
    const asked = await open(id);
    expect(asked.tool_call.arguments).toEqual({ path: "note.txt", content: "password=[redacted]" });
    const outside = { path: "/etc/passwd", content: "password=[redacted]" };
    for (const unfit of [{ path: 5 }, { path: "[redacted]", content: "x" }, outside]) {
      expect(await approve(asked.id, { arguments: unfit })).toMatchObject({
        status: 422,
        body: { code: "invalid_arguments" },
      });
    }
    expect((await open(id)).approvals).toBe(0);
    await approve(asked.id, { arguments: { path: "kept.txt", content: "password=[redacted]" } });
    expect(result(await at.ended(id), 1).content).toBe(secret);
  }, 120_000);
});
