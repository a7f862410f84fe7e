/** The activity `workflow.webhook` against a real server. */
import { afterAll, expect, test } from "bun:test";
import { parseHostPattern } from "../../../../actors/policy/network/pattern.ts";
import type { WebhookCall } from "../../../../actors/workflow/run/activities.ts";
import type { Incident } from "../../../../src/features/incidents/service.ts";
import { webhookActivity } from "../../../../src/features/workflows/runs/activities.ts";
import { type ActivityContext, Retryable, Terminal } from "../../../../src/runtime/port.ts";
import { Receiver } from "../../../harness/outside/receiver.ts";

const receiver = new Receiver();
afterAll(() => receiver.stop());

const loopback = [parseHostPattern("127.0.0.1")].filter((pattern) => pattern !== null);
const blocked: Incident[] = [];
const activity = webhookActivity({
  outside: { resolve: async () => [], allowPrivate: loopback },
  incidents: { report: (incident) => blocked.push(incident) },
  firstDelayMs: 40,
});

function call(path: string, change: Partial<WebhookCall> = {}, attempt = 1) {
  const input: WebhookCall = {
    url: receiver.url(path),
    listed: [`127.0.0.1:${receiver.port}`],
    method: "POST",
    headers: { "X-Run": "1" },
    body: '{"a":1}',
    timeout_ms: 5000,
    max_attempts: 2,
    ...change,
  };
  const actor = { kind: "workflow_run", key: "r", tenant: "t" };
  const context = { id: "webhook:r:1", actor, attempt, resumed: false, signal: new AbortController().signal };
  return activity.run(input, context as unknown as ActivityContext).catch((error: unknown) => error);
}

test("sends what was rendered, under the work's own key, and gives the answer back", async () => {
  receiver.replies.set("/take", () => new Response("taken"));
  expect(await call("/take")).toEqual({ output: "taken", truncated: false });
  const [sent] = receiver.at("/take");
  expect(sent).toMatchObject({ method: "POST", body: '{"a":1}' });
  expect(sent?.headers.get("x-run")).toBe("1");
  expect(sent?.headers.get("content-type")).toBe("application/json");
  expect(sent?.headers.get("idempotency-key")).toBe("webhook:r:1");
});

test("an empty answer is an empty output", async () => {
  expect(await call("/nothing")).toEqual({ output: "", truncated: false });
});

test("what may pass is tried again, as often as the handler says", async () => {
  receiver.replies.set("/busy", () => new Response(null, { status: 503 }));
  const first = await call("/busy");
  expect(first).toBeInstanceOf(Retryable);
  expect((first as Retryable).afterMs).toBe(40);
  expect(await call("/busy", {}, 2)).toMatchObject({ code: "webhook_failed" });
});

test.each([
  ["a refusal", "/refuse", {}],
  ["an address of a private network", "/x", { url: "http://10.0.0.1/" }],
  ["an address of this machine that no manifest names", "/x", { listed: [] }],
  ["no address", "/x", { url: "nowhere" }],
])("%s is final", async (what, path, change) => {
  receiver.replies.set("/refuse", () => new Response(null, { status: 400 }));
  blocked.length = 0;
  expect(await call(path, change)).toBeInstanceOf(Terminal);
  // An incident of the run for what is refused, and for nothing else.
  const expected = { category: "ssrf_blocked", tenant: "t", executionId: "r" };
  expect(blocked).toMatchObject(what.includes("address of") ? [expected] : []);
});
