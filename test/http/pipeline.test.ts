/** What every route shares, seen from outside. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { createMetrics, serveMetrics } from "../../src/http/operations/metrics.ts";
import { definePublicRoute } from "../../src/http/route.ts";
import { until } from "../harness/until.ts";
import { type OpenApp, openApp } from "./open-app.ts";
import { authenticator, id, reached, routes } from "./pipeline-routes.ts";
import { parseAnswer, rawRequest } from "./raw.ts";

const metrics = createMetrics({ id: "n1", version: "0" });
let app: OpenApp;
beforeAll(() => {
  app = openApp({ routes, authenticator, metrics, corsOrigins: ["https://console.example"], bodyDeadlineMs: 300 });
});
afterAll(() => app.stop());

const auth = { authorization: "Bearer good" };
const json = { ...auth, "content-type": "application/json" };
async function ask(method: string, path: string, headers: Record<string, string> = {}, body?: BodyInit) {
  const response = await fetch(app.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text || "null") : null };
}

test("a call arrives checked, converted, with its defaults", async () => {
  const body = JSON.stringify({ name: "n", note: null, maybe: null, nested: [{ deep: null }], unknown: 1 });
  const answer = await ask(
    "POST",
    `/v1/things/${id.toUpperCase()}?limit=20&force=true&label=a&label=b&x=1`,
    json,
    body,
  );
  expect(answer.body).toEqual({
    params: { id },
    query: { limit: 20, force: true, label: ["a", "b"] },
    body: { name: "n", size: 3, maybe: null, nested: [{}], unknown: 1 },
    tenant: "acme",
    user: "u",
    bytes: body.length,
  });
});

test("each step refuses before the next one looks", async () => {
  const before = reached.calls;
  const garbage = "{";
  const steps: [string, string, Record<string, string>, string, number, string][] = [
    ["POST", "/v1/nothing/here", {}, garbage, 404, "not_found"],
    ["PUT", "/v1/things/nonsense", {}, garbage, 405, "method_not_allowed"],
    ["POST", "/v1/things/nonsense?limit=x", { "x-tenant-id": "Bad" }, garbage, 401, "missing_authorization"],
    ["POST", "/v1/things/nonsense?limit=x", { ...auth, "x-tenant-id": "Bad" }, garbage, 400, "invalid_tenant_slug"],
    ["DELETE", "/v1/things/nonsense", auth, garbage, 403, "insufficient_scope"],
    ["POST", "/v1/operators", auth, garbage, 403, "operator_required"],
    ["POST", "/v1/people", auth, garbage, 403, "insufficient_scope"],
    ["POST", "/v1/people", { authorization: "Bearer machine" }, garbage, 403, "user_identity_required"],
    ["POST", "/v1/people", { authorization: "Bearer key" }, garbage, 403, "user_identity_required"],
    ["POST", "/v1/unconfigured", auth, garbage, 501, "not_configured"],
    ["POST", "/v1/things/nonsense?limit=x", auth, garbage, 400, "invalid_agent_id"],
    ["POST", `/v1/things/${id}?limit=x`, auth, garbage, 422, "validation_failed"],
    ["POST", `/v1/things/${id}`, { ...auth, "content-type": "text/csv" }, garbage, 415, "unsupported_media_type"],
    ["POST", `/v1/things/${id}`, json, garbage, 400, "malformed_body"],
    ["POST", `/v1/things/${id}`, json, "{}", 422, "validation_failed"],
  ];
  for (const [method, path, headers, body, status, code] of steps) {
    const answer = await ask(method, path, headers, body);
    expect([method, path, answer.status, answer.body.code]).toEqual([method, path, status, code]);
    expect(answer.body).toMatchObject({ error: expect.any(String), request_id: answer.headers.get("x-request-id") });
  }
  expect(reached.calls).toBe(before);
});

test("what is missing is named", async () => {
  const scope = await ask("DELETE", `/v1/things/${id}`, auth);
  expect(scope.body).toMatchObject({ required: "agent:delete", required_any: "agent:delete agent:deploy" });
  expect(scope.headers.get("www-authenticate")).toBe(
    'Bearer error="insufficient_scope", scope="agent:delete agent:deploy"',
  );
  const method = await ask("PUT", `/v1/things/${id}`);
  expect(method.headers.get("allow")).toBe("POST, GET, HEAD, DELETE");
  const issues = await ask(
    "POST",
    `/v1/things/${id}`,
    json,
    JSON.stringify({ size: "x", mode: "c", nested: [{ deep: "y" }] }),
  );
  expect(issues.body.issues).toEqual([
    { path: "name", message: "is required", code: "invalid" },
    { path: "size", message: "must be an integer", code: "invalid" },
    { path: "mode", message: "must be one of a, b; did you mean a?", code: "invalid" },
    { path: "nested.0.deep", message: "must be a number", code: "invalid" },
  ]);
});

describe("what of a request has no effect is told in X-Svc-Warnings", () => {
  const warningsIn = (headers: Headers) => JSON.parse(headers.get("x-svc-warnings") ?? "[]");
  const post = (query: string, body: unknown) => ask("POST", `/v1/things/${id}${query}`, json, JSON.stringify(body));

  test("unknown members and parameters, with the nearest known name", async () => {
    const answer = await post("?lmit=5&é=1&é=2", { name: "n", nott: "x", nested: [{ deeep: 1 }] });
    expect(answer.status).toBe(200);
    const unknown = (what: string, hint: string) => `This ${what} is not known here and has no effect${hint}`;
    expect(warningsIn(answer.headers)).toEqual([
      { path: "lmit", code: "unknown_parameter", message: unknown("parameter", "; did you mean limit?") },
      { path: "é", code: "unknown_parameter", message: unknown("parameter", "") },
      { path: "nott", code: "unknown_field", message: unknown("field", "; did you mean note?") },
      { path: "nested.0.deeep", code: "unknown_field", message: unknown("field", "; did you mean deep?") },
    ]);
  });

  test("a refusal has them too, and a route without a query", async () => {
    const refused = await post("", { nmae: "n" });
    expect(refused.status).toBe(422);
    expect(warningsIn(refused.headers)).toMatchObject([{ path: "nmae" }]);
    expect(warningsIn((await ask("GET", `/v1/things/${id}?x=1`, auth)).headers)).toMatchObject([{ path: "x" }]);
  });

  test("nothing where all is known; a stream knows its token", async () => {
    expect((await post("?limit=5", { name: "n" })).headers.has("x-svc-warnings")).toBe(false);
    expect((await ask("GET", "/v1/events?token=good")).headers.has("x-svc-warnings")).toBe(false);
  });

  test("the header stays small", async () => {
    const members = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${"☃\r\n".repeat(100)}${n}`, 1]));
    const { headers, status } = await post("", { name: "n", ...members });
    expect(status).toBe(200);
    expect(headers.get("x-svc-warnings")?.length).toBeLessThan(8192);
    expect(warningsIn(headers)).toHaveLength(16);
  });
});

test.each(["1.5", "1e3", "0x1", "501", "-1", "NaN", "%00"])("limit=%s is refused", async (limit) => {
  expect((await ask("POST", `/v1/things/${id}?limit=${limit}`, json, '{"name":"n"}')).status).toBe(422);
});

describe("request ids", () => {
  test.each(["abc-1.2_3", "x".repeat(128)])("%s is echoed", async (given) => {
    for (const path of ["/v1/events", "/nowhere", "/fail/bug"]) {
      expect((await ask("GET", path, { ...auth, "x-request-id": given })).headers.get("x-request-id")).toBe(given);
    }
  });
  test.each(["a b", "x".repeat(129), "é", "a,b"])("%s is replaced", async (given) => {
    const { headers } = await ask("GET", "/nowhere", { "x-request-id": given });
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("bodies", () => {
  const post = (headers: Record<string, string>, body: BodyInit) => ask("POST", `/v1/things/${id}`, headers, body);
  test.each([
    ["not JSON", "nope", 400, "malformed_body"],
    ["cut JSON", '{"name":"n"', 400, "malformed_body"],
    ["not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), 400, "malformed_body"],
    ["nothing", "", 400, "malformed_body"],
    ["a deep nest", `{"name":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, 400, "malformed_body"],
    ["another type", "[]", 422, "validation_failed"],
    ["null", "null", 422, "validation_failed"],
    ["a prototype", '{"__proto__":{"name":"x"}}', 422, "validation_failed"],
    ["over 1 MiB", JSON.stringify({ name: "x".repeat(1024 * 1024) }), 413, "body_too_large"],
  ] as const)("%s: %#", async (_, body, status, code) => {
    const answer = await post(json, body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("brackets inside strings are no depth, and exactly 1 MiB is allowed", async () => {
    expect((await post(json, JSON.stringify({ name: `"${"[{".repeat(10_000)}` }))).status).toBe(200);
    const frame = JSON.stringify({ name: "" }).length;
    expect((await post(json, JSON.stringify({ name: "x".repeat(1024 * 1024 - frame) }))).status).toBe(200);
  });

  test.each(["application/json; charset=utf-8", "APPLICATION/JSON", "application/merge-patch+json"])(
    "%s is JSON",
    async (type) => {
      expect((await post({ ...auth, "content-type": type }, '{"name":"n"}')).status).toBe(200);
    },
  );

  test("an empty optional body is fine under any Content-Type", async () => {
    for (const type of ["application/x-www-form-urlencoded", "text/plain", "application/json"]) {
      const answer = await ask("POST", "/v1/optional", { ...auth, "content-type": type });
      expect([answer.status, answer.body, answer.headers.get("location")]).toEqual([201, {}, "/there"]);
    }
    expect((await ask("POST", "/v1/optional", { ...auth, "content-type": "text/plain" }, "x")).status).toBe(415);
  });

  test("a raw body has its own types and bound", async () => {
    const yaml = { ...auth, "content-type": "application/yaml; charset=utf-8" };
    expect((await ask("POST", "/v1/raw", yaml, "a: ä")).body).toEqual({ text: "a: ä", type: "application/yaml" });
    expect((await ask("POST", "/v1/raw", yaml, "x".repeat(1001))).status).toBe(413);
    expect((await ask("POST", "/v1/raw", { ...auth, "content-type": "image/png" }, "x")).status).toBe(415);
    expect((await ask("POST", "/v1/raw", yaml, new Uint8Array([0xff]))).body.code).toBe("malformed_body");
  });

  const head = (rest: string) =>
    `POST /v1/things/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n${rest}\r\n\r\n`;
  const answerTo = async (...pieces: string[]) => parseAnswer(await rawRequest(app.port, pieces));

  test("without a length the bytes are counted as they come", async () => {
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const { status, body } = await answerTo(
      head("Transfer-Encoding: chunked"),
      ...Array.from({ length: 20 }, () => chunk),
    );
    expect([status, body.code]).toEqual([413, "body_too_large"]);
    const small = await answerTo(head("Transfer-Encoding: chunked"), 'c\r\n{"name":"n"}\r\n0\r\n\r\n');
    expect(small.status).toBe(200);
  });

  test("a huge announced length is refused at once, with our error body", async () => {
    const { status, body } = await answerTo(head("Content-Length: 99999999999"), "{");
    expect([status, body.code]).toEqual([413, "body_too_large"]);
  });

  test.each([
    ["a length that is never reached", "Content-Length: 500", '{"name"'],
    ["chunks that never end", "Transfer-Encoding: chunked", "2\r\n{ \r\n"],
  ])("%s is waited for only so long", async (_, header, start) => {
    const { status, body, headers } = await answerTo(head(header), start);
    expect([status, body.code, headers.get("connection")]).toEqual([400, "malformed_body", "close"]);
  });
});

describe("methods", () => {
  test("HEAD is GET without a body, streams included", async () => {
    const answer = await ask("HEAD", `/v1/things/${id}`, auth);
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect((await ask("HEAD", "/v1/events", auth)).text).toBe("");
    expect((await ask("HEAD", "/v1/raw", auth)).status).toBe(405);
  });
  test.each(["OPTIONS", "TRACE", "PROPFIND"])("%s is not allowed", async (method) => {
    const answer = parseAnswer(await rawRequest(app.port, [`${method} /v1/events HTTP/1.1\r\nHost: x\r\n\r\n`]));
    expect([answer.status, answer.body.code, answer.headers.get("allow")]).toEqual([
      405,
      "method_not_allowed",
      "GET, HEAD",
    ]);
  });
  test.each([
    "/",
    "/v1",
    "/v1/things",
    `/v1/things/${id}/more`,
    "//v1/events",
    "/v1/%2e%2e/events",
    "/%E0%A4%A",
    "/v1/things/",
  ])("%s is nothing", async (path) => {
    const answer = parseAnswer(await rawRequest(app.port, [`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`]));
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
  });
  test.each(["x", "a.very.long.host.example:8080", "[::1]"])("Host %s changes nothing about the path", async (host) => {
    const get = `GET /v1/things/${id} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer good\r\n\r\n`;
    expect(parseAnswer(await rawRequest(app.port, [get])).body).toEqual({ id });
  });
  test("a wildcard takes the rest of the path, decoded", async () => {
    expect((await ask("GET", "/v1/files/a%20b/c/d%20e", auth)).body).toEqual({ id: "a b", "*": "c/d e" });
    expect((await ask("GET", "/v1/files/a/%E0%A4", auth)).status).toBe(400);
  });
});

test.each([
  ["bug", 500, "internal_error", null],
  ["text", 500, "internal_error", null],
  ["mailbox", 503, "mailbox_full", "7"],
  ["timeout", 504, "timed_out", null],
  ["leaving", 503, "service_unavailable", "1"],
  ["database", 503, "service_unavailable", "1"],
  ["refused", 503, "service_unavailable", "1"],
  ["nul", 422, "validation_failed", null],
] as const)("a failure %s answers %i %s", async (how, status, code, wait) => {
  const answer = await ask("GET", `/fail/${how}`, { "x-request-id": `fail-${how}` });
  expect([answer.status, answer.body.code, answer.headers.get("retry-after")]).toEqual([status, code, wait]);
  expect(answer.text).not.toMatch(/secret|home|\.ts/);
  if (status === 500) {
    const line = app.log.find((each) => each.includes(`"fail-${how}"`) && each.includes('"error"'));
    expect(line).toContain(how === "bug" ? "secret detail" : "thrown text");
  }
});

test("a query token opens streams only, is never recorded, and is not cached", async () => {
  const stream = await ask("GET", "/v1/events?token=good&from=3");
  expect(stream.status).toBe(200);
  expect([stream.headers.get("cache-control"), stream.headers.get("referrer-policy")]).toEqual([
    "no-store",
    "no-referrer",
  ]);
  expect((await ask("GET", `/v1/things/${id}?token=good`)).body.code).toBe("missing_authorization");
  expect((await ask("GET", "/v1/events?token=good", { authorization: "Bearer bad" })).status).toBe(401);
  expect((await ask("GET", "/v1/events?token=t0psecret")).headers.get("cache-control")).toBe("no-store");
  const log = await until(() => app.log.join("").includes("from=3") && app.log.join(""));
  expect(log).toContain("/v1/events?token=REDACTED&from=3");
  expect(log).not.toContain("t0psecret");
  expect(log).not.toContain("Bearer");
});

test("a proof of its own comes before the body", async () => {
  expect((await ask("POST", "/proved", {}, "{")).status).toBe(401);
  expect((await ask("POST", "/proved", { "x-proof": "p" }, '{"a":1}')).body).toEqual({ who: "p", a: 1 });
});

test("browsers of configured origins may call", async () => {
  const origin = "https://console.example";
  const preflight = { origin, "access-control-request-method": "POST" };
  const granted = await ask("OPTIONS", "/v1/optional", preflight);
  expect([granted.status, granted.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
  expect(granted.headers.get("access-control-allow-headers")).toContain("Idempotency-Key");
  expect((await ask("GET", "/v1/events", { ...auth, origin })).headers.get("access-control-expose-headers")).toContain(
    "X-Request-Id",
  );
  const foreign = await ask("OPTIONS", "/v1/optional", { ...preflight, origin: "https://evil.example" });
  expect([foreign.status, foreign.headers.get("access-control-allow-origin")]).toEqual([405, null]);
});

test("requests are counted on a listener of their own", async () => {
  const server = serveMetrics(metrics, "127.0.0.1", 0);
  const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  expect(text).toContain('svc_http_requests_total{method="GET",path_template="/v1/events",status_code="200"}');
  expect(text).toContain('path_template="unmatched",status_code="404"');
  expect(text).toContain('svc_http_request_duration_seconds_bucket{le="0.005"');
  expect(text).not.toContain(id);
  expect((await ask("GET", "/metrics")).status).toBe(404);
  await server.stop();
});

test("two routes of one method and path do not start", () => {
  const twice = definePublicRoute({
    method: "GET",
    path: "/x",
    summary: "x",
    responses: { 200: Type.Unknown() },
    handler: () => ({}),
  });
  expect(() => openApp({ routes: [twice, twice] })).toThrow("Two routes answer GET /x");
});
