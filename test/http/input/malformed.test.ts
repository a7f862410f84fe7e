/** Requests that no client library sends: every one has an answer or a closed connection, none a 5xx. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import fc from "fast-check";
import { readPath } from "../../../src/features/volumes/paths.ts";
import { createMetrics, serveMetrics } from "../../../src/http/operations/metrics.ts";
import { definePublicRoute, type Route } from "../../../src/http/route.ts";
import { type OpenApp, openApp } from "../open-app.ts";
import { parseAnswer, rawRequest } from "../raw.ts";

const routes: Route[] = [
  definePublicRoute({
    method: "GET",
    path: "/things/:id",
    summary: "A thing",
    params: Type.Object({ id: Type.String() }),
    query: Type.Object({ limit: Type.Optional(Type.Integer()) }),
    responses: { 200: Type.Unknown() },
    handler: ({ params, url }) => ({ ...params, path: url.pathname }),
  }),
  definePublicRoute({
    method: "GET",
    path: "/boxes/:id/files/*",
    summary: "A file",
    params: Type.Object({ id: Type.String(), "*": Type.String() }),
    responses: { 200: Type.Unknown() },
    refusals: ["invalid_path"],
    handler: ({ params }) => ({ path: readPath(params["*"]) }),
  }),
];

let app: OpenApp;
/** As a node in development listens. */
let development: OpenApp;
beforeAll(() => {
  app = openApp({ routes, idleTimeoutSeconds: 1 });
  const origins = ["https://console.example"];
  development = openApp({ routes, served: { publicHost: "svc.example", origins }, corsOrigins: origins });
});
afterAll(() => Promise.all([app.stop(), development.stop()]));

/** Bytes of latin1 text on a connection that the client keeps open. */
const send = async (head: string, to: OpenApp = app) => {
  const answer = await rawRequest(to.port, [head]);
  return { ...parseAnswer(answer || "HTTP/1.1 0 nothing\r\n\r\n"), text: answer };
};
const get = (target: string, host = "x", more = "") => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
/** A refusal as every one of ours is: JSON, a code, the id of the request. */
const refusal = (status: number, code: string) => ({
  status,
  body: { code, error: expect.any(String), request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
});

const hosts = [
  "",
  " ",
  "[",
  "[]",
  "a b",
  "a\tb",
  "x:99999",
  "x:abc",
  "a/b",
  "/",
  "?",
  "#",
  "a@b",
  "é",
  "%",
  "%41",
  "a\\b",
];
const moreHosts = ["x, y", "<>", ".", "..", "1.2.3.4.5", "256.256.256.256", "http://x/", "xn--a", "*", "a".repeat(300)];

describe("a malformed Host is refused with 400 and no stack", () => {
  test.each([...hosts, ...moreHosts])("%j", async (host) => {
    expect(await send(get("/things/1?limit=1", host))).toMatchObject(refusal(400, "invalid_host"));
  });

  test("two of them as well, and on a path that no route has", async () => {
    expect(await send(get("/things/1", "x", "Host: y\r\n"))).toMatchObject(refusal(400, "invalid_host"));
    expect(await send(get("/nowhere", "["))).toMatchObject(refusal(400, "invalid_host"));
    expect(app.log.filter((line) => /"level":"(error|warn)"|stack/.test(line))).toEqual([]);
  });

  test("the metrics' listener answers 400 too", async () => {
    const metrics = serveMetrics(createMetrics({ id: "n", version: "0" }), "127.0.0.1", 0);
    expect(await rawRequest(metrics.port, [get("/metrics", "[")])).toStartWith("HTTP/1.1 400");
    await metrics.stop();
  });

  test("any text as a Host gets an answer below 500", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary-ascii", maxLength: 40 }), async (host) => {
        const { text } = await send(get("/things/1", host, "Connection: close\r\n"));
        expect(text).toMatch(/^(?:HTTP\/1\.1 [234]\d\d |$)/);
      }),
      { numRuns: 200 },
    );
  });
});

describe("a node in development answers to loopback names and its public URL", () => {
  const port = () => development.port;
  test.each([
    ["localhost", 200],
    ["LOCALHOST:8080", 200],
    ["localhost.", 200],
    ["app.localhost", 200],
    ["127.0.0.1", 200],
    ["127.9.8.7:1", 200],
    ["[::1]:8080", 200],
    ["svc.example", 200],
    ["SVC.example:443", 200],
    ["rebound.attacker.example", 421],
    ["localhost.attacker.example", 421],
    ["127.0.0.1.attacker.example", 421],
    ["attackerlocalhost", 421],
    ["192.168.1.20:8080", 421],
    ["0.0.0.0", 421],
    ["a.svc.example", 421],
  ])("Host %s: %i", async (host, status) => {
    const answer = parseAnswer(await rawRequest(port(), [get("/things/1", host)]));
    expect(answer.status).toBe(status);
    if (status === 421) expect(answer).toMatchObject(refusal(421, "misdirected_request"));
  });

  test.each([
    ["http://localhost:3000", 200],
    ["http://127.0.0.1:5173", 200],
    ["https://svc.example", 200],
    ["https://console.example", 200],
    ["https://attacker.example", 403],
    ["http://localhost.attacker.example", 403],
    ["null", 403],
    ["garbage", 403],
  ])("Origin %s: %i", async (origin, status) => {
    const answer = await send(get("/things/1", "localhost", `Origin: ${origin}\r\n`), development);
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer).toMatchObject(refusal(403, "origin_forbidden"));
  });
});

describe("heads that are too large have an answer with a code", () => {
  test.each([
    ["a URL of 40 KB", get(`/things/${"a".repeat(40_000)}`), 414, "uri_too_long"],
    ["a header of 70 KB", get("/things/1", "x", `A: ${"b".repeat(70_000)}\r\n`), 431, "headers_too_large"],
    [
      "a hundred headers of 1 KB",
      get("/things/1", "x", Array.from({ length: 100 }, (_, n) => `A${n}: ${"b".repeat(1000)}\r\n`).join("")),
      431,
      "headers_too_large",
    ],
  ] as const)("%s", async (_, head, status, code) => {
    expect(await send(head)).toMatchObject(refusal(status, code));
  });

  test("a head within the bounds passes", async () => {
    const { status } = await send(get(`/things/${"a".repeat(30_000)}`, "x", `A: ${"b".repeat(30_000)}\r\n`));
    expect(status).toBe(200);
  });
});

describe("a target that is no path of a URL", () => {
  test.each([
    ["/things/1#part", 400, "malformed_request"],
    ["/things/%", 400, "invalid_id"],
    ["/things/%ff", 400, "invalid_id"],
    ["/things/%00", 400, "invalid_id"],
    ["/boxes/1/files/%", 400, "invalid_id"],
    ["/things/1?limit=%ff", 422, "validation_failed"],
    ["/%", 404, "not_found"],
    ["//attacker.example/things/1", 404, "not_found"],
  ])("%s: %i %s", async (target, status, code) => {
    expect(await send(get(target))).toMatchObject(refusal(status, code));
  });

  test.each(["things", "attacker.example:443", "%2fthings%2f1", "*", "a/b", "[", "http:[", "javascript:1"])(
    "CONNECT %s",
    async (target) => {
      const head = `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;
      expect(await send(head)).toMatchObject(refusal(400, "malformed_request"));
      expect(app.log.filter((line) => /"level":"error"|stack/.test(line))).toEqual([]);
    },
  );
});

describe("a path of files that climbs is 422, however it is written", () => {
  const climbing = [
    "a/../b",
    "../1",
    "..",
    "a/..",
    "a/../",
    "%2e%2e/b",
    ".%2E/b",
    "a%2f..%2fb",
    "a\\..\\b",
    "a%5c..%5cb",
  ];
  test.each([...climbing, "../../../things/1", `${"a/".repeat(60)}../b`])("%s", async (path) => {
    expect(await send(get(`/boxes/1/files/${path}`))).toMatchObject(refusal(422, "invalid_path"));
  });

  test.each([
    ["a/b", "/a/b"],
    ["a%2Fb", "/a/b"],
    ["./a/.", "/a/"],
    ["..a/b..", "/..a/b.."],
    ["%252e%252e/b", "/%2e%2e/b"],
    ["a%5Cb", "/a\\b"],
  ])("%s is a path", async (path, read) => {
    const { status, body } = await send(get(`/boxes/1/files/${path}`));
    expect([status, body.path]).toEqual([200, read.replace(/(.)\/$/, "$1")]);
  });
});

/** What Bun answers before a request exists: docs/reference/identity.md, "Below the pipeline". */
const below: readonly (readonly [string, string, number])[] = [
  ["no Host", "GET /things/1 HTTP/1.1\r\n\r\n", 400],
  ["a NUL in Host", get("/things/1", "x\0"), 400],
  ["two spaces", "GET  /things/1 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["no path", "GET things HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["an asterisk", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["no version", "GET /things/1\r\nHost: x\r\n\r\n", 505],
  ["HTTP/2 by name", "GET /things/1 HTTP/2.0\r\nHost: x\r\n\r\n", 505],
  ["a space in the path", get("/things/a b"), 505],
  ["a control character in the path", get("/things/\x01"), 505],
  ["a TLS greeting", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
  ["words", "GARBAGE\r\n\r\n", 400],
  ["empty lines", "\r\n\r\n", 400],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  ["a header without a colon", get("/things/1", "x", "Foo\r\n"), 400],
  ["a space in a header's name", get("/things/1", "x", "Fo o: x\r\n"), 400],
  ["a folded header", get("/things/1", "x", "A: b\r\n c\r\n"), 400],
  ["a control character in a header", get("/things/1", "x", "A: \x01\r\n"), 400],
  ["two lengths", get("/things/1", "x", "Content-Length: 1\r\nContent-Length: 2\r\n"), 400],
  ["a negative length", get("/things/1", "x", "Content-Length: -1\r\n"), 400],
  ["a length of words", get("/things/1", "x", "Content-Length: x\r\n"), 400],
  ["a length beyond numbers", get("/things/1", "x", `Content-Length: ${"9".repeat(30)}\r\n`), 400],
  ["a length of 2 TiB", `POST /things/1 HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 ** 41}\r\n\r\n`, 413],
  ["an unknown transfer coding", get("/things/1", "x", "Transfer-Encoding: gzip\r\n"), 400],
  ["chunks and a length", get("/things/1", "x", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), 400],
  ["a header of 200 KB", get("/things/1", "x", `A: ${"b".repeat(200_000)}\r\n`), 431],
  ["300 headers", get("/things/1", "x", Array.from({ length: 300 }, (_, n) => `A${n}: b\r\n`).join("")), 431],
  ["a method that HTTP does not know", "FOO /things/1 HTTP/1.1\r\nHost: x\r\n\r\n", 0],
  ["a method in lower case", "get /things/1 HTTP/1.1\r\nHost: x\r\n\r\n", 0],
  ["half a head", "GET /things/1 HTTP/1.1\r\nHos", 0],
];

describe("what Bun refuses itself is answered without a body, or the connection is closed", () => {
  test.each(below)("%s", async (_, bytes, status) => {
    const { text, ...answer } = await send(bytes);
    expect([answer.status, answer.body]).toEqual([status, {}]);
    if (status === 0) expect(text).toBe("");
  });

  test("no bytes get a 5xx of ours or hold a connection, and the next request is served", async () => {
    const piece = fc.constantFrom(
      "GET ",
      "/things/1",
      " HTTP/1.1",
      "\r\n",
      "Host: x",
      ":",
      "\0",
      "é",
      "%",
      "..",
      "\r",
      "\n",
      " ",
    );
    const anything = fc.array(fc.oneof(piece, fc.string({ unit: "binary-ascii", maxLength: 10 })), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(anything, async (pieces) => {
        const { status } = await send(`${pieces.join("")}\r\n\r\n`);
        expect(status === 505 || status < 500).toBe(true);
      }),
      { numRuns: 60 },
    );
    expect((await send(get("/things/1"))).status).toBe(200);
  }, 120_000);
});
