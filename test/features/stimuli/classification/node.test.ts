/** Routers as real agents on a real node (docs/reference/stimuli.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AgentOptions, say } from "../../../harness/manifests.ts";
import { until } from "../../../harness/until.ts";
import { NodeFixture } from "../../workflows/definitions/node-fixture.ts";

let fixture: NodeFixture;
const ids = new Map<string, string>();
const noop = { DONE: { kind: "System", command: "noop", transitions: [] } };
beforeAll(async () => {
  fixture = await NodeFixture.open();
  for (const name of ["refund", "sales"]) ids.set(name, (await fixture.register(name, noop)).workflow_id);
}, 30_000);
afterAll(() => fixture?.close());

const post = () => fixture.node.call("POST", "/v1/stimuli", { source: "crm", content: "Money back, please" });

/** Has a router of this making classify a stimulus. */
async function classified(agent: AgentOptions, router: object = {}) {
  const router_agent = await fixture.deploy({ tools: [], ...agent });
  await fixture.ok("PUT", "/v1/stimulus-routes/router", { router_agent, ...router });
  return post();
}
const saying = (reply: unknown) => ({ script: [say(typeof reply === "string" ? reply : JSON.stringify(reply))] });
const execution = (id: string) => fixture.ok("GET", `/v1/executions/${id}`);

test("without a router there is no choice", async () => {
  const { status, body } = await post();
  expect([status, body.code]).toEqual([422, "no_router_configured"]);
});

test("a fenced reply with a workflow's id starts it, with trigger `stimulus`", async () => {
  const reply = { workflow_id: ids.get("refund"), confidence: 0.7, reasoning: "asks for money" };
  const { status, body } = await classified(saying(`\`\`\`json\n${JSON.stringify(reply)}\n\`\`\``));
  expect(status).toBe(200);
  expect(body).toMatchObject({
    workflow_id: ids.get("refund"),
    workflow_name: "refund",
    routing_mode: "llm_classified",
    confidence: 0.7,
  });
  const stimulus = await fixture.ok("GET", `/v1/stimuli/${body.stimulus_id}`);
  const { router_execution_id } = stimulus.classification_detail;
  expect(stimulus.classification_detail).toMatchObject({ threshold: 0.7, reasoning: "asks for money" });
  expect(await execution(router_execution_id)).toMatchObject({
    status: "completed",
    trigger: "stimulus",
    input: {
      stimulus: "Money back, please",
      source: "crm",
      stimulus_id: body.stimulus_id,
      workflows: [{ name: "refund" }, { name: "sales" }],
    },
  });
});

test("a name and a low threshold do as well", async () => {
  const { status, body } = await classified(saying({ workflow: "sales", confidence: 0.1 }), {
    confidence_threshold: 0.1,
  });
  expect([status, body.workflow_name]).toEqual([200, "sales"]);
});

test.each([
  ["unsure", { workflow: "refund", confidence: 0.69 }, "classification_failed", { confidence: 0.69, threshold: 0.7 }],
  ["prose", "A refund, I think.", "classification_parse_error", {}],
  ["unknown", { workflow: "nobodys", confidence: 1 }, "unknown_workflow", { workflow: "nobodys" }],
  ["not allowed", { workflow: "sales", confidence: 1 }, "unknown_workflow", { workflow: "sales" }],
])("a reply that is %s", async (_, reply, code, extras) => {
  const { status, body } = await classified(saying(reply), { allowed_workflows: ["refund"] });
  expect(status).toBe(422);
  expect(body).toMatchObject({ code, ...extras, stimulus_id: expect.any(String) });
});

test("a router that hangs is cancelled and told when its time is up", async () => {
  const { status, body } = await classified({ script: [{ content: "", delay_ms: 60_000 }] }, { timeout_seconds: 1 });
  expect([status, body.code, body.reason]).toEqual([422, "router_agent_failed", "timed_out"]);
  const id = body.router_execution_id;
  await until(async () => (await execution(id)).status === "cancelled", { what: "the cancellation" });
});

test("a router whose model fails", async () => {
  const { body } = await classified({
    script: [{ error: { class: "authentication" } }],
    execution: { max_iterations: 1 },
  });
  expect(body).toMatchObject({ code: "router_agent_failed", reason: "failed" });
  expect((await execution(body.router_execution_id)).status).toBe("failed");
});
