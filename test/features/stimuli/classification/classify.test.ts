/** What a classification comes to, whatever its router does (docs/reference/stimuli.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Classifier } from "../../../../src/features/stimuli/classification/classify.ts";
import { until } from "../../../harness/until.ts";
import { choice, completed, openRouting, type Routing } from "./routing.ts";

let routing: Routing;
let node: Classifier;
/** A tenant with the workflows `refund` and `sales`. */
let tenant: string;
const ids = new Map<string, string>();
beforeAll(async () => {
  routing = await openRouting();
  node = routing.node();
  node.work();
  tenant = routing.newTenant();
  for (const name of ["sales", "refund"]) ids.set(name, await routing.workflow(tenant, name));
  ids.set("refund-2", await routing.workflow(tenant, "refund", "2.0.0"));
  ids.set("everybodys", await routing.workflow(null, "everybodys"));
  routing.routes.set(`${tenant} shop`, { workflow: "refund", workflowVersion: "1.0.0", enabled: true });
  routing.routes.set(`${tenant} off`, { workflow: "refund", workflowVersion: null, enabled: false });
  routing.routes.set(`${tenant} bare`, { workflow: null, workflowVersion: null, enabled: true });
  routing.routes.set(`${tenant} wide`, { workflow: "everybodys", workflowVersion: null, enabled: true });
});
afterAll(() => routing?.close());

/** Has a router that ends like this classify a new stimulus. */
async function classified(end: unknown, more: Parameters<Routing["router"]>[1] = {}) {
  routing.executions.onStart = () => end;
  return node.classify(await routing.stimulus(tenant), routing.router(tenant, more));
}

test("a router is started once, exempt, with the stimulus and the tenant's workflows", async () => {
  const { executions } = routing;
  executions.onStart = () => completed({ workflow: "sales", confidence: 0.7, reasoning: "a lead" });
  const stimulus = await routing.stimulus(tenant);
  const chosen = await node.classify(stimulus, routing.router(tenant));
  const [row] = await routing.stores.sql`select router_execution_id from stimuli where id = ${stimulus.id}`;
  const id = row?.router_execution_id as string;
  expect(chosen).toEqual({
    workflow: "sales",
    version: null,
    detail: {
      routing_mode: "llm_classified",
      workflow_id: null,
      workflow_name: null,
      confidence: 0.7,
      threshold: 0.7,
      reasoning: "a lead",
      router_agent_id: routing.router(tenant).agentId,
      router_execution_id: id,
    },
  });
  expect(executions.started.filter((one) => one.id === id)).toEqual([
    {
      id,
      fresh: true,
      request: {
        tenant,
        agentId: routing.router(tenant).agentId,
        origin: { trigger: "stimulus", parent: null, workflow: null, initiatingUserSub: "ada", exempt: true },
        starter: null,
        input: {
          stimulus: "New lead: Ada",
          source: "crm",
          stimulus_id: stimulus.id,
          tenant_id: tenant,
          headers: { "x-kind": "lead" },
          workflows: ["refund", "sales"].map((name) => ({
            workflow_id: ids.get(name === "refund" ? "refund-2" : name),
            name,
            description: `does ${name}`,
            labels: { kind: name },
          })),
        },
      },
    },
  ]);
});

describe("names in a reply", () => {
  const idOf = (text: string) => text.replace(/<(.*)>/, (_, name) => ids.get(name) ?? "");
  test.each([
    // Own workflows; a UUID means its version, a name the latest.
    ["refund", null, { workflow: "refund", version: null }],
    ["<sales>", null, { workflow: "<sales>", version: null }],
    ["<refund>", null, { workflow: "<refund>", version: null }],
    ["nobodys", null, null],
    ["Refund", null, null],
    ["", null, null],
    ["x".repeat(300), null, null],
    ["a\0b", null, null],
    ["0198b000-0000-7000-8000-0000000000ff", null, null],
    ["everybodys", null, null],
    ["<everybodys>", null, null],
    // Sources with a direct route that is on.
    ["shop", null, { workflow: "refund", version: "1.0.0" }],
    ["SHOP", null, { workflow: "refund", version: "1.0.0" }],
    ["off", null, null],
    ["bare", null, null],
    ["wide", null, null],
    // Only what is listed.
    ["sales", ["refund"], null],
    ["<sales>", ["refund"], null],
    ["refund", ["refund", "gone"], { workflow: "refund", version: null }],
    ["<refund>", ["refund"], { workflow: "<refund>", version: null }],
    ["shop", ["sales"], null],
    ["shop", ["refund"], { workflow: "refund", version: "1.0.0" }],
    ["everybodys", ["everybodys"], { workflow: "everybodys", version: null }],
    ["wide", ["everybodys"], { workflow: "everybodys", version: null }],
    // A version that is listed by its UUID, under its name.
    ["refund", ["<refund>"], { workflow: "<refund>", version: null }],
    ["<refund-2>", ["<refund>"], null],
    ["refund", [], null],
  ])("%j among %j", async (name, allowed, expected) => {
    const allowedWorkflows = allowed?.map(idOf) ?? null;
    const outcome = await classified(choice(idOf(name)), { allowedWorkflows });
    if (expected !== null) expect(outcome).toMatchObject({ ...expected, workflow: idOf(expected.workflow) });
    else expect(outcome).toMatchObject({ status: "classification_failed", code: "unknown_workflow" });
  });

  test("another tenant's workflows are unknown", async () => {
    await routing.workflow("strangers", "theirs");
    expect(await classified(choice("theirs"), { allowedWorkflows: ["theirs"] })).toMatchObject({
      code: "unknown_workflow",
      extras: { workflow: "theirs" },
    });
  });
});

describe("without a choice", () => {
  test.each([
    ["an unsure reply", choice("refund", 0.69), "rejected", "classification_failed", { confidence: 0.69 }],
    ["prose", completed("It is a refund."), "classification_failed", "classification_parse_error", {}],
    [
      "a failure",
      { execution_failed: { error_code: "llm_error", reason: "no" } },
      "classification_failed",
      "router_agent_failed",
      { reason: "failed" },
    ],
    [
      "a cancellation",
      { execution_cancelled: { reason: "by hand" } },
      "classification_failed",
      "router_agent_failed",
      { reason: "cancelled" },
    ],
    [
      "its own time-out",
      { execution_timed_out: {} },
      "classification_failed",
      "router_agent_failed",
      { reason: "timed_out" },
    ],
  ])("%s", async (_, end, status, code, extras) => {
    const outcome = await classified(end);
    expect(outcome).toMatchObject({ status, code, extras, detail: { routing_mode: "llm_classified" } });
    if (code === "router_agent_failed") {
      expect(outcome).toMatchObject({ extras: { router_execution_id: routing.executions.started.at(-1)?.id } });
    }
  });

  test("an agent that may not start is no execution", async () => {
    routing.executions.onStart = () => {
      throw new Problem("agent_not_found", "Agent not found");
    };
    expect(await node.classify(await routing.stimulus(tenant), routing.router(tenant))).toMatchObject({
      code: "router_agent_failed",
      extras: { reason: "refused", router_execution_id: null },
    });
  });

  test("a start without an answer is tried again", async () => {
    let tries = 0;
    routing.executions.onStart = () => {
      if (++tries < 2) throw new Error("away");
      return choice("refund");
    };
    const outcome = await node.classify(await routing.stimulus(tenant), routing.router(tenant));
    expect(outcome).toMatchObject({ workflow: "refund" });
    expect(routing.executions.started.at(-1)?.fresh).toBe(false);
  });

  test("one that hangs is cancelled at the time-out, which is told at once", async () => {
    const outcome = await classified(null, { timeoutSeconds: 0.3 });
    const { id } = routing.executions.started.at(-1) ?? {};
    expect(outcome).toMatchObject({
      code: "router_agent_failed",
      extras: { reason: "timed_out", router_execution_id: id },
    });
    await until(() => routing.executions.cancelled.includes(id ?? ""), { what: "the cancellation" });
  });

  test("one that comes through after the time-out is cancelled too", async () => {
    const late = Promise.withResolvers<null>();
    const before = routing.executions.cancelled.length;
    expect(await classified(late.promise, { timeoutSeconds: 0.2 })).toMatchObject({ extras: { reason: "timed_out" } });
    expect(routing.executions.cancelled).toHaveLength(before);
    late.resolve(null);
    await until(() => routing.executions.cancelled.length > before, { what: "the cancellation" });
    expect(routing.executions.running.size).toBe(0);
  });
});

test("what was settled meanwhile is not classified", async () => {
  const stimulus = await routing.stimulus(tenant);
  await routing.stores.sql`update stimuli set status = 'discarded' where id = ${stimulus.id}`;
  await expect(node.classify(stimulus, routing.router(tenant))).rejects.toThrow("settled");
});

test("a draining node releases waiting callers and its jobs", async () => {
  const leaving = routing.node();
  leaving.work();
  routing.executions.onStart = () => null;
  const before = routing.executions.started.length;
  const outcome = leaving.classify(await routing.stimulus(tenant), routing.router(tenant));
  outcome.catch(() => {});
  await until(() => routing.executions.started.length > before, { what: "the start" });
  await leaving.close();
  await expect(outcome).rejects.toThrow("leaving");
});
