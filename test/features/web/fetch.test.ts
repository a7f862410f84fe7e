/** `web.fetch` (docs/reference/gateway.md): where it may go, and what it answers. */
import { afterEach, describe, expect, test } from "bun:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { parseHostPattern } from "../../../actors/policy/network/pattern.ts";
import type { FetchParts } from "../../../src/features/web/fetch.ts";
import { createWebTools } from "../../../src/features/web/provider.ts";
import { requestOf } from "../tools/request.ts";

const servers: { stop(closeActive?: boolean): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

interface Outside {
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly allowPrivate?: readonly string[];
  readonly network?: Awaited<ReturnType<FetchParts["networkOf"]>>;
  readonly domainRules?: readonly (readonly string[])[];
  readonly maxResponseBytes?: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

/** A server of the web, whose connections are counted. */
function serve(answer: (request: Request, url: URL) => Response | Promise<Response>) {
  const paths: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const url = new URL(request.url);
      paths.push(`${url.hostname} ${url.pathname}`);
      return answer(request, url);
    },
  });
  servers.push(server);
  return { port: server.port ?? 0, paths };
}

/** As where a name of the test's leads to this machine, and the node and a list of the call permit that. */
const reachable: Outside = {
  names: { "site.test": ["127.0.0.1"], "other.test": ["127.0.0.1"], "inside.test": ["10.0.0.1"] },
  allowPrivate: ["127.0.0.1"],
  domainRules: [["test", "127.0.0.1"]],
};

async function fetchWith(given: Record<string, unknown>, port: number | null, outside: Outside = reachable) {
  const { names = {}, allowPrivate = [], domainRules = [], maxResponseBytes = 10_485_760 } = outside;
  const provider = createWebTools(null, {
    outside: {
      resolve: async (name) => names[name] ?? [],
      allowPrivate: allowPrivate.map(parseHostPattern).filter((pattern) => pattern !== null),
    },
    maxBytes: outside.maxBytes ?? 5_242_880,
    ports: port === null ? [] : [port],
    networkOf: async () => outside.network ?? null,
    now: Date.now,
  });
  const bounds = { maxTimeoutSecs: 3600, maxResponseBytes, pathRules: [], domainRules };
  const { signal = new AbortController().signal } = outside;
  const outcome = await provider.call(requestOf("web.fetch", given, { bounds, signal }));
  return { outcome };
}

async function page(given: Record<string, unknown>, port: number, outside?: Outside) {
  const { outcome } = await fetchWith(given, port, outside);
  if (outcome.status !== "succeeded") throw new Error(JSON.stringify(outcome));
  return outcome.result;
}

const addressBlocked = {
  status: "refused",
  error_code: 2004,
  code: "address_blocked",
  violation_type: "address_blocked",
};
const domainNotAllowed = { status: "refused", error_code: 2004, code: "domain_not_allowed" };
const failed = (code: string) => ({ status: "failed", code });

describe("where it may not go", () => {
  const closed: [string, string, string][] = [
    ["loopback", "http://127.0.0.1/", "loopback_address"],
    ["loopback by a number", "http://2130706433/", "loopback_address"],
    ["loopback in octal", "http://0177.0.0.1/", "loopback_address"],
    ["a short form of loopback", "http://127.1/", "loopback_address"],
    ["loopback of IPv6", "http://[::1]/", "loopback_address"],
    ["metadata", "http://169.254.169.254/latest/meta-data/", "metadata_address"],
    ["private, mapped into IPv6", "http://[::ffff:10.0.0.1]/", "private_address"],
    ["private, by NAT64", "http://[64:ff9b::10.0.0.1]/", "private_address"],
    ["private, by 6to4", "http://[2002:a00:1::]/", "private_address"],
    ["carrier-grade NAT", "http://100.64.0.1/", "carrier_grade_nat_address"],
    ["unique local", "http://[fd00::1]/", "unique_local_address"],
    ["link-local", "http://[fe80::1]/", "link_local_address"],
    ["unspecified", "http://0.0.0.0/", "unspecified_address"],
    ["multicast", "http://224.0.0.1/", "multicast_address"],
    ["documentation", "http://192.0.2.1/", "documentation_address"],
    ["benchmark", "http://198.18.0.1/", "benchmark_address"],
    ["reserved", "http://240.0.0.1/", "reserved_address"],
    ["a name that resolves to a private address", "http://inside.test/", "private_address"],
    ["a name with one private address among others", "http://mixed.test/", "private_address"],
    ["another scheme", "file:///etc/passwd", "scheme_not_allowed"],
    ["gopher", "gopher://site.test/", "scheme_not_allowed"],
    ["user info", "http://user:pass@site.test/", "user_info"],
    ["another port", "http://site.test:22/", "port_not_allowed"],
  ];
  test.each(closed)("%s: refused before anything dials", async (_, url, reason) => {
    const dialled: string[] = [];
    const real = globalThis.fetch;
    const counted = async (input: unknown) => {
      dialled.push(String(input));
      return new Response("");
    };
    globalThis.fetch = Object.assign(counted, real);
    try {
      const names = { "inside.test": ["10.0.0.1"], "mixed.test": ["93.184.216.34", "192.168.0.1"], "site.test": [] };
      const { outcome } = await fetchWith({ url }, null, { names });
      expect(outcome).toMatchObject(addressBlocked);
      expect(outcome).toMatchObject({ message: expect.stringContaining(reason) });
      expect(dialled).toEqual([]);
    } finally {
      globalThis.fetch = real;
    }
  });

  test("a redirect to a closed address, port or scheme is refused", async () => {
    for (const [location, reason] of [
      ["http://169.254.169.254/", "metadata_address"],
      ["http://[::ffff:10.0.0.1]/", "private_address"],
      ["http://inside.test/", "private_address"],
      ["http://site.test:9/", "port_not_allowed"],
      ["file:///etc/passwd", "scheme_not_allowed"],
      ["http://a:b@site.test/", "user_info"],
    ] as const) {
      const { port, paths } = serve(() => new Response(null, { status: 302, headers: { Location: location } }));
      const rules = { ...reachable, domainRules: [["test", "127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1"]] };
      const { outcome } = await fetchWith({ url: `http://site.test:${port}/` }, port, rules);
      expect(outcome).toMatchObject(addressBlocked);
      expect(outcome).toMatchObject({ message: expect.stringContaining(reason) });
      expect(paths).toHaveLength(1);
    }
  });

  test("a closed address needs a list of the call and the node's", async () => {
    const { port, paths } = serve(() => new Response("here"));
    const url = `http://site.test:${port}/`;
    const network = { mode: "none", allowlist: ["site.test", "127.0.0.1"], denylist: [] } as const;
    const listed = { ...network, allowlist: network.allowlist.map((entry) => `${entry}:${port}`) };
    const { names = {} } = reachable;
    for (const outside of [
      { names },
      { names, allowPrivate: ["127.0.0.1"] },
      { names, domainRules: [["127.0.0.1", "site.test"]] },
      { names, network: listed },
    ]) {
      expect((await fetchWith({ url }, port, outside)).outcome).toMatchObject(addressBlocked);
    }
    expect(paths).toEqual([]);
    const allowPrivate = ["127.0.0.1"];
    expect(await page({ url }, port, { names, allowPrivate, network: listed })).toMatchObject({ content: "here" });
    expect(await page({ url }, port)).toMatchObject({ content: "here" });
  });

  test("domain rules and the manifest's lists bind each redirect; the mode does not", async () => {
    const { port, paths } = serve((request, { pathname }) => {
      const host = request.headers.get("host");
      return pathname === "/" && host?.startsWith("site.test") === true
        ? Response.redirect(`http://other.test:${port}/end`, 302)
        : new Response("end");
    });
    const url = `http://site.test:${port}/`;
    const domainRules = [["site.test", "127.0.0.1"]];
    expect((await fetchWith({ url }, port, { ...reachable, domainRules })).outcome).toMatchObject(domainNotAllowed);
    const network = { mode: "none", allowlist: [], denylist: [] } as const;
    const lists: [typeof network.allowlist | readonly string[], readonly string[]][] = [
      [[`site.test:${port}`], []],
      [[], ["other.test"]],
    ];
    for (const [allowlist, denylist] of lists) {
      const outside = { ...reachable, network: { ...network, allowlist, denylist } };
      const { outcome } = await fetchWith({ url }, port, outside);
      expect(outcome).toMatchObject(domainNotAllowed);
    }
    const denied = { ...reachable, network: { ...network, denylist: ["127.0.0.0/8"] } };
    expect((await fetchWith({ url }, port, denied)).outcome).toMatchObject(domainNotAllowed);
    expect(paths.length).toBe(3);
    expect(await page({ url }, port, { ...reachable, network })).toMatchObject({ content: "end" });
  });
});

describe("what it answers", () => {
  const article = `<!doctype html><html><head><title>Of bees</title><script>steal()</script></head><body>
    <nav><a href="/home">Home</a></nav><article><h1>Of bees</h1>${"<p>Bees gather nectar, and they dance to tell the others where it is, which is long known.</p>".repeat(8)}
    <p>See <a href="more?x=1">more</a> and <a href="javascript:alert(1)">never</a>.</p><pre><code>let b = 1;</code></pre></article></body></html>`;

  test("a page comes as markdown of its main content, with whole links and no scripts", async () => {
    const { port } = serve(() => new Response(article, { headers: { "Content-Type": "text/html; charset=utf-8" } }));
    const found = await page({ url: `http://site.test:${port}/a/b` }, port);
    expect(found).toMatchObject({
      url: `http://site.test:${port}/a/b`,
      requested_url: `http://site.test:${port}/a/b`,
      http_status: 200,
      content_type: "text/html; charset=utf-8",
      content_length: Buffer.byteLength(article),
      content_format: "markdown",
      redirects: [],
      truncated: false,
    });
    const content = String(found.content);
    expect(content).toStartWith("# Of bees");
    expect(content).toContain(`[more](http://site.test:${port}/a/more?x=1)`);
    expect(content).toContain("let b = 1;");
    expect(content).not.toMatch(/steal|javascript:|Home/);
    const raw = await page({ url: `http://site.test:${port}/`, to_markdown: false }, port);
    expect(raw).toMatchObject({ content_format: "html", content: article });
  });

  test("redirects are followed to the tenth and named, or are the answer themselves", async () => {
    const { port, paths } = serve((_, { pathname }) => {
      const n = Number(pathname.slice(1));
      return n > 0
        ? new Response(null, { status: 307, headers: { Location: `/${n - 1}`, "Set-Cookie": "a=b" } })
        : new Response("done");
    });
    const at = (n: number) => `http://site.test:${port}/${n}`;
    const found = await page({ url: at(10) }, port);
    expect(found).toMatchObject({ url: at(0), requested_url: at(10), content: "done" });
    expect(found.redirects).toEqual(Array.from({ length: 10 }, (_, index) => at(10 - index)));
    expect((await fetchWith({ url: at(11) }, port)).outcome).toMatchObject(failed("upstream_error"));
    paths.length = 0;
    expect(await page({ url: at(3), follow_redirects: false }, port)).toMatchObject({
      http_status: 307,
      redirects: [],
    });
    expect(paths).toHaveLength(1);
  });

  test("no cookie or credential is sent, and statuses other than 2xx are results", async () => {
    const headers: (string | null)[] = [];
    const { port } = serve((request, { pathname }) => {
      headers.push(request.headers.get("cookie"), request.headers.get("authorization"));
      return pathname === "/a"
        ? new Response(null, { status: 302, headers: { Location: "/b", "Set-Cookie": "s=1" } })
        : new Response("gone", { status: 410 });
    });
    const found = await page({ url: `http://site.test:${port}/a` }, port);
    expect(found).toMatchObject({ http_status: 410, content: "gone", content_format: "text" });
    expect(headers).toEqual([null, null, null, null]);
  });

  test("what is no text is unsupported_content_type", async () => {
    const binary: [string, Uint8Array<ArrayBuffer>][] = [
      ["image/png", new Uint8Array([1, 2])],
      ["application/octet-stream", new TextEncoder().encode("text all the same")],
      ["text/plain", new Uint8Array([65, 0, 66])],
      ["", new Uint8Array([0xff, 0xfe, 0x41])],
    ];
    for (const [type, body] of binary) {
      const { port } = serve(() => new Response(body, { headers: type === "" ? {} : { "Content-Type": type } }));
      const { outcome } = await fetchWith({ url: `http://site.test:${port}/` }, port);
      expect(outcome).toMatchObject(failed("unsupported_content_type"));
    }
    const text: [string, string | Uint8Array<ArrayBuffer>, string][] = [
      ["application/problem+json", '{"a":1}', '{"a":1}'],
      ["text/plain; charset=iso-8859-1", new Uint8Array([0x67, 0xfc]), "gü"],
      ["text/csv", "a,b", "a,b"],
    ];
    for (const [type, body, content] of text) {
      const { port } = serve(() => new Response(body, { headers: { "Content-Type": type } }));
      expect(await page({ url: `http://site.test:${port}/` }, port)).toMatchObject({ content, content_format: "text" });
    }
  });

  test("a bomb is cut after decompression, and other compression is not taken", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576, "a"), { level: 9 });
    const { port } = serve((_, { pathname }) =>
      pathname === "/gzip"
        ? new Response(bomb, { headers: { "Content-Type": "text/plain", "Content-Encoding": "gzip" } })
        : new Response(brotliCompressSync("x"), {
            headers: { "Content-Type": "text/plain", "Content-Encoding": "br" },
          }),
    );
    const before = process.memoryUsage().rss;
    const found = await page({ url: `http://site.test:${port}/gzip` }, port);
    expect(found).toMatchObject({ content_length: 5_242_880, truncated: true });
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1_048_576);
    const { outcome } = await fetchWith({ url: `http://site.test:${port}/br` }, port);
    expect(outcome).toMatchObject(failed("upstream_error"));
  });

  test("content is cut between characters to what the policy lets through", async () => {
    const { port } = serve(() => new Response("ä".repeat(100)));
    const found = await page({ url: `http://site.test:${port}/` }, port, { ...reachable, maxResponseBytes: 101 });
    expect(found).toMatchObject({ content: "ä".repeat(50), truncated: true });
  });

  test("hostile pages come as they are, and the node answers meanwhile", async () => {
    const wide = `<html><body>${"<p><a href=x>y</a><b>z".repeat(20_000)}</body></html>`;
    {
      const { port } = serve(() => new Response(wide, { headers: { "Content-Type": "text/html" } }));
      let longest = 0;
      let last = performance.now();
      const beat = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 5);
      const found = await page({ url: `http://site.test:${port}/` }, port);
      clearInterval(beat);
      expect(found).toMatchObject({ content_format: "html", content: wide });
      // Turning it takes minutes; the bound is far from that.
      expect(longest).toBeLessThan(1_000);
    }
  });

  test("a server that says nothing, and a caller who leaves, end it", async () => {
    const { port } = serve(() => new Promise<Response>(() => {}));
    const url = `http://site.test:${port}/`;
    expect((await fetchWith({ url, timeout_secs: 1 }, port)).outcome).toMatchObject(failed("timeout"));
    const left = new AbortController();
    const asked = fetchWith({ url }, port, { ...reachable, signal: left.signal });
    left.abort(new Error("left"));
    expect(asked).rejects.toThrow("left");
    expect((await fetchWith({ url: "http://nowhere.test/" }, port)).outcome).toMatchObject(failed("upstream_error"));
    for (const wrong of [{}, { url: 1 }, { url: "x" }, { url, timeout_secs: 121 }, { url: "x".repeat(8_193) }]) {
      expect((await fetchWith(wrong, port)).outcome).toMatchObject(failed("invalid_arguments"));
    }
  });
});
