/** How long the gateway waits for an execution that does not answer. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { PendingCall } from "../../../actors/execution/state.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { gatewayRoute } from "../../../src/features/gateway/routes.ts";
import { AskTimeout } from "../../../src/runtime/port.ts";
import { fakeRuntime } from "../../harness/runtime/fake-runtime.ts";
import { until } from "../../harness/until.ts";
import { type OpenApp, openApp } from "../../http/open-app.ts";

let app: OpenApp;
let deadlineMs = 0;
/** What ends the wait. */
let given: AbortSignal | undefined;
let isSilent = false;
/** What the execution answers; null: nothing in time. */
let answer: object | null = null;
/** What the places say of each try; then they are taken. */
const refusals: string[] = [];
const told: [type: string, body: Json][] = [];

beforeAll(() => {
  const runtime = fakeRuntime({
    tell: async (_to, type, body) => void told.push([type, body]),
    ask: (_to, _type, _body, options) => {
      deadlineMs = options.deadlineMs ?? 0;
      given = options.signal;
      if (answer !== null) return Promise.resolve(answer);
      return isSilent ? new Promise(() => {}) : Promise.reject(new AskTimeout("No answer"));
    },
  });
  const route = gatewayRoute({
    runtime,
    tokens: { verify: () => Promise.reject(new Error("no token is asked for")) },
    servesModel: () => true,
    maxBodyBytes: 100_000,
    tokenRequired: false,
    now: Date.now,
    maskerOf: async () => null,
    tenantOf: async () => "acme",
    places: {
      take: async () => refusals.shift() ?? null,
      giveBack: async () => {},
      awaited: async () => ({}) as PendingCall,
      held: () => 0,
      start: () => async () => {},
    },
  });
  app = openApp({ routes: [route] });
});
afterAll(() => app.stop());

function generate(signal?: AbortSignal): Promise<Response> {
  const execution_id = Bun.randomUUIDv7();
  return fetch(`${app.url}/v1/dispatch-gateway`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ type: "generate", execution_id, iteration_number: 1, model_alias: "fast", prompt: "x" }),
    ...(signal === undefined ? {} : { signal }),
  });
}

test("an answer that takes long is asked for again without end, after minutes", async () => {
  const response = await generate();
  expect(response.status).toBe(503);
  expect(response.headers.get("Retry-After")).toBe("1");
  expect(deadlineMs).toBeLessThanOrEqual(600_000);
});

test("a bootstrap that left waits no more", async () => {
  isSilent = true;
  given = undefined;
  const leaving = new AbortController();
  const asked = generate(leaving.signal).catch(() => null);
  await until(() => given !== undefined && !given.aborted, { what: "the question" });
  leaving.abort();
  await asked;
  await until(() => given?.aborted === true, { what: "the wait to end" });
});

test("an execution is told of an approved command that waited for its places", async () => {
  const dispatch_id = Bun.randomUUIDv7();
  const rest = { action: "exec", command: "true", args: [], cwd: "/workspace", env_additions: {} };
  const reply = { type: "dispatch", dispatch_id, ...rest, timeout_secs: 60, max_output_bytes: 1, iteration_number: 1 };
  answer = { status: "reply", reply, places: { of: [], waits: true } };
  expect((await generate()).status).toBe(200);
  expect(told).toEqual([]);
  refusals.push("cmd.run runs 1 times already");
  expect(await (await generate()).json()).toMatchObject({ dispatch_id });
  expect(told).toEqual([["dispatch_delayed", { instance_id: null, dispatch_id }]]);
});
