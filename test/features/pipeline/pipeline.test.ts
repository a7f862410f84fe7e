/** The way of a call through policy, its tool and onto the record (docs/reference/tools.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { SecurityContextSpec } from "../../../actors/policy/security/spec.ts";
import { type AskPeople, type Call, isCleared } from "../../../src/features/pipeline/port.ts";
import type { ToolOutcome } from "../../../src/features/tools/port.ts";
import { pageOf } from "../../../src/http/paging.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { callOf, granted, openPipeline, toolOf } from "./fixture.ts";

let stores: TestStores;
let at: ReturnType<typeof openPipeline>;
const gate = { release: () => {}, held: Promise.resolve() };
const succeeded = (result: Extract<ToolOutcome, { status: "succeeded" }>["result"] = {}): ToolOutcome => ({
  status: "succeeded",
  result: { status: "success", ...result },
});

/** No bound of its price is seen from outside. */
const named = { type: "object", patternProperties: { "^[a-z]+$": { type: "string" } }, additionalProperties: false };

beforeAll(async () => {
  stores = await freshStores();
  at = openPipeline(stores, [
    [toolOf("echo.say"), ({ arguments: given }) => succeeded({ said: String(given.text ?? "") })],
    [toolOf("fs.read", { truncates: true }), () => succeeded({ content: "x".repeat(500), truncated: false })],
    [toolOf("tickets.search", { source: "mcp", server: "tickets" }), () => succeeded({ content: "y".repeat(200) })],
    [toolOf("ticketsx.search", { source: "mcp", server: "ticketsx" }), () => succeeded()],
    [toolOf("tickets.changed", { source: "mcp", server: "tickets", withheld: true }), () => succeeded()],
    [toolOf("tags.add", { source: "mcp", server: "tags", inputSchema: named }), () => succeeded()],
    [toolOf("echo.named", { inputSchema: { ...named } }), () => succeeded()],
    [toolOf("svc.task.wait", { aliases: ["svc.agent.wait"] }), () => succeeded()],
    [toolOf("svc.agent.list", { source: "management" }), () => succeeded()],
    [toolOf("sandbox.only", { executor: "sandbox" }), () => succeeded()],
    [toolOf("slow.wait"), () => gate.held.then(() => succeeded())],
    [
      toolOf("slow.ever"),
      ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    ],
    [
      toolOf("echo.late"),
      async ({ still }) => {
        await still?.();
        return succeeded();
      },
    ],
    [toolOf("broken.tool"), () => Promise.reject(new Error("/host/path leaked"))],
  ]);
  at.specs.set("none", { capabilities: [], deny_list: [] });
  at.specs.set("denies", { capabilities: [{ tool_pattern: "*" }], deny_list: ["echo.*"] });
  at.specs.set("no-waits", { capabilities: [{ tool_pattern: "*" }], deny_list: ["svc.agent.*"] });
  at.specs.set("fs", { capabilities: [{ tool_pattern: "fs.*" }], deny_list: [] });
  at.specs.set("small", { capabilities: [{ tool_pattern: "*", max_response_size: 100 }], deny_list: [] });
  at.specs.set("brief", { capabilities: [{ tool_pattern: "*", max_timeout_secs: 1 }], deny_list: [] });
});
afterAll(async () => {
  await at?.close();
  await stores?.dispose();
});

const noPeople: AskPeople = () => Promise.reject(new Error("no person is asked here"));
const invoke = (call: Call) => at.pipeline.invoke(call, noPeople);
const under = (context: string): Partial<Call> => ({
  policy: { context, ceilings: [], tools: null, patterns: null },
});
const offering = (...names: readonly string[]): Partial<Call> => ({
  policy: { context: "open", ceilings: [], tools: granted(...names), patterns: null },
});
const recordOf = async (call: Call) => {
  await at.invocations.flush();
  return (await at.reader.one(call.tenant, call.invocationId))?.record ?? null;
};

describe("what is refused, in this order", () => {
  test.each([
    ["deny_list beats a capability *", "echo.say", under("denies"), { error_code: 2001, code: "tool_denied" }],
    ["without capabilities every call is 2000", "echo.say", under("none"), { error_code: 2000 }],
    ["fs.* does not match fsx.read", "fsx.read", under("fs"), { error_code: 2000, code: "tool_not_allowed" }],
    ["a manifest without tools has none", "echo.say", offering(), { error_code: 2000, code: "tool_not_allowed" }],
    ["mcp:tickets opens no other server's tools", "ticketsx.search", offering("mcp:tickets"), { error_code: 2000 }],
    ["a management tool without a starter", "aegis.agent.list", {}, { error_code: 2000 }],
    ["an alias that is denied", "aegis.agent.wait", under("no-waits"), { error_code: 2001 }],
    ["a tool whose alias is denied, by its own name", "svc.task.wait", under("no-waits"), { error_code: 2001 }],
    ["a context that was deleted", "echo.say", under("gone"), { error_code: 2000 }],
    [
      "what the session was not narrowed to",
      "echo.say",
      { policy: { context: "open", ceilings: [], tools: null, patterns: ["fs.*"] } },
      { error_code: 2000 },
    ],
    [
      "a ceiling's deny list",
      "echo.say",
      { policy: { context: "open", ceilings: ["denies"], tools: null, patterns: null } },
      { error_code: 2001, details: { security_context: "denies" } },
    ],
    [
      "a target under a context that does not allow the fleet",
      "echo.say",
      { ...under("fs"), arguments: { target: { edge_node_id: "x" } } },
      { error_code: 2000, details: { tool: "svc.edge.fleet.invoke" } },
    ],
  ])("%s", async (_, tool, change, refusal) => {
    expect(await invoke(callOf(tool, {}, change))).toMatchObject({ is: "refused", ...refusal });
  });

  test.each([
    ["no tool of that name", "made.up", {}, "unknown_tool"],
    ["a tool that its server changed", "tickets.changed", {}, "tool_changed"],
    ["arguments that do not fit the schema", "echo.say", { text: 7 }, "invalid_arguments"],
    ["a sandbox tool without an execution", "sandbox.only", {}, "execution_required"],
  ])("%s fails", async (_, tool, given, code) => {
    expect(await invoke(callOf(tool, given))).toMatchObject({ is: "failed", code, ran: false });
  });
});

describe("arguments under a schema whose price is not known", () => {
  const many = (change: Partial<Call>) =>
    Promise.allSettled(
      Array.from({ length: 24 }, (_, index) => at.pipeline.clear([callOf("tags.add", { name: `${index}` }, change)])),
    );
  const refused = async (change: Partial<Call>) =>
    (await many(change)).flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));

  test("calls of loops wait for their check, however many there are", async () => {
    expect(await refused({ entry: "dispatch" })).toEqual([]);
  });

  test("callers who wait at a connection are refused when the line is long", async () => {
    expect(await refused({ entry: "seal" })).toContain("SlotsFull: Too much work of the tenant is waiting");
  });

  test("a tool of the service is checked at once", async () => {
    const calls = Array.from({ length: 24 }, (_, index) => callOf("echo.named", { name: `${index}` }));
    const judged = await Promise.all(calls.map((call) => at.pipeline.clear([call])));
    expect(judged.flat().filter(({ clearance }) => clearance.is !== "cleared")).toEqual([]);
    expect(await invoke(callOf("echo.named", { "Not-a-name": "1" }))).toMatchObject({ code: "invalid_arguments" });
  });
});

test("an alias that is denied or opened denies or opens its tool", async () => {
  at.specs.set("waits", { capabilities: [{ tool_pattern: "aegis.agent.wait" }], deny_list: [] });
  expect(await invoke(callOf("svc.task.wait", {}, under("waits")))).toMatchObject({ is: "succeeded" });
  const names = async (context: string) => {
    const { who, policy } = callOf("", {}, under(context));
    return (await at.pipeline.effective("acme", who, policy)).map(({ name }) => name);
  };
  expect(await names("waits")).toEqual(["svc.task.wait"]);
  expect(await names("no-waits")).not.toContain("svc.task.wait");
});

test("an entry of a manifest covers a tool by its alias", async () => {
  expect(await invoke(callOf("svc.task.wait", {}, offering("svc.agent.wait")))).toMatchObject({ is: "succeeded" });
});

test("a manifest with mcp:tickets opens exactly that server's tools", async () => {
  const { who, policy } = callOf("", {}, offering("mcp:tickets"));
  expect((await at.pipeline.effective("acme", who, policy)).map(({ name }) => name)).toEqual(["tickets.search"]);
  expect(await invoke(callOf("tickets.search", {}, offering("mcp:tickets")))).toMatchObject({ is: "succeeded" });
});

test("max_response_size cuts fs.read; a larger result of a tool server is withheld", async () => {
  expect(await invoke(callOf("fs.read", { text: "" }, under("small")))).toEqual({
    is: "succeeded",
    result: { status: "success", content: "x".repeat(100), truncated: true },
  });
  const large = callOf("tickets.search", {}, under("small"));
  expect(await invoke(large)).toMatchObject({ is: "refused", error_code: 2007, code: "output_size_exceeded" });
  expect(await recordOf(large)).toMatchObject({ decision: "deny", code: "output_size_exceeded", outcome: "failed" });
});

test("max_concurrent 1: a second call beside the first is 2008", async () => {
  at.specs.set("one", { capabilities: [{ tool_pattern: "slow.*", max_concurrent: 1 }], deny_list: [] });
  const held = Promise.withResolvers<void>();
  Object.assign(gate, { held: held.promise });
  const before = at.called.length;
  const first = invoke(callOf("slow.wait", {}, under("one")));
  await until(() => at.called.length > before);
  expect(await invoke(callOf("slow.wait", {}, under("one")))).toMatchObject({
    is: "refused",
    error_code: 2008,
    details: { retry_after_seconds: 1 },
  });
  held.resolve();
  expect(await first).toMatchObject({ is: "succeeded" });
  await until(async () => (await invoke(callOf("slow.wait", {}, under("one")))).is === "succeeded");
});

test("rate_limit 2 per 60 s: the third call is 2005 in spite of a later capability *", async () => {
  const rate_limit = { calls: 2, per_seconds: 60 };
  at.specs.set("rare", {
    capabilities: [{ tool_pattern: "echo.*", rate_limit }, { tool_pattern: "*" }],
    deny_list: [],
  });
  for (const is of ["succeeded", "succeeded", "refused"]) {
    expect(await invoke(callOf("echo.say", {}, under("rare")))).toMatchObject({ is });
  }
  expect(await invoke(callOf("echo.say", {}, under("rare")))).toMatchObject({ error_code: 2005 });
});

test("a tool that takes too long is stopped and answers timeout", async () => {
  expect(await invoke(callOf("slow.ever", {}, under("brief")))).toMatchObject({
    is: "failed",
    code: "timeout",
    ran: true,
  });
});

test("a tool that breaks tells nothing of the host", async () => {
  const call = callOf("broken.tool");
  expect(JSON.stringify(await invoke(call))).not.toContain("/host");
  expect(await recordOf(call)).toMatchObject({ outcome: "failed", code: "internal_error" });
});

test("a call without its place counted is 503 and not run; an approved one waits", async () => {
  const call = callOf("echo.say", { text: "a" });
  const before = at.called.length;
  at.places.away = 1;
  await expect(invoke(call)).rejects.toMatchObject({ status: 503, code: "service_unavailable" });
  expect(at.called.length).toBe(before);
  expect(await recordOf(call)).toMatchObject({ outcome: "failed", code: "service_unavailable" });
  at.places.away = 2;
  expect(await at.pipeline.resume(callOf("echo.say", { text: "b" }))).toMatchObject({ is: "succeeded" });
});

describe("the record", () => {
  test("is durable before the tool starts, and says what became of the call", async () => {
    const held = Promise.withResolvers<void>();
    Object.assign(gate, { held: held.promise });
    const call = callOf("slow.wait", { text: "hi" });
    const before = at.called.length;
    const running = invoke(call);
    await until(() => at.called.length > before);
    expect((await at.reader.one("acme", call.invocationId))?.record).toMatchObject({
      outcome: "running",
      tool_name: "slow.wait",
      arguments: { text: "hi" },
      decision: "allow",
      security_context: "open",
      context_version: 3,
      capability_index: 0,
    });
    held.resolve();
    await running;
    expect(await recordOf(call)).toMatchObject({ outcome: "success", count: 1, result_bytes: 20 });
    expect(await at.reader.resultOf("acme", call.invocationId)).toEqual({ status: "success" });
    expect(await at.reader.one("other", call.invocationId)).toBeNull();
    expect(await at.reader.resultOf("other", call.invocationId)).toBeNull();
  });

  test("1,000 equal refusals make one record and one incident", async () => {
    const who = { ...callOf("").who, principal: "realm/one-thousand" };
    const calls = Array.from({ length: 1000 }, () =>
      callOf("echo.say", {}, { ...under("denies"), who, tenant: "many" }),
    );
    await Promise.all(calls.map(invoke));
    await at.invocations.flush();
    await at.incidents.flush();
    const { items } = await at.reader.list("many", {}, pageOf({}, 1));
    expect(items).toMatchObject([{ decision: "deny", code: "tool_denied", outcome: "failed", count: 1000 }]);
    const found = await stores.sql`select category, count::int, details from security_incidents where tenant = 'many'`;
    const by = { security_context: "denies", context_version: 3 };
    expect([...found]).toMatchObject([{ category: "seal_policy_violation_blocked", count: 1000, details: by }]);
  });

  test("a list knows its filters, another tenant's are not in it", async () => {
    const call = callOf("echo.say", {}, { tenant: "lists" });
    await invoke(call);
    await invoke(callOf("echo.say", {}, { tenant: "lists", ...under("denies") }));
    await at.invocations.flush();
    const ids = async (filter: Parameters<typeof at.reader.list>[1]) =>
      (await at.reader.list("lists", filter, pageOf(filter, 1))).items.map(({ outcome }) => outcome);
    expect(await ids({})).toEqual(["failed", "success"]);
    expect(await ids({ decision: "allow" })).toEqual(["success"]);
    expect(await ids({ outcome: "failed" })).toEqual(["failed"]);
    expect(await ids({ tool_name: "aegis.x" })).toEqual([]);
    expect(await ids({ execution_id: "none" })).toEqual([]);
    expect(await ids({ until: "2020-01-01T00:00:00Z" })).toEqual([]);
  });

  test("long arguments are cut, and what no store takes keeps no call from running", async () => {
    const call = callOf("echo.say", { text: `\0\ud800${"é".repeat(20_000)}` });
    expect(await invoke(call)).toMatchObject({ is: "succeeded" });
    const kept = (await recordOf(call))?.arguments as { readonly trimmed: string };
    expect(Buffer.byteLength(kept.trimmed)).toBeLessThanOrEqual(16_384);
  });
});

test("a call that was held up after it was cleared is judged by the rules of now", async () => {
  const held = { capabilities: [{ tool_pattern: "echo.*", path_allowlist: null }], deny_list: [] };
  const run = async (rules: SecurityContextSpec) => {
    at.specs.set("held", held);
    const call = callOf("echo.late", {}, under("held"));
    const [cleared] = await at.pipeline.clear([call]);
    if (cleared === undefined || !isCleared(cleared)) throw new Error("not cleared");
    at.specs.set("held", rules);
    return at.pipeline.run(call, { ...cleared, at: cleared.at - 3_000 });
  };
  const before = at.called.length;
  expect(await run({ ...held, deny_list: ["echo.*"] })).toMatchObject({ status: "refused", error_code: 2001 });
  expect(at.called.length).toBe(before);
  expect(await run(held)).toMatchObject({ status: "succeeded" });
  // It runs within the bounds of now.
  const smaller = { capabilities: [{ tool_pattern: "echo.*", path_allowlist: ["/workspace/a"] }], deny_list: [] };
  expect(await run(smaller)).toMatchObject({ status: "succeeded" });
  expect(at.called.at(-1)?.bounds.pathRules).toEqual([["/workspace/a"]]);
});

test("an approved call is judged again, by the rules of then", async () => {
  const approval = {
    when: null,
    approvers: [],
    forbid_initiator: false,
    quorum: 1,
    timeout_seconds: 60,
    on_timeout: "reject" as const,
    editable: true,
    remember: null,
    elicit: false,
  };
  at.specs.set("asks", { capabilities: [{ tool_pattern: "*", approval }], deny_list: [] });
  const call = callOf("echo.say", { text: "a" }, under("asks"));
  const before = at.called.length;
  const asked: Parameters<AskPeople>[1][] = [];
  const ask: AskPeople = async (_, cleared) => {
    asked.push(cleared);
    return { approval_id: "p", expires_at: "2031-01-01T00:00:00.000Z" };
  };
  expect(await at.pipeline.invoke(call, ask)).toEqual({
    is: "waiting",
    approval_id: "p",
    expires_at: "2031-01-01T00:00:00.000Z",
  });
  expect(asked[0]?.clearance.approvals).toMatchObject([{ from: { context: "asks", capability_index: 0 } }]);
  expect(at.called.length).toBe(before);
  expect(await at.pipeline.resume(call, { text: "b" })).toMatchObject({
    is: "succeeded",
    result: { said: "b" },
    edited: true,
  });
  at.specs.set("asks", { capabilities: [], deny_list: [] });
  expect(await at.pipeline.resume(call)).toMatchObject({ is: "refused", error_code: 2000 });
});
