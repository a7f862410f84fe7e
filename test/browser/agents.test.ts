/** Home, agents and their executions in Chromium: a sample by one click, a manifest mended and deployed, text kept inert. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { chromiumPath, launchBrowser, openWindow, signIn } from "../harness/browser.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freePorts } from "../harness/redis/server.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";

setDefaultTimeout(60_000);

const axe = readFileSync(join(import.meta.dir, "../../node_modules/axe-core/axe.min.js"), "utf8");

/** An agent that says what a page, a terminal and an eye would obey. */
const hostile = `apiVersion: svc.dev/v1
kind: Agent
metadata:
  name: loud
  version: "1.0.0"
  description: "<script>alert(1)</script>"
spec:
  runtime: { language: python, version: "3.12", model: default }
  task:
    instruction: |
      Say it.

      \`\`\`svc-script
      [{"content": "<script>window.obeyed = true</script><img src=x onerror='window.obeyed = true'> \\u001b[31mred\\u001b[0m \\u202egnp.exe"}]
      \`\`\`
  execution: { mode: one-shot }
  input_schema:
    type: object
    required: [who]
    properties: { who: { type: string, title: Who } }
`;

let stores: TestStores;
let node: NodeProcess;
let browser: Browser;

describe.skipIf(chromiumPath === null)("in Chromium", () => {
  beforeAll(async () => {
    stores = await freshStores();
    const [port] = await freePorts(1);
    // The page asks the issuer, whose address is the node's public one.
    const env = { SVC_PORT: String(port), SVC_PUBLIC_URL: `http://127.0.0.1:${port}` };
    [node, browser] = await Promise.all([startNodeProcess(stores, { env }), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await node?.dispose();
    await stores?.dispose();
  });

  /** What axe finds serious on the page as it is shown. */
  async function faults(page: Page): Promise<string[]> {
    await page.evaluate(axe);
    return page.evaluate(async () => {
      const { violations } = await (
        globalThis as unknown as {
          axe: {
            run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
          };
        }
      ).axe.run();
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    });
  }

  // Emptied by keys first: text put over text makes Chromium carry styles along, which the page's policy refuses.
  const write = async (page: Page, text: string) => {
    await page.getByRole("textbox", { name: "Manifest" }).focus();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(text);
  };

  test("the sample agent runs by one click and is seen to end", async () => {
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url);
    expect(await faults(page)).toEqual([]);
    await page.getByRole("button", { name: /^Run it: An agent/ }).click();
    await page.waitForURL(/\/console\/executions\/[0-9a-f-]{36}/);
    // Live: it is seen to run before it is seen to have ended, on the same page.
    await page.getByRole("tab", { name: "Console" }).click();
    await page.getByText("step 1 of 10").first().waitFor();
    await page.getByRole("main").getByText("completed", { exact: true }).first().waitFor({ timeout: 40_000 });
    await page.getByText("the note reads: hello from hello-agent").first().waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("a manifest is mended at its line, deployed and run; its text stays text", async () => {
    const { page, context, complaints } = await openWindow(browser, { colorScheme: "dark" });
    await signIn(page, node.url, "admin", "/agents/new");
    await write(page, hostile.replace("language: python", "language: cobol"));
    await page.getByRole("list", { name: "Findings" }).getByText("line 8").first().waitFor();
    expect(await page.getByRole("button", { name: "Deploy" }).isDisabled()).toBe(true);
    await write(page, hostile);
    await page.getByText("Valid. Deploying makes a new agent").waitFor();
    await page.getByRole("button", { name: "Deploy" }).click();
    await page.waitForURL(/\/console\/agents\/[0-9a-f-]{36}\?tab=run/);
    await page.getByRole("textbox", { name: /Who/ }).fill("you");
    expect(complaints).toEqual([]);
    expect(await faults(page)).toEqual([]);
    await page.getByRole("main").getByRole("button", { name: "Run", exact: true }).last().click();
    await page.waitForURL(/\/console\/executions\//);
    await page.getByText("<script>window.obeyed = true</script>").first().waitFor({ timeout: 30_000 });
    const shown = await page.getByRole("main").textContent();
    expect(shown).toContain("[U+202E]");
    expect(shown).not.toContain("\u001b");
    expect(shown).not.toContain("\u202e");
    expect(await page.evaluate(() => "obeyed" in globalThis)).toBe(false);
    expect(complaints).toEqual([]);
    expect(await faults(page)).toEqual([]);
    await context.close();
  });
});
