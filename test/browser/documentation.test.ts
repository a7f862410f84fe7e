/** The documentation in Chromium: what it shows at which width, the search by keyboard, and what axe-core finds. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { type Browser, chromium, type Page } from "playwright-core";
import { documentationRoutes } from "../../src/features/documentation/routes.ts";
import { openSite } from "../../src/features/documentation/site/site.ts";
import { JsonText } from "../../src/http/answer.ts";
import { definePublicRoute } from "../../src/http/route.ts";
import { type OpenApp, openApp } from "../http/open-app.ts";

setDefaultTimeout(60_000);

const root = join(import.meta.dir, "../..");
const chromiumPath = Bun.which("chromium") ?? Bun.which("chromium-browser") ?? Bun.which("google-chrome");
if (chromiumPath === null) console.error("SKIPPED: no Chromium is installed, so the documentation was not looked at");

const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** The API document as it is pinned. */
function apiDocument(): string {
  const [[, rest], ...operations] = readFileSync(join(root, "test/pins/openapi.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line)) as [[string, object], ...[string, object][]];
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, operation] of operations) {
    const [method = "", path = ""] = name.split(" ");
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  return JSON.stringify({ ...rest, info: { title: "svc", version: "1" }, servers: [], paths });
}

describe.skipIf(chromiumPath === null)("in Chromium", () => {
  let app: OpenApp;
  let browser: Browser;
  const complaints: string[] = [];
  beforeAll(async () => {
    const document = apiDocument();
    const api = definePublicRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "The API document",
      responses: { 200: Type.Unknown() },
      handler: () => new JsonText(document),
    });
    app = openApp({ routes: [api, ...documentationRoutes(await openSite(join(root, "docs"), "1.2.3"))] });
    browser = await chromium.launch({
      executablePath: chromiumPath ?? "",
      args: ["--no-sandbox", "--disable-background-networking"],
    });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  async function open(address: string, { width = 1280, dark = false } = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: dark ? "dark" : "light",
    });
    const page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(`${address}: ${message.text()}`);
    });
    page.on("pageerror", (error) => complaints.push(`${address}: ${error.message}`));
    await page.goto(`${app.url}/docs/${address}`);
    return page;
  }

  /** Rules that are broken seriously, with the first element of each. */
  async function findings(page: Page): Promise<string[]> {
    return await page.evaluate(`(async () => {
      ${axe};
      const { violations } = await axe.run(document, { resultTypes: ["violations"] });
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => id + ": " + nodes[0].html.slice(0, 160) + " " + nodes[0].failureSummary);
    })()`);
  }

  test.each(["", "guide/agent", "reference/executions", "api"])(
    "nothing serious is found on %p in light and dark, and 400 px show all of it",
    async (address) => {
      const page = await open(address);
      if (address === "api") await page.waitForSelector(".overview");
      expect(await findings(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      await page.setViewportSize({ width: 400, height: 800 });
      expect(await findings(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(400);
      await page.context().close();
    },
  );

  test("the search is opened, asked and followed by keyboard alone", async () => {
    const page = await open("guide/agent", { dark: true });
    await page.keyboard.press("/");
    await page.waitForSelector("dialog.search[open]");
    await page.keyboard.type("SVC_MAX_INSTANCES");
    await page.waitForSelector("#found [role=option]");
    expect(await page.textContent("#found .name")).toBe("SVC_MAX_INSTANCES");
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.waitForURL(/reference\/settings#svc_max_instances$/);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("<img src=x>");
    await page.waitForFunction(
      "document.querySelector('.told').textContent !== '' || document.querySelector('#found [role=option]')",
    );
    expect(await page.$("dialog img")).toBeNull();
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog.search", { state: "hidden" });
    await page.context().close();
  });

  test("a chosen theme stays, and a narrow window has the pages in a menu", async () => {
    const page = await open("guide/agent", { width: 400 });
    await page.click(".bar .theme");
    expect(await page.getAttribute("html", "data-theme")).toBe("dark");
    await page.click(".bar .menu");
    await page.click("#navigation >> text=Run svc");
    await page.waitForURL(/guide\/run$/);
    expect(await page.getAttribute("html", "data-theme")).toBe("dark");
    await page.context().close();
  });

  test("an operation of the API is found and drawn, also by its address", async () => {
    const page = await open("api");
    await page.fill(".operations input", "make a volume");
    await page.click(".operations a:visible");
    await page.waitForSelector(".opblock.is-open");
    expect(await page.textContent(".opblock.is-open .opblock-summary-path")).toContain("/v1/volumes");
    const address = new URL(page.url()).hash;
    const again = await open(`api${address}`);
    await again.waitForSelector(".opblock.is-open");
    expect(await again.textContent(".opblock.is-open .opblock-summary-path")).toContain("/v1/volumes");
    await again.context().close();
    await page.context().close();
  });

  test("no page did what its policy forbids", () => {
    expect(complaints).toEqual([]);
  });
});
