/** A node is killed while the page of a live execution is open: the page says so, goes on by itself, shows each event once. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { chromiumPath, launchBrowser, openWindow, signIn } from "../harness/browser.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freePorts } from "../harness/redis/server.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

setDefaultTimeout(90_000);

/** Works on while a node is away, until it is told to end; each line that it writes has a number. */
const agent = `apiVersion: svc.dev/v1
kind: Agent
metadata: { name: counter, version: "1.0.0" }
spec:
  runtime: { language: python, version: "3.12", model: default }
  task:
    instruction: |
      Count.

      \`\`\`svc-script
      [
        {"tool_calls": [{"name": "cmd.run", "arguments": {"command": "sh", "args": ["-c",
          "i=1; while [ ! -e end ]; do echo \\"number $i\\"; sleep 0.2; i=$((i+1)); done"], "timeout_secs": 120}}]},
        {"content": "Counted."}
      ]
      \`\`\`
  execution: { mode: one-shot, iteration_timeout: 3m }
  tools: [cmd.run]
`;

let stores: TestStores;
let node: NodeProcess;
let browser: Browser;

describe.skipIf(chromiumPath === null)("in Chromium", () => {
  beforeAll(async () => {
    stores = await freshStores();
    const [port] = await freePorts(1);
    const env = { SVC_PORT: String(port), SVC_PUBLIC_URL: `http://127.0.0.1:${port}` };
    [node, browser] = await Promise.all([startNodeProcess(stores, { env }), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await node?.dispose();
    await stores?.dispose();
  });

  const person = { grant_type: "password", client_id: "svc-console", username: "admin", password: "dev" };
  const headers = async () => ({ Authorization: `Bearer ${await node.token(person)}` });
  const asAdmin = async (method: string, path: string, body?: unknown) =>
    node.call(method, path, body, await headers());

  test("a killed node is told of on the page, which goes on and shows each event once", async () => {
    const { body } = await asAdmin("POST", "/v1/agents", agent);
    const started = await asAdmin("POST", `/v1/agents/${body.agent_id}/execute`, { input: "" });
    const id = started.body.execution_id;
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url, "admin", `/executions/${id}?tab=console`);
    await page.getByText("number 3", { exact: true }).waitFor();

    await node.kill();
    // The frame of every page and the page of the execution say it.
    await page.getByText("The connection to the service is lost").waitFor();
    await node.restart();
    await page.getByText("The connection to the service is lost").waitFor({ state: "detached", timeout: 30_000 });

    // The command has gone on meanwhile; what it writes now comes without a reload.
    const later = Math.max(...(await numbers(page))) + 20;
    await page.getByText(`number ${later}`, { exact: true }).waitFor({ timeout: 30_000 });
    const shown = await numbers(page);
    expect(shown).toEqual([...new Set(shown)].sort((one, next) => one - next));

    await asAdmin("POST", `/v1/executions/${id}/cancel`, {});
    await page.getByRole("main").getByText("cancelled", { exact: true }).first().waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    const count = page.getByText(/^[\d,]+ events$/);
    await until(async () => Number((await count.textContent())?.replace(/\D/g, "")) === (await stored(id)), {
      what: "the page to count as many events as are stored",
    });
    expect(complaints).toEqual([]);
    await context.close();
  });

  /** Numbers that stand on the console now, from the top. */
  async function numbers(page: Page): Promise<number[]> {
    const lines = await page
      .getByRole("log", { name: "Console output" })
      .getByText(/^number \d+$/)
      .allTextContents();
    return lines.map((line) => Number(line.replace("number ", "")));
  }

  /** How many events the node has of it, as one gets them who comes later. */
  async function stored(id: string): Promise<number> {
    const answer = await fetch(`${node.url}/v1/executions/${id}/stream?follow=false&verbose=true`, {
      headers: await headers(),
    });
    return (await answer.text()).split("\n").filter((line) => line.startsWith("id: ")).length;
  }
});
