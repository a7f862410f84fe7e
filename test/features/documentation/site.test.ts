/** The documentation as it is served: every page, every link and anchor, caching, and nothing outside of `docs/`. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documentationRoutes } from "../../../src/features/documentation/routes.ts";
import { openSite, type Site } from "../../../src/features/documentation/site/site.ts";
import { type OpenApp, openApp } from "../../http/open-app.ts";

const root = join(import.meta.dir, "../../../docs");

let site: Site;
let app: OpenApp;
beforeAll(async () => {
  site = await openSite(root, "1.2.3");
  app = openApp({ routes: documentationRoutes(site) });
});
afterAll(() => app.stop());

const get = (path: string, init: RequestInit = {}) => fetch(`${app.url}${path}`, { redirect: "manual", ...init });
const isPage = (address: string): boolean => !/\.\w+$/.test(address);

test("every page answers, and no link or anchor of any page is dead", async () => {
  const texts = new Map<string, string>();
  for (const address of site.addresses) {
    const answer = await get(`/docs/${address}`);
    expect([address, answer.status]).toEqual([address, 200]);
    if (isPage(address)) texts.set(address, await answer.text());
    else await answer.arrayBuffer();
  }
  expect(texts.size).toBeGreaterThan(130);
  const anchors = new Map(
    [...texts].map(([address, text]) => [address, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const dead: string[] = [];
  for (const [address, text] of texts) {
    for (const [, link = ""] of text.matchAll(/ (?:href|src)="([^"]+)"/g)) {
      const target = new URL(link, `http://site/docs/${address}`);
      if (target.origin !== "http://site") continue;
      if (!target.pathname.startsWith("/docs/")) continue;
      const path = target.pathname.slice("/docs/".length);
      const id = decodeURIComponent(target.hash.slice(1));
      if (path.startsWith("assets/")) continue;
      if (!site.addresses.has(path) || (id !== "" && isPage(path) && !anchors.get(path)?.has(id)))
        dead.push(`${address}: ${link}`);
    }
  }
  expect(dead).toEqual([]);
}, 60_000);

test("links of a page to files that the site has not are none", async () => {
  const answer = await get("/docs/guide/operate");
  expect(await answer.text()).not.toMatch(/href="[^"]*runtime/);
});

test("scripts, styles and the font are named by their content and kept for a year", async () => {
  const page = await (await get("/docs/api")).text();
  const assets = [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(assets.length).toBeGreaterThan(7);
  for (const path of new Set(assets)) {
    const answer = await get(`/docs/${path}`, { headers: { "Accept-Encoding": "gzip" } });
    expect([path, answer.status]).toEqual([path, 200]);
    expect(answer.headers.get("cache-control")).toContain("immutable");
    expect((await get(`/docs/${path.replace(/\.[0-9a-f]{16}\./, ".0123456789abcdef.")}`)).status).toBe(404);
  }
  expect(page).not.toMatch(/<script(?! src=)|<style| style="| on\w+="|https?:\/\//);
});

test("a page is compressed, is not sent again to who has it, and allows nothing inline", async () => {
  const gzip = { "Accept-Encoding": "gzip" };
  const first = await get("/docs/guide/agent", { headers: gzip });
  expect(first.headers.get("content-encoding")).toBe("gzip");
  const policy = first.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  const etag = first.headers.get("etag") ?? "";
  expect((await get("/docs/guide/agent", { headers: { ...gzip, "If-None-Match": etag } })).status).toBe(304);
  expect((await get("/docs/guide/agent", { headers: { ...gzip, "If-None-Match": '"other"' } })).status).toBe(200);
  const plain = await get("/docs/guide/agent", { headers: { "Accept-Encoding": "identity" } });
  expect([plain.headers.get("content-encoding"), plain.headers.get("etag") === etag]).toEqual([null, false]);
  expect(await plain.text()).toBe(await first.text());
});

test.each([
  ["/docs", 308, "docs/"],
  ["/docs/guide", 308, "guide/"],
  ["/docs/guide/agent/", 308, "../agent"],
  ["/docs/nothing", 404, null],
  ["/docs/generate.ts", 404, null],
  ["/docs/../package.json", 404, null],
  ["/docs/%2e%2e/package.json", 404, null],
  ["/docs/..%2fpackage.json", 404, null],
  ["/docs/guide/..%2f..%2f..%2f..%2fetc/passwd", 404, null],
  ["/docs/__proto__", 404, null],
])("%s answers %d", async (path, status, location) => {
  const answer = await get(path);
  expect([answer.status, answer.headers.get("location")]).toEqual([status, location]);
});

test("HEAD has no body, POST is refused, and a browser that finds nothing gets a page", async () => {
  const head = await get("/docs/", { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect((await get("/docs/", { method: "POST" })).status).toBe(405);
  const missing = await get("/docs/guide/nothing", { headers: { Accept: "text/html" } });
  expect([missing.status, missing.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(await missing.text()).toContain('href="../"');
});

test("where the pages are not there, the reference of the API still is", async () => {
  const bare = await openSite(join(tmpdir(), "no-such-folder"), "1");
  expect([...bare.addresses]).toEqual(["api"]);
  expect((await bare.at("api"))?.kind).toBe("reference");
});
