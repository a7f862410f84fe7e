import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { NetworkSpec } from "../../../actors/agent/manifest/spec.ts";
import { parseHostPattern } from "../../../actors/policy/network/pattern.ts";
import { EgressFailed, EgressRefused } from "../../../src/adapters/egress/destination.ts";
import { type GuardedRequest, guardedFetch } from "../../../src/adapters/egress/guarded-fetch.ts";

const disposers: (() => void)[] = [];
afterEach(() => {
  for (const step of disposers.splice(0).reverse()) step();
});

const folder = join(import.meta.dir, "certificate");
const [cert, key] = ["cert.pem", "key.pem"].map((name) => readFileSync(join(folder, name), "utf8")) as [string, string];

interface Seen {
  readonly method: string;
  readonly host: string | null;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A server, and what it was asked. */
function serve(answer: (seen: Seen) => Response | Promise<Response>, tls = false) {
  const seen: Seen[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...(tls ? { tls: { cert, key } } : {}),
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const one: Seen = {
        method: request.method,
        host: request.headers.get("host"),
        path: pathname + search,
        headers: request.headers,
        body: await request.text(),
      };
      seen.push(one);
      return answer(one);
    },
  });
  disposers.push(() => void server.stop(true));
  return { port: server.port ?? 0, seen };
}

const names: Record<string, string[]> = {
  "api.test": ["127.0.0.1"],
  "other.test": ["127.0.0.1"],
  "inside.test": ["10.0.0.1"],
  "mixed.test": ["127.0.0.1", "192.168.0.1"],
};

/** Lists the loopback address on the port of a URL, as the manifest of a call has to. */
const listing = (url: string): NetworkSpec => ({
  mode: "deny",
  allowlist: [`127.0.0.1:${URL.parse(url)?.port || 80}`],
  denylist: [],
});

function call(url: string, more: Partial<GuardedRequest> = {}, allowPrivate = ["127.0.0.1"], resolve = names) {
  return guardedFetch(
    {
      url,
      method: "GET",
      headers: {},
      timeoutMs: 5_000,
      maxBytes: 1_000_000,
      network: listing(url),
      reach: "public",
      signal: new AbortController().signal,
      ...more,
    },
    {
      resolve: async (name) => resolve[name] ?? [],
      allowPrivate: allowPrivate.map(parseHostPattern).filter((pattern) => pattern !== null),
      trust: [cert],
    },
  );
}
const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "answered",
    (error: unknown) => {
      if (error instanceof EgressRefused) return error.reason;
      return error instanceof EgressFailed ? error.code : String(error);
    },
  );
const text = (body: Uint8Array): string => new TextDecoder().decode(body);

test("a request arrives under its own name, and only what is its own", async () => {
  const { port, seen } = serve(() => new Response("yes", { status: 201, headers: { "X-A": "b" } }));
  const headers = {
    Authorization: "Bearer x",
    Host: "evil.test",
    "Transfer-Encoding": "chunked",
    "Content-Type": "a/b",
  };
  const answer = await call(`http://api.test:${port}/p?q=1`, { method: "POST", headers, body: "hello" });
  expect(answer).toMatchObject({ status: 201, truncated: false, url: `http://api.test:${port}/p?q=1`, redirects: [] });
  expect(text(answer.body)).toBe("yes");
  expect(answer.headers.get("x-a")).toBe("b");
  expect(seen).toMatchObject([{ method: "POST", host: `api.test:${port}`, path: "/p?q=1", body: "hello" }]);
  expect(seen[0]?.headers.get("authorization")).toBe("Bearer x");
});

test("over TLS the certificate must match the name, although an address is dialled", async () => {
  const { port, seen } = serve(() => new Response("secure"), true);
  expect(text((await call(`https://api.test:${port}/`)).body)).toBe("secure");
  expect(seen[0]?.host).toBe(`api.test:${port}`);
  expect(await outcome(call(`https://other.test:${port}/`))).toBe("tls_failed");
  // Also right after a connection that was good for another name.
  expect(await outcome(call(`https://api.test:${port}/`))).toBe("answered");
});

test.each([
  ["http://inside.test/", "private_address"],
  ["http://10.0.0.1/", "private_address"],
  ["http://mixed.test/", "private_address"],
  ["http://169.254.169.254/latest", "metadata_address"],
  ["http://[::ffff:10.0.0.1]/", "private_address"],
  ["http://[::1]/", "loopback_address"],
  ["http://0x0a000001/", "private_address"],
  ["http://167772161/", "private_address"],
  ["http://012.0.0.1/", "private_address"],
  ["http://0/", "unspecified_address"],
  ["http://api.test./", "invalid_host"],
  ["http://nobody.test/", "unresolved"],
  ["ftp://api.test/", "invalid_url"],
  ["file:///etc/passwd", "invalid_url"],
  ["http://user:pw@api.test/", "invalid_url"],
  ["not a url", "invalid_url"],
])("%s: %s", async (url, expected) => {
  expect(await outcome(call(url))).toBe(expected);
});

test("loopback is closed unless the node lists it", async () => {
  const { port, seen } = serve(() => new Response());
  expect(await outcome(call(`http://api.test:${port}/`, {}, []))).toBe("loopback_address");
  expect(await outcome(call(`http://127.0.0.1:${port}/`, {}, []))).toBe("loopback_address");
  expect(seen).toHaveLength(0);
});

test("a policy binds the call", async () => {
  const { port } = serve(() => new Response());
  const allow = (...allowlist: string[]): NetworkSpec => ({ mode: "allow", allowlist, denylist: [] });
  const url = `http://api.test:${port}/`;
  expect(await outcome(call(url, { reach: "listed", network: allow(`api.test:${port}`, `127.0.0.1:${port}`) }))).toBe(
    "answered",
  );
  expect(await outcome(call(url, { reach: "listed", network: allow(`api.test:${port}`) }))).toBe("loopback_address");
  expect(await outcome(call(url, { reach: "listed", network: allow("other.test") }))).toBe("not_allowlisted");
  expect(await outcome(call(url, { reach: "listed", network: { mode: "none", allowlist: [], denylist: [] } }))).toBe(
    "no_network",
  );
});

test("redirects are followed, each checked, and take no credentials to another origin", async () => {
  const { port, seen } = serve(({ path, host }) => {
    if (path === "/start") return Response.redirect("/next", 307);
    if (path === "/next") return Response.redirect(`http://other.test:${port}/end`, 303);
    return new Response(`${path} at ${host}`);
  });
  const headers = { Authorization: "Bearer x", "X-Api-Key": "k", Accept: "text/plain" };
  const answer = await call(`http://api.test:${port}/start`, { method: "POST", headers, body: "b" });
  expect(text(answer.body)).toBe(`/end at other.test:${port}`);
  expect(answer.redirects).toEqual([`http://api.test:${port}/start`, `http://api.test:${port}/next`]);
  expect(seen.map(({ method, body }) => `${method} ${body}`)).toEqual(["POST b", "POST b", "GET "]);
  expect(seen.map(({ headers: got }) => got.get("authorization"))).toEqual(["Bearer x", "Bearer x", null]);
  expect(seen[2]?.headers.get("x-api-key")).toBeNull();
  expect(seen[2]?.headers.get("accept")).toBe("text/plain");
});

test.each([
  ["http://169.254.169.254/", "metadata_address"],
  ["http://inside.test/", "private_address"],
  ["file:///etc/passwd", "invalid_url"],
  ["http://u:p@api.test/", "invalid_url"],
])("a redirect to %s ends the call: %s", async (location, expected) => {
  const { port } = serve(() => new Response(null, { status: 302, headers: { Location: location } }));
  expect(await outcome(call(`http://api.test:${port}/`))).toBe(expected);
});

test("a circle is left after ten turns", async () => {
  const { port, seen } = serve(() => new Response(null, { status: 302, headers: { Location: "/" } }));
  expect(await outcome(call(`http://api.test:${port}/`))).toBe("too_many_redirects");
  expect(seen).toHaveLength(11);
});

test("a name that answers otherwise the next time is connected to where it was checked", async () => {
  const { port, seen } = serve(() => new Response("x"));
  let turn = 0;
  const fickle = { resolve: async () => [["127.0.0.1"], ["10.0.0.1"]][turn++] ?? [] };
  const allowPrivate = [parseHostPattern("127.0.0.1")].filter((pattern) => pattern !== null);
  const request: GuardedRequest = {
    url: `http://api.test:${port}/`,
    method: "GET",
    headers: {},
    timeoutMs: 5_000,
    maxBytes: 10,
    network: listing(`http://api.test:${port}/`),
    reach: "public",
    signal: new AbortController().signal,
  };
  expect((await guardedFetch(request, { ...fickle, allowPrivate })).status).toBe(200);
  expect(turn).toBe(1);
  expect(await outcome(guardedFetch(request, { ...fickle, allowPrivate }))).toBe("private_address");
  expect(seen).toHaveLength(1);
});

test("a body is cut at its bound, a compressed one by what it grows to", async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const { port } = serve(({ path }) =>
    path === "/bomb" ? new Response(bomb, { headers: { "Content-Encoding": "gzip" } }) : new Response("0123456789"),
  );
  const cut = await call(`http://api.test:${port}/`, { maxBytes: 4 });
  expect(cut).toMatchObject({ truncated: true });
  expect(text(cut.body)).toBe("0123");
  expect(await call(`http://api.test:${port}/`, { maxBytes: 10 })).toMatchObject({ truncated: false });
  const grown = await call(`http://api.test:${port}/bomb`, { maxBytes: 100_000 });
  expect([grown.truncated, grown.body.length]).toEqual([true, 100_000]);
});

test("an answer is asked for uncompressed, and one in brotli is refused unread", async () => {
  const bomb = brotliCompressSync(Buffer.alloc(10_000_000));
  const { port, seen } = serve(() => new Response(bomb, { headers: { "Content-Encoding": "br" } }));
  const headers = { "accept-encoding": "br, zstd" };
  expect(await outcome(call(`http://api.test:${port}/`, { headers }))).toBe("upstream_error");
  expect(seen[0]?.headers.get("accept-encoding")).toBe("identity");
});

test("a private address that the node allows needs the listing of the manifest", async () => {
  const { port, seen } = serve(() => new Response());
  const url = `http://api.test:${port}/`;
  const to = (allowlist: string[], more: Partial<NetworkSpec> = {}) =>
    outcome(call(url, { network: { mode: "allow", allowlist, denylist: [], ...more } }));
  expect(await outcome(call(url, { network: null }))).toBe("loopback_address");
  expect(await to([])).toBe("loopback_address");
  expect(await to(["127.0.0.1"])).toBe("loopback_address");
  expect(await to([`api.test:${port}`])).toBe("loopback_address");
  expect(await to([`127.0.0.1:${port}`], { mode: "none" })).toBe("loopback_address");
  expect(await to([`127.0.0.1:${port}`], { denylist: ["127.0.0.0/8"] })).toBe("denylisted");
  expect(seen).toHaveLength(0);
  expect(await to([`127.0.0.0/8:${port}`])).toBe("answered");
  expect(await to([`127.0.0.1:${port}`], { mode: "deny" })).toBe("answered");
});

test("time is bounded, and the caller may give up", async () => {
  const { port } = serve(({ path }) =>
    path === "/body"
      ? new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) }))
      : new Promise<Response>(() => {}),
  );
  expect(await outcome(call(`http://api.test:${port}/`, { timeoutMs: 60 }))).toBe("timeout");
  expect(await outcome(call(`http://api.test:${port}/body`, { timeoutMs: 60 }))).toBe("timeout");
  expect(await outcome(call(`http://api.test:${port}/`, { signal: AbortSignal.timeout(40) }))).toBe("aborted");
});

test("no server there", async () => {
  const { port } = serve(() => new Response());
  for (const step of disposers.splice(0)) step();
  expect(await outcome(call(`http://api.test:${port}/`))).toBe("unreachable");
});
