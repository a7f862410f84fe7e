/** Webhooks and deliveries against real servers, on a real runtime: what is sent, repeated, given up. */

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { Delivery, OutputHandler } from "../../../../actors/agent/manifest/execution/results.ts";
import { iterationRunAt } from "../../../../actors/execution/activities.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import { executionProtocol } from "../../../../actors/execution/messages.ts";
import { executionRecord } from "../../../../actors/execution/record/record.ts";
import type { Plan } from "../../../../actors/execution/start/plan.ts";
import type { ExecutionState } from "../../../../actors/execution/state.ts";
import { parseHostPattern } from "../../../../actors/policy/network/pattern.ts";
import type { GuardedOptions } from "../../../../src/adapters/egress/guarded-fetch.ts";
import { deliverySendActivity } from "../../../../src/features/executions/output/deliver.ts";
import {
  outputHandleActivity,
  outputRecallActivity,
} from "../../../../src/features/executions/output/output-handler.ts";
import { createPlans } from "../../../../src/features/executions/plans.ts";
import { usageFacts } from "../../../../src/features/usage/activities/facts.ts";
import { implement } from "../../../../src/runtime/index.ts";
import { sampleHeader, samplePlan } from "../../../actors/execution/fixture.ts";
import { Receiver } from "../../../harness/outside/receiver.ts";
import type { TestRuntime } from "../../../harness/runtime/runtime.ts";
import { until } from "../../../harness/until.ts";
import { Harness } from "../../../runtime/harness.ts";

const harness = new Harness();
let receiver = new Receiver();
beforeEach(async () => {
  await receiver.stop();
  receiver = new Receiver();
});
afterAll(() => receiver.stop());

const loopback = [parseHostPattern("127.0.0.1")].filter((pattern) => pattern !== null);
/** What an agent lists that may reach the receiver. */
const listing = () => ({ mode: "deny" as const, allowlist: [`127.0.0.1:${receiver.port}`], denylist: [] });
const outside: GuardedOptions = { resolve: async () => [], allowPrivate: loopback };
const firstDelayMs = 40;

/** An agent that prints `raw`, without a sandbox. */
const printing = implement(
  iterationRunAt(0),
  { concurrency: 8, retry: { attempts: 1, firstDelayMs: 1 } },
  async ({ instance_id }, context) => {
    const runtime = { isolation: "process", image: null, sandbox: "none", egress_enforced: false };
    await context.of(executionProtocol).ask("picked_up", { instance_id, runtime, warnings: [] });
    return { reason: "exited" as const, exit_code: 0, stdout: "raw\n", stdout_truncated: false, stderr: "" };
  },
);

interface Opened {
  readonly runtime: TestRuntime;
  leave(): Promise<void>;
  readonly failures: Record<string, unknown>[];
  /** Everything the runtime and the activities logged. */
  readonly lines: string[];
  start(plan: Partial<Plan>, timeoutMs?: number): Promise<Running>;
}
interface Running {
  readonly id: string;
  state(): Promise<ExecutionState | null>;
  ended(): Promise<ReturnType<typeof executionRecord>>;
  events(): Promise<string[]>;
}

async function open(given: { outside?: GuardedOptions } = {}): Promise<Opened> {
  let started: TestRuntime | null = null;
  const logs: Pick<TestRuntime, "of"> = { of: (definition) => (started as TestRuntime).of(definition) };
  const plans = createPlans(logs);
  const failures: Record<string, unknown>[] = [];
  const lines: string[] = [];
  const note = (event: string, facts: Readonly<Record<string, unknown>>) => {
    lines.push(JSON.stringify([event, facts]));
    if (event === "delivery_failed") failures.push({ ...facts });
  };
  const incidents = { report() {} };
  const options = { runtime: logs, plans, outside: given.outside ?? outside, incidents, firstDelayMs, log: note };
  const node = await harness.node({
    actors: [execution],
    facts: [usageFacts],
    activities: [printing, outputHandleActivity(options), outputRecallActivity(logs), deliverySendActivity(options)],
    log: note,
  });
  const { runtime } = node;
  started = runtime;
  return {
    runtime,
    leave: () => harness.stop(node),
    failures,
    lines,
    async start(plan, timeoutMs = 60_000) {
      const id = Bun.randomUUIDv7();
      const at = { kind: "execution", key: id, tenant: "acme" };
      const whole = samplePlan({ network: listing(), ...plan });
      await runtime.ask(at, "start", { header: sampleHeader({ timeout_ms: timeoutMs }), plan: whole }, { fresh: true });
      const state = async () => ((await runtime.read(at))?.state ?? null) as unknown as ExecutionState | null;
      const events = async () => (await runtime.log(at, "events", 0, 1000)).map(({ entry }) => entry);
      return {
        id,
        state,
        events: async () => (await events()).map((entry) => Object.keys(entry as object)[0] ?? ""),
        ended: () =>
          until(
            async () => {
              const now = await state();
              if (now === null || now.ending === null) return null;
              return executionRecord({ execution_id: id, tenant_id: "acme" }, now, whole, await events(), false);
            },
            { timeoutMs: 20_000, what: "the end" },
          ),
      };
    },
  };
}

const hook = (path: string, change: Partial<Extract<OutputHandler, { type: "webhook" }>> = {}): OutputHandler => ({
  type: "webhook",
  url: receiver.url(path),
  method: "POST",
  headers: {},
  body_template: null,
  timeout_ms: 5000,
  max_attempts: 3,
  required: false,
  ...change,
});
const to = (path: string, change: Partial<Delivery> = {}): Delivery => ({
  name: path.slice(1),
  condition: "always",
  url: receiver.url(path),
  method: "POST",
  headers: {},
  secret: null,
  ...change,
});
const status = (code: number) => () => new Response("no", { status: code });

describe("webhook", () => {
  test("is sent the output and gives the output", async () => {
    receiver.replies.set("/tidy", ({ body }) => new Response(`<${body}>`));
    const { start } = await open();
    const run = await start({ output_handler: hook("/tidy", { headers: { "X-Team": "north" } }) });
    expect(await run.ended()).toMatchObject({ status: "completed", output: "<raw>", raw_output: "raw", warnings: [] });
    const [one, ...more] = receiver.received;
    expect(more).toEqual([]);
    expect(one).toMatchObject({ method: "POST", body: "raw" });
    expect(one?.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(one?.headers.get("x-team")).toBe("north");
    expect(one?.headers.get("idempotency-key")).toBe(`handle:${run.id}`);
  });

  test("method and body_template", async () => {
    receiver.replies.set("/tidy", () => new Response("ok"));
    const { start } = await open();
    const body_template = '{"text":{{json output}},"day":"{{input.day}}","n":{{iteration_number}} }';
    const run = await start({ output_handler: hook("/tidy", { method: "PUT", body_template }) });
    expect((await run.ended()).output).toBe("ok");
    expect(receiver.received[0]).toMatchObject({ method: "PUT", body: '{"text":"raw","day":"2031-05-02","n":1 }' });
    expect(receiver.received[0]?.headers.get("content-type")).toBe("application/json");
  });

  test("an empty answer leaves the output as it was", async () => {
    const { start } = await open();
    const run = await start({ output_handler: hook("/nothing") });
    expect(await run.ended()).toMatchObject({ status: "completed", output: "raw", warnings: [] });
  });

  test("fails twice, then succeeds: the same key each time, pauses double", async () => {
    receiver.replies.set("/tidy", (_, earlier) => (earlier < 2 ? status(503)() : new Response("third")));
    const { start } = await open();
    const run = await start({ output_handler: hook("/tidy") });
    expect(await run.ended()).toMatchObject({ status: "completed", output: "third", warnings: [] });
    const [a, b, c] = receiver.received;
    expect(receiver.received.length).toBe(3);
    expect(new Set(receiver.received.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
    expect((b?.at ?? 0) - (a?.at ?? 0)).toBeGreaterThanOrEqual(firstDelayMs);
    expect((c?.at ?? 0) - (b?.at ?? 0)).toBeGreaterThanOrEqual(2 * firstDelayMs);
  });

  test.each<[string, number, Partial<Extract<OutputHandler, { type: "webhook" }>>, number]>([
    ["max_attempts 1", 500, { max_attempts: 1 }, 1],
    ["max_attempts 2", 500, { max_attempts: 2 }, 2],
    ["429 is tried again", 429, {}, 3],
    ["404 is not", 404, {}, 1],
  ])("%s", async (_, code, change, attempts) => {
    receiver.replies.set("/x", status(code));
    const { start } = await open();
    const run = await start({ output_handler: hook("/x", change) });
    const record = await run.ended();
    expect(record).toMatchObject({ status: "completed", output: "raw", raw_output: "raw" });
    expect(record.warnings).toEqual([
      { code: "output_handler_failed", message: `The webhook answered with status ${code}` },
    ]);
    expect(receiver.received.length).toBe(attempts);
  });

  test("required and slow: the execution fails, timeout_seconds each attempt", async () => {
    receiver.replies.set("/slow", () => new Promise<Response>(() => {}));
    const { start } = await open();
    const run = await start({ output_handler: hook("/slow", { timeout_ms: 60, max_attempts: 2, required: true }) });
    expect(await run.ended()).toMatchObject({
      status: "failed",
      error_code: "output_handler_failed",
      error: "No answer within 60 ms",
      output: null,
      raw_output: "raw",
    });
    expect(receiver.received.length).toBe(2);
  });

  test.each(["http://127.0.0.1:1/x", "http://169.254.169.254/latest", "http://[::1]:9/x", "http://10.0.0.1/"])(
    "private addresses are refused, and asked once: %s",
    async (url) => {
      const { start, lines } = await open({ outside: { ...outside, allowPrivate: [] } });
      const network = {
        mode: "allow" as const,
        allowlist: ["127.0.0.1:1", "169.254.169.254", "10.0.0.1"],
        denylist: [],
      };
      const run = await start({ network, output_handler: hook("/", { url, required: true }) });
      expect(await run.ended()).toMatchObject({ status: "failed", error_code: "output_handler_failed" });
      expect((await run.ended()).error).toContain("is refused");
      expect(lines.filter((line) => line.includes("activity_failed"))).toEqual([]);
    },
  );

  test("a redirect to a private address is refused as well", async () => {
    receiver.replies.set("/away", () => Response.redirect("http://169.254.169.254/latest", 307));
    const { start } = await open();
    const run = await start({ output_handler: hook("/away", { required: true }) });
    expect((await run.ended()).error).toContain("169.254.169.254:80 is refused");
  });

  test("too long an answer is cut, one that is no text fails", async () => {
    receiver.replies.set("/long", () => new Response(`x${"é".repeat(600_000)}`));
    receiver.replies.set("/bytes", () => new Response(new Uint8Array([255, 254, 0, 1])));
    const { start } = await open();
    const long = await (await start({ output_handler: hook("/long") })).ended();
    expect(long.output).toBe(`x${"é".repeat(524_287)}`);
    expect(long.warnings).toMatchObject([{ code: "output_truncated" }]);
    const bytes = await (await start({ output_handler: hook("/bytes") })).ended();
    expect(bytes.warnings).toMatchObject([{ message: "The webhook's answer is not UTF-8 text" }]);
  });

  test("the deadline of the execution ends it, and so does a cancellation", async () => {
    receiver.replies.set("/slow", () => new Promise<Response>(() => {}));
    const { start, runtime } = await open();
    const late = await start({ output_handler: hook("/slow", { timeout_ms: 60_000 }) }, 700);
    expect(await late.ended()).toMatchObject({ status: "timed_out", output: null });
    const run = await start({ output_handler: hook("/slow", { timeout_ms: 60_000 }) });
    await until(() => receiver.received.length === 2);
    await runtime.ask({ kind: "execution", key: run.id, tenant: "acme" }, "cancel", { reason: "enough" });
    expect((await run.ended()).status).toBe("cancelled");
    await until(() => runtime.counts().activitiesRunning === 0);
  });

  test("another node goes on with it, under the same key", async () => {
    receiver.replies.set("/slow", (_, earlier) =>
      earlier === 0 ? new Promise<Response>(() => {}) : new Response("second"),
    );
    const { start, leave } = await open();
    const run = await start({ output_handler: hook("/slow", { timeout_ms: 30_000 }) });
    await until(() => receiver.received.length === 1);
    const other = await open();
    await leave();
    await until(() => receiver.received.length === 2, { timeoutMs: 20_000, what: "the second attempt" });
    const at = { kind: "execution", key: run.id, tenant: "acme" };
    const state = await until(async () => {
      const found = (await other.runtime.read(at))?.state as unknown as ExecutionState;
      return found.ending === null ? null : found;
    });
    expect(state).toMatchObject({ status: "completed", ending: { summary: "second" } });
    expect(new Set(receiver.received.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
  });
});

describe("delivery", () => {
  test("body, headers and signature; the condition decides", async () => {
    const { start } = await open();
    const run = await start({
      deliveries: [
        to("/signed", { secret: "s3cret", headers: { "X-Team": "north" } }),
        to("/plain", { method: "PUT", condition: "on_success" }),
        to("/never", { condition: "on_failure" }),
      ],
    });
    const record = await run.ended();
    const [signed] = await until(() => receiver.received.length === 2 && receiver.at("/signed"));
    const body = JSON.parse(signed?.body ?? "");
    expect(body).toEqual({
      execution_id: run.id,
      agent_id: record.agent_id,
      agent_name: "parcel-triage",
      status: "completed",
      output: "raw",
      error: null,
      ended_at: record.ended_at,
    });
    const expected = createHmac("sha256", "s3cret")
      .update(signed?.body ?? "")
      .digest("hex");
    expect(signed?.headers.get("x-svc-signature")).toBe(`sha256=${expected}`);
    expect(signed?.headers.get("content-type")).toBe("application/json");
    expect(signed?.headers.get("x-team")).toBe("north");
    expect(signed?.headers.get("idempotency-key")).toBe(`deliver:${run.id}:0`);
    const [plain] = receiver.at("/plain");
    expect(plain?.method).toBe("PUT");
    expect(plain?.headers.has("x-svc-signature")).toBe(false);
    expect(receiver.at("/never")).toEqual([]);
  });

  test("what the handler made of the output is delivered", async () => {
    receiver.replies.set("/tidy", () => new Response("tidy"));
    const { start } = await open();
    await (await start({ output_handler: hook("/tidy"), deliveries: [to("/sink")] })).ended();
    const [one] = await until(() => receiver.at("/sink").length > 0 && receiver.at("/sink"));
    expect(JSON.parse(one?.body ?? "").output).toBe("tidy");
  });

  test("five attempts, each pause doubled; then it is given up, the execution unchanged", async () => {
    receiver.replies.set("/down", status(500));
    const { start, failures, lines } = await open();
    const secret = "s3cret";
    const hidden = { secret, url: `${receiver.url("/down")}?key=hidden`, headers: { Authorization: "hidden" } };
    const run = await start({ deliveries: [to("/down", hidden)] });
    const before = await run.ended();
    await until(() => failures.length > 0, { timeoutMs: 20_000, what: "the end of the attempts" });
    const times = receiver.received.map(({ at }) => at);
    expect(times.length).toBe(5);
    times.slice(1).forEach((at, index) => {
      expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(firstDelayMs * 2 ** index);
    });
    expect(failures).toMatchObject([
      { execution_id: run.id, delivery: 0, message: "The webhook answered with status 500" },
    ]);
    expect(await run.ended()).toEqual(before);
    expect(lines.join("\n")).not.toMatch(/hidden|s3cret/);
  });

  test("it goes on after its execution ended, and ends when that is erased", async () => {
    receiver.replies.set("/down", status(500));
    const { start, runtime } = await open();
    const run = await start({ deliveries: [to("/down")] });
    await run.ended();
    await until(() => receiver.received.length >= 2);
    await runtime.ask({ kind: "execution", key: run.id, tenant: "acme" }, "erase", {});
    await until(() => runtime.counts().activitiesRunning === 0 && runtime.counts().activitiesWaiting === 0);
    expect(receiver.received.length).toBeLessThan(5);
  });
});
