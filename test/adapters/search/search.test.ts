/** Engines that search the web, by local servers that speak their wire (docs/reference/gateway.md). */
import { afterEach, expect, test } from "bun:test";
import { openSearch, SearchFailed } from "../../../src/adapters/search/port.ts";
import { Secret } from "../../../src/lib/secret.ts";

const servers: { stop(closeActive?: boolean): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

function serve(answer: (request: Request, n: number) => Response | Promise<Response>) {
  const seen: { readonly url: string; readonly headers: Headers }[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => answer(request, seen.push({ url: request.url, headers: new Headers(request.headers) })),
  });
  servers.push(server);
  return { url: `http://127.0.0.1:${server.port}`, seen };
}

const never = new AbortController().signal;
const searxngAnswer = {
  query: "bun",
  results: [
    { title: "Bun", url: "https://bun.example/", content: "A <b>fast</b>\n runtime", engine: "duck" },
    { title: "No page", url: "javascript:alert(1)", content: "", engine: "x" },
    { title: 7, url: "https://second.example/", content: "a\0b\ud800" },
    "nonsense",
  ],
};
const braveAnswer = {
  type: "search",
  web: {
    results: [
      { title: "Bun", url: "https://bun.example/", description: "fast", meta_url: { hostname: "bun.example" } },
      { title: "Other", url: "https://other.example/", description: "slow", profile: { name: "Other site" } },
    ],
  },
};

test("SearXNG is asked for JSON below its address, and its results are read", async () => {
  for (const path of ["", "/sx", "/sx/search"]) {
    const { url, seen } = serve(() => Response.json(searxngAnswer));
    const engine = openSearch(`${url}${path}`, null);
    expect(engine?.name).toBe("searxng");
    expect(await engine?.search("a b&c", 10, never)).toEqual([
      { title: "Bun", url: "https://bun.example/", snippet: "A fast runtime", source: "duck" },
      { title: "", url: "https://second.example/", snippet: "ab\ufffd", source: "" },
    ]);
    const asked = new URL(seen[0]?.url ?? "");
    expect(asked.pathname).toBe(path === "" ? "/search" : "/sx/search");
    expect(Object.fromEntries(asked.searchParams)).toEqual({ q: "a b&c", format: "json" });
  }
});

test("with a key it is Brave's API: token, count and results", async () => {
  const { url, seen } = serve(() => Response.json(braveAnswer));
  const engine = openSearch(url, new Secret("token-1"));
  expect(await engine?.search("bun", 1, never)).toEqual([
    { title: "Bun", url: "https://bun.example/", snippet: "fast", source: "bun.example" },
  ]);
  const [request] = seen;
  expect(request?.headers.get("x-subscription-token")).toBe("token-1");
  const { pathname, searchParams } = new URL(request?.url ?? "");
  expect(pathname).toBe("/res/v1/web/search");
  expect(searchParams.get("q")).toBe("bun");
  expect(searchParams.get("count")).toBe("1");
});

test("what may pass is tried three times in all, and what will not once", async () => {
  const twice = serve((_, n) =>
    n < 3 ? new Response("", { status: n === 1 ? 503 : 429 }) : Response.json(searxngAnswer),
  );
  expect(await openSearch(twice.url, null)?.search("x", 5, never)).toHaveLength(2);
  expect(twice.seen).toHaveLength(3);
  const spoilt = serve(() => new Response("<html>"));
  const fails = (url: string) => openSearch(url, null)?.search("x", 5, never) ?? Promise.resolve([]);
  expect(fails(spoilt.url)).rejects.toMatchObject({ name: "SearchFailed", code: "upstream_error" });
  await fails(spoilt.url).catch(() => {});
  expect(spoilt.seen).toHaveLength(6);
  const refused = serve(() => new Response("", { status: 401 }));
  await fails(refused.url).catch((error: unknown) => expect(error).toBeInstanceOf(SearchFailed));
  expect(refused.seen).toHaveLength(1);
  const patient = serve(() => new Response("", { status: 429, headers: { "Retry-After": "3600" } }));
  await fails(patient.url).catch((error: unknown) => expect(error).toBeInstanceOf(SearchFailed));
  expect(patient.seen).toHaveLength(1);
});

test("a redirect is not followed: it would take the key along", async () => {
  const elsewhere = serve(() => Response.json(braveAnswer));
  const { url } = serve(() => Response.redirect(elsewhere.url, 302));
  expect(openSearch(url, new Secret("k"))?.search("x", 1, never)).rejects.toMatchObject({ code: "upstream_error" });
  await openSearch(url, new Secret("k"))
    ?.search("x", 1, never)
    .catch(() => {});
  expect(elsewhere.seen).toHaveLength(0);
});

test("an answer without end, and a caller who leaves, end it", async () => {
  const flood = serve(
    () =>
      new Response(
        new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_048_576).fill(32)) }),
      ),
  );
  expect(openSearch(flood.url, null)?.search("x", 1, never)).rejects.toMatchObject({ code: "upstream_error" });
  const silent = serve(() => new Promise<Response>(() => {}));
  const left = new AbortController();
  const asked = openSearch(silent.url, null)?.search("x", 1, left.signal);
  left.abort(new Error("left"));
  expect(asked).rejects.toThrow("left");
});
