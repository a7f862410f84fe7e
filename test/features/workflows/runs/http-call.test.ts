/** The activity `workflow.http` against a real server (docs/reference/workflow-calls.md). */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { parseHostPattern } from "../../../../actors/policy/network/pattern.ts";
import type { HttpAnswer, HttpCall } from "../../../../actors/workflow/run/activities/http-call.ts";
import type { Incident } from "../../../../src/features/incidents/service.ts";
import type { ResolvedReference } from "../../../../src/features/references/port.ts";
import { httpCallActivity } from "../../../../src/features/workflows/runs/calls/http-call.ts";
import { Secret } from "../../../../src/lib/secret.ts";
import type { ActivityContext } from "../../../../src/runtime/port.ts";
import { Receiver } from "../../../harness/outside/receiver.ts";

const receiver = new Receiver();
afterAll(() => receiver.stop());

const numbered = { type: "object", properties: { n: { type: "integer" } } };
const token = "s3cret-token-of-the-api";
const blocked: Incident[] = [];
const taken: string[] = [];
const loopback = [parseHostPattern("127.0.0.1")].filter((pattern) => pattern !== null);
const activity = httpCallActivity({
  outside: { resolve: async (name) => (name === "inside.example" ? ["10.0.0.7"] : []), allowPrivate: loopback },
  incidents: { report: (incident) => blocked.push(incident) },
  references: {
    async take(_, placed) {
      taken.push(...placed.map(({ reference }) => reference.text));
      const value = new Secret(token);
      return new Map(
        placed.map(({ reference }) => [reference.text, { value, hidden: [value], changedAt: 0 } as ResolvedReference]),
      );
    },
  },
  headerOf: async () => ({ initiated_by: { kind: "operator", sub: "ida", email: null } }),
  now: Date.now,
});
beforeEach(() => {
  blocked.length = 0;
  taken.length = 0;
});

async function call(path: string, change: Partial<HttpCall> = {}): Promise<HttpAnswer> {
  const input: HttpCall = {
    url: receiver.url(path),
    listed: [`127.0.0.1:${receiver.port}`],
    method: "POST",
    headers: {},
    secrets: [],
    body: '{"a":1}',
    workflow_name: "w",
    run_id: "0190f3c4-0000-7000-8000-000000000001",
    idempotency_key: "r:S:1",
    timeout_ms: 5000,
    expect: { status: [], schema: null },
    ...change,
  };
  const actor = { kind: "workflow_run", key: "r", tenant: "t" };
  const context = { id: "http:r:1:1", actor, attempt: 1, resumed: false, signal: new AbortController().signal };
  return (await activity.run(input, context as unknown as ActivityContext)) as unknown as HttpAnswer;
}

test("sends what was rendered, under the key, and gives JSON back as a value", async () => {
  receiver.replies.set("/take", () => Response.json({ ok: [1] }, { status: 201, headers: { "X-Id": "7" } }));
  const answer = await call("/take", { headers: { "X-Run": "1" } });
  expect(answer).toMatchObject({ http_status: 201, body: { ok: [1] }, error: null, headers: { "x-id": "7" } });
  const [sent] = receiver.at("/take");
  expect(sent).toMatchObject({ method: "POST", body: '{"a":1}' });
  const named = ["x-run", "content-type", "idempotency-key"].map((name) => sent?.headers.get(name));
  expect(named).toEqual(["1", "application/json", "r:S:1"]);
});

test.each<[string, () => Response, Partial<HttpCall>, Partial<HttpAnswer>]>([
  ["text stays text", () => new Response("3"), {}, { body: "3", error: null }],
  ["JSON that is none stays text", () => new Response("{", json()), {}, { body: "{", error: null }],
  ["NUL is left out", () => new Response("a\0b"), {}, { body: "ab" }],
  ["bytes are base64", () => new Response(new Uint8Array([255, 254])), {}, { body: "//4=" }],
  ["another status", () => new Response("no", { status: 500 }), {}, { http_status: 500, error: "unexpected_response" }],
  ["a status that is expected", () => new Response("", { status: 404 }), expecting({ status: [404] }), { error: null }],
  ["a met schema", () => Response.json({ n: 1 }), expecting({ schema: numbered }), { error: null }],
  [
    "an unmet schema",
    () => Response.json({ n: "1" }),
    expecting({ schema: numbered }),
    { error: "unexpected_response" },
  ],
  [
    "too much of an answer",
    () => new Response("x".repeat(1_048_577)),
    {},
    { http_status: 200, body: null, error: "response_too_large" },
  ],
])("%s", async (_, reply, change, wanted) => {
  receiver.replies.set("/table", reply);
  expect(await call("/table", change)).toMatchObject(wanted);
});

test("a redirect is not followed", async () => {
  receiver.replies.set("/from", () => new Response(null, { status: 302, headers: { Location: "/to" } }));
  expect(await call("/from")).toMatchObject({ http_status: 302, error: "unexpected_response" });
  expect(receiver.at("/to")).toEqual([]);
});

test.each([
  ["an address that the manifest does not write", receiver.url("/private"), { listed: [] }],
  ["a name that means one", "http://inside.example/", {}],
  ["one that the node does not allow", "http://10.0.0.7/", { listed: ["10.0.0.7:80"] }],
])("%s is refused before anything dials", async (_, url, change) => {
  expect(await call("", { url, ...change })).toMatchObject({ http_status: null, error: "address_blocked" });
  expect(receiver.at("/private")).toEqual([]);
  expect(blocked).toMatchObject([{ category: "ssrf_blocked", tenant: "t" }]);
});

test("a secret is sent, and stands in nothing that comes back", async () => {
  receiver.replies.set("/echo", ({ headers }) => {
    const sent = headers.get("authorization") ?? "";
    return Response.json({ saw: sent, [sent]: 1 }, { headers: { "X-Saw": sent, [`X-${sent}`]: "1" } });
  });
  const headers = { Authorization: "secret:api/token" };
  const answer = await call("/echo", { headers, secrets: ["Authorization"], expect: { status: [], schema: false } });
  expect(receiver.at("/echo")[0]?.headers.get("authorization")).toBe(token);
  expect(taken).toEqual(["secret:api/token"]);
  expect(answer).toMatchObject({ http_status: 200, error: "unexpected_response" });
  expect(JSON.stringify(answer)).not.toContain(token);
  expect(JSON.stringify(answer)).not.toContain(token.toLowerCase());
  expect(answer.body).toMatchObject({ saw: "*".repeat(token.length) });
});

test("a server that is away is a failure with its code, a slow one a timeout", async () => {
  const gone = "http://127.0.0.1:9/";
  expect(await call("", { url: gone, listed: ["127.0.0.1:9"] })).toMatchObject({ error: "unreachable" });
  const { promise, resolve } = Promise.withResolvers<Response>();
  receiver.replies.set("/slow", () => promise);
  expect(await call("/slow", { timeout_ms: 60 })).toMatchObject({ http_status: null, error: "timeout" });
  resolve(new Response());
});

function json(): ResponseInit {
  return { headers: { "Content-Type": "application/json" } };
}

function expecting(change: Partial<HttpCall["expect"]>): Partial<HttpCall> {
  return { expect: { status: [], schema: null, ...change } };
}
