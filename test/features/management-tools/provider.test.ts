/** For whom management tools act (docs/reference/management-tools.md). */
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { starterOf } from "../../../actors/identity/starter.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { defineTool, type ToolCaller, workIdOf } from "../../../src/features/management-tools/port.ts";
import { createManagementProvider } from "../../../src/features/management-tools/provider.ts";
import { identityOf } from "../../harness/callers.ts";
import { requestOf } from "../tools/request.ts";

const heard: ToolCaller[] = [];
const admin = identityOf("t", { kind: "operator", role: "admin", scopes: new Set(["agent:read", "agent:deploy"]) });
let now: typeof admin | null = admin;
const provider = createManagementProvider({ identityOf: async () => now });
const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: "x",
    scope: "agent:deploy",
    arguments: Type.Object({ n: Type.Integer({ default: 1 }) }),
    call: async (caller, given) => {
      heard.push(caller);
      return { n: given.n };
    },
    ...more,
  });
provider.offer([
  tool("svc.test.deploy", { aliases: ["svc.test.put"] }),
  tool("svc.test.operate", { scope: null, forOperators: true }),
  tool("svc.workflow.wait", { effect: "reads" }),
  tool("svc.test.carry", { call: async ({ ceilings }: ToolCaller) => ({ ceilings: [...ceilings] }) }),
  tool("svc.test.fail", {
    call: async () => {
      throw new Problem("service_unavailable", "away");
    },
  }),
]);

const who = { ...requestOf("", {}).who, starter: starterOf(admin) };
const call = (name: string, given = {}, change: Parameters<typeof requestOf>[2] = {}) =>
  provider.call(requestOf(name, given, { who, ...change }));

test("a run without starter has no management tools, nor has one whose starter is gone", async () => {
  expect(await call("svc.test.deploy", {}, { who: { ...who, starter: null } })).toMatchObject({
    status: "refused",
    error_code: 2000,
    code: "tool_not_allowed",
  });
  now = null;
  expect(await call("svc.test.deploy")).toMatchObject({ status: "refused", code: "tool_not_allowed" });
  now = admin;
  expect(await call("aegis.test.put")).toEqual({ status: "succeeded", result: { tool: "svc.test.deploy", n: 1 } });
});

test("in a session its opener must hold the scope and the role as well", async () => {
  const opener = identityOf("t", { kind: "tenant_user", role: null, scopes: new Set(["agent:read"]) });
  const session = { who: { ...who, opener } };
  expect(await call("svc.test.deploy", {}, session)).toMatchObject({ status: "failed", code: "insufficient_scope" });
  expect(await call("svc.test.operate", {}, session)).toMatchObject({ status: "failed", code: "operator_required" });
  expect(await call("svc.test.operate")).toMatchObject({ status: "succeeded" });
  expect([provider.mayCall(opener, "aegis.test.deploy"), provider.mayCall(admin, "svc.test.put")]).toEqual([
    false,
    true,
  ]);
});

test("a call has one id over its attempts, which no caller chooses", async () => {
  heard.length = 0;
  for (const idempotencyKey of ["one", "one", "two"]) await call("svc.test.deploy", {}, { idempotencyKey });
  const ids = heard.map(({ workId }) => workId);
  expect(ids[0]).toBe(workIdOf("t", who.principal, "one"));
  expect(new Set(ids).size).toBe(2);
});

test("what a call hands on is its context and its ceilings; a fifth name fails", async () => {
  const under = (...ceilings: string[]) => ({
    policy: { context: "build", ceilings, tools: null, patterns: null },
  });
  expect(await call("svc.test.carry", {}, under("outer"))).toMatchObject({ result: { ceilings: ["build", "outer"] } });
  expect(await call("svc.test.carry", {}, under("a", "b", "c", "d"))).toMatchObject({
    status: "failed",
    code: "too_many_ceilings",
  });
});

test("wrong arguments are failures with issues; an outage is thrown", async () => {
  expect(await call("svc.test.deploy", { n: "x" })).toMatchObject({
    code: "invalid_arguments",
    details: { issues: [{ path: "n", code: "invalid" }] },
  });
  expect(call("svc.test.fail")).rejects.toThrow("away");
});

test("tools are listed under svc., the wait for workflows under aegis.", () => {
  const tools = provider.tools("t");
  if (tools instanceof Promise) throw new Error("answered from memory");
  expect(tools.map(({ name }) => name)).toEqual([
    "svc.test.deploy",
    "svc.test.operate",
    "aegis.workflow.wait",
    "svc.test.carry",
    "svc.test.fail",
  ]);
  expect(tools[2]).toMatchObject({ readOnly: true, idempotent: true, source: "management" });
  expect(provider.tools("other")).toBe(tools);
});
