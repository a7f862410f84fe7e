/** Calls that are sent to edge hosts, on their way through policy (docs/reference/edge-agents.md). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { CallTarget } from "../../../actors/edge/call-target.ts";
import { starterOf } from "../../../actors/identity/starter.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { toolSchema } from "../../../actors/kernel/schema.ts";
import type { Capability } from "../../../actors/policy/security/spec.ts";
import { toolApprovalOf } from "../../../actors/policy/security/spec.ts";
import { CmdRunArguments } from "../../../actors/tool/catalog.ts";
import {
  type AskPeople,
  type Call,
  type Cleared,
  type Held,
  type HostRoute,
  withTarget,
} from "../../../src/features/pipeline/port.ts";
import { listedText } from "../../../src/features/seal/tools/listed.ts";
import { ToolRefusal, type ToolRequest } from "../../../src/features/tools/port.ts";
import { identityOf } from "../../harness/callers.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { callOf, granted, openPipeline, toolOf } from "./fixture.ts";

let stores: TestStores;
let at: ReturnType<typeof openPipeline>;
const sent: { readonly request: ToolRequest; readonly target: CallTarget }[] = [];
const cancelled: string[] = [];
let answer: HostRoute["call"];

const node = "0190f3c4-0000-7000-8000-00000000000b";
const starter = starterOf(identityOf("acme"));
const can = (tool_pattern: string, more: Partial<Capability> = {}): Capability => ({ tool_pattern, ...more });
const contexts: Readonly<Record<string, Capability[]>> = {
  both: [can("cmd.run"), can("fs.*"), can("svc.edge.fleet.invoke")],
  tool: [can("*", { max_response_size: 10_000 })],
  "no-fleet": [can("cmd.run")],
  "only-fleet": [can("svc.edge.fleet.*")],
  paths: [can("cmd.run", { path_allowlist: ["/workspace/in"], command_allowlist: ["uptime"] }), can("svc.edge.*")],
  rated: [can("cmd.run"), can("svc.edge.fleet.invoke", { rate_limit: { calls: 1, per_seconds: 3600 } })],
  asked: [can("cmd.run"), can("svc.edge.*", { approval: toolApprovalOf({ when: `tool == "cmd.run"` }) })],
};
beforeAll(async () => {
  stores = await freshStores();
  const command = { executor: "sandbox", runs: "instance", inputSchema: toolSchema(CmdRunArguments) } as const;
  at = openPipeline(stores, [
    [
      toolOf("cmd.run", { ...command, readOnly: false, idempotent: false }),
      () => Promise.reject(new Error("run here")),
    ],
    [toolOf("fs.read", { executor: "sandbox" }), () => ({ status: "succeeded", result: { here: true } })],
    [
      toolOf("svc.edge.fleet.invoke", { source: "management" }),
      ({ arguments: given }) => ({ status: "succeeded", result: { given: given as Json } }),
    ],
    [toolOf("svc.agent.list", { source: "management" }), () => ({ status: "succeeded", result: {} })],
  ]);
  for (const [name, capabilities] of Object.entries(contexts)) at.specs.set(name, { capabilities, deny_list: [] });
  at.pipeline.hostsBy({
    call: async (request, target) => {
      sent.push({ request, target });
      return answer(request, target);
    },
    cancel: async ({ invocationId }) => void cancelled.push(invocationId),
  });
});
beforeEach(() => {
  sent.length = 0;
  cancelled.length = 0;
  answer = async () => ({ status: "succeeded", result: { exit_code: 0, stdout: "up" } });
});
afterAll(async () => {
  await at?.close();
  await stores?.dispose();
});

const noPeople: AskPeople = () => Promise.reject(new Error("no person is asked here"));
function made(context: string, given: Call["arguments"] = {}, change: Partial<Call> = {}): Call {
  const base = callOf("cmd.run", { command: "uptime", target: { edge_node_id: node }, ...given });
  const policy = { context, ceilings: [], tools: null, patterns: null };
  return { ...base, who: { ...base.who, starter, principal: crypto.randomUUID() }, policy, ...change };
}
const invoke = (call: Call) => at.pipeline.invoke(call, noPeople);

test("a call goes to its host without the target, also of callers without a sandbox", async () => {
  expect(await invoke(made("both"))).toMatchObject({ is: "succeeded", result: { stdout: "up" } });
  expect(sent).toMatchObject([
    { target: { edge_node_id: node }, request: { arguments: { command: "uptime" }, entry: "seal" } },
  ]);
  expect(sent[0]?.request.arguments).not.toHaveProperty("target");
});

describe("nothing is sent of a call that is not allowed as both", () => {
  test.each([
    ["the fleet is not opened", made("no-fleet"), { error_code: 2000, details: { tool: "svc.edge.fleet.invoke" } }],
    ["the tool is not opened", made("only-fleet"), { error_code: 2000, details: { tool: "cmd.run" } }],
    [
      "the manifest has no fleet",
      made("both", {}, { policy: { context: "both", ceilings: [], tools: granted("cmd.run"), patterns: null } }),
      { error_code: 2000, details: { tool: "svc.edge.fleet.invoke" } },
    ],
    [
      "a ceiling has none",
      made("both", {}, { policy: { context: "both", ceilings: ["no-fleet"], tools: null, patterns: null } }),
      { error_code: 2000, details: { security_context: "no-fleet" } },
    ],
    ["another command", made("paths", { command: "id" }), { error_code: 2003 }],
    [
      "it acts for no one",
      { ...made("both"), who: { ...callOf("").who, starter: null } },
      { error_code: 2000, details: { tool: "svc.edge.fleet.invoke", constraint: "starter" } },
    ],
  ] as const)("%s", async (_, call, refusal) => {
    expect(await invoke(call)).toMatchObject({ is: "refused", ...refusal });
    expect(sent).toEqual([]);
  });
});

describe("what does not fit fails", () => {
  test.each([
    ["an unknown member", { target: { edge_node_id: node, edge_node: node } }, "target.edge_node"],
    ["a misspelt one alone", { target: { edge_node: node } }, "target.edge_node"],
    ["no UUID", { target: { edge_node_id: "web-1" } }, "target.edge_node_id"],
    ["both", { target: { edge_node_id: node, edge_selector: {} } }, "target"],
    ["a misspelt selector", { target: { edge_selector: { tag: ["x"] } } }, "target.edge_selector.tag"],
    ["a text", { target: node }, "target"],
    ["an argument of a wrong type", { command: 1 }, "arguments.command"],
  ])("%s", async (_, given, path) => {
    const failed = await invoke(made("both", given));
    expect(failed).toMatchObject({ is: "failed", code: "invalid_arguments", ran: false, issues: [{ path }] });
    expect(sent).toEqual([]);
  });
  test("a tool that no host has", async () => {
    const call = { ...made("tool"), tool: "svc.agent.list" };
    expect(await invoke(call)).toMatchObject({ is: "failed", code: "unknown_tool" });
  });
});

test("rules of paths are the host's; stdin is a host's argument", async () => {
  const given = { cwd: "/srv", stdin: "x" };
  expect(await invoke(made("paths", given))).toMatchObject({ is: "succeeded" });
  expect(sent[0]?.request).toMatchObject({ arguments: given, bounds: { pathRules: [] } });
  expect(
    await invoke({
      ...made("both"),
      tool: "fs.read",
      arguments: { path: "/etc/motd", target: { edge_node_id: node } },
    }),
  ).toMatchObject({ is: "succeeded" });
});

test("null is no target, and the tools of the fleet have one of their own", async () => {
  const call = { ...made("tool"), tool: "svc.edge.fleet.invoke", arguments: { target: { edge_node_id: node } } };
  expect(await invoke(call)).toMatchObject({ is: "succeeded", result: { given: { target: { edge_node_id: node } } } });
  expect(await invoke(made("both", { target: null }))).toMatchObject({ is: "failed", code: "execution_required" });
});

test("tools that hosts have are marked, with a target for who may send calls", () => {
  const [command, other] = [toolOf("cmd.run", { inputSchema: toolSchema(CmdRunArguments) }), toolOf("web.search")];
  expect(withTarget(command).inputSchema.properties).toMatchObject({ command: {}, target: { type: "object" } });
  expect(withTarget(command)).toBe(withTarget(command));
  expect(withTarget(other)).toBe(other);
  const listed = [command, other, toolOf("fs.read", { source: "mcp" })].map((tool) => JSON.parse(listedText(tool)));
  expect(listed.map(({ fleetCapable }) => fleetCapable)).toEqual([true, undefined, undefined]);
});

test("the rate of what sends counts, and one capability for both counts once", async () => {
  const who = made("rated").who;
  expect(await invoke({ ...made("rated"), who })).toMatchObject({ is: "succeeded" });
  expect(await invoke({ ...made("rated"), who })).toMatchObject({ is: "refused", error_code: 2005 });
  const [judged] = await at.pipeline.clear([made("tool")]);
  expect((judged as Cleared).governing).toHaveLength(1);
});

test("people whom the capability of the fleet names are asked, by what is sent", async () => {
  const [judged] = await at.pipeline.clear([made("asked")]);
  expect(judged?.clearance).toMatchObject({
    on_host: true,
    entry: { runs: "service" },
    approvals: [{ from: { context: "asked" } }],
  });
  const own = made("asked", { target: { edge_selector: { os: "linux" } } });
  const asked: unknown[] = [];
  const ask: AskPeople = async (_, { clearance }) => {
    asked.push(...clearance.approvals);
    return { approval_id: "a", expires_at: "2033-05-18T03:33:20.000Z" };
  };
  expect(await at.pipeline.invoke(own, ask)).toMatchObject({ is: "waiting", approval_id: "a" });
  expect(asked).toHaveLength(1);
  expect(sent).toEqual([]);
});

describe("a run that asks people", () => {
  const held: Held = { fleet_command_id: "r", approval_id: "a", expires_at: 2_000_000_000_000 };
  const opened = { approval_id: "a", expires_at: "2033-05-18T03:33:20.000Z" };
  beforeEach(() => {
    answer = async () => ({ status: "waiting", ...held });
  });
  test("has the call wait with it, whole", async () => {
    const kept: unknown[] = [];
    const call = made("both");
    const hold = async (...given: unknown[]) => {
      kept.push(...given);
      return opened;
    };
    expect(await at.pipeline.invoke(call, noPeople, { hold })).toEqual({ is: "waiting", ...opened });
    expect(kept).toMatchObject([call, { target: { edge_node_id: node } }, held]);
  });
  test("is cancelled where no more calls may wait", async () => {
    const call = made("both");
    const hold = () => Promise.reject(new ToolRefusal(2008, "concurrency_exceeded", "x", "full", "cmd.run"));
    expect(await at.pipeline.invoke(call, noPeople, { hold })).toMatchObject({ is: "refused", error_code: 2008 });
    expect(cancelled).toEqual([call.invocationId]);
  });
  test("holds a call again that was resumed", async () => {
    expect(await at.pipeline.resume(made("both"))).toEqual({ is: "held", ...held });
  });
});

describe("a caller that is gone", () => {
  const gone = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  beforeEach(() => {
    answer = ({ signal }) => gone(signal);
  });
  const leaving = (make: (call: Call) => Promise<unknown>) => {
    const controller = new AbortController();
    const call = made("both", {}, { signal: controller.signal });
    const work = make(call).then(
      () => "answered",
      () => "gone",
    );
    return { call, work, leave: () => controller.abort() };
  };
  test("cancels what it runs on a host", async () => {
    const { call, work, leave } = leaving(invoke);
    await until(() => sent.length > 0, { what: "the call to be sent" });
    leave();
    expect(await work).toBe("gone");
    expect(cancelled).toEqual([call.invocationId]);
  });
  test("whose call another node goes on with cancels nothing", async () => {
    const { work, leave } = leaving((call) => at.pipeline.resume(call));
    await until(() => sent.length > 0, { what: "the call to be sent" });
    leave();
    expect(await work).toBe("gone");
    expect(cancelled).toEqual([]);
  });
});
