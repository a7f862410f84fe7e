/**
 * One story through the console, in one go on one node: an agent is deployed and watched, a person decides in one window
 * what another shows, a webhook's delivery is replayed, a command runs over hosts. Pictures of it are kept.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { EdgeFixture } from "../features/edge/fixture.ts";
import { Daemon } from "../features/edge/fleet/daemon.ts";
import { chromiumPath, launchBrowser, openWindow, signIn } from "../harness/browser.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freePorts } from "../harness/redis/server.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { isForDocs, picture } from "./pictures.ts";

setDefaultTimeout(90_000);

/** Reads orders as a model would; without a key the script below plays the model. */
const agent = `apiVersion: svc.dev/v1
kind: Agent
metadata:
  name: order-check
  version: "1.0.0"
  description: Reads an order, looks up what it says and writes a verdict
spec:
  runtime: { language: python, version: "3.12", model: default }
  task:
    instruction: |
      Read the order, check each of its lines against the stock list, and say whether it can be shipped.

      \`\`\`svc-script
      [
        {"content": "First the lines of the order.",
         "tool_calls": [{"name": "cmd.run", "arguments": {"command": "sh", "args": ["-c",
           "for line in 1 2 3 4; do echo \\"line $line of the order is in stock\\"; sleep 0.4; done"]}}]},
        {"content": "All are there. I note the verdict.",
         "tool_calls": [{"name": "fs.write", "arguments": {"path": "/workspace/verdict.md", "content": "# Verdict\\n\\nAll four lines are in stock: the order can be shipped.\\n"}}]},
        {"content": "All four lines are in stock: the order can be shipped."}
      ]
      \`\`\`
  execution: { mode: one-shot, iteration_timeout: 1m }
  tools: [cmd.run, fs.write]
  input_schema:
    type: object
    required: [order]
    properties:
      order: { type: string, title: Order, description: Its number }
      express: { type: boolean, title: Express, description: Ships today }
`;

const workflow = `apiVersion: svc.dev/v1
kind: Workflow
metadata:
  name: refund
  version: "1.0.0"
  description: A refund that a person releases
  input_schema:
    type: object
    required: [customer, amount]
    properties:
      customer: { type: string, title: Customer }
      amount: { type: number, title: Amount, minimum: 1 }
spec:
  initial_state: CHECK
  states:
    CHECK:
      kind: System
      command: 'test {{input.amount}} -lt 1000'
      transitions:
        - { condition: exit_code_zero, target: RELEASE }
        - { condition: exit_code_non_zero, target: REFUSED }
    RELEASE:
      kind: Human
      prompt: "Refund {{input.amount}} to {{input.customer}}?"
      timeout: 8h
      transitions:
        - { condition: approved, target: PAY }
        - { condition: rejected, target: REFUSED }
    PAY:
      kind: System
      command: 'echo paid {{input.amount}}'
      transitions: [{ condition: exit_code_zero, target: PAID }]
    PAID: { kind: System, command: noop, transitions: [] }
    REFUSED: { kind: System, command: noop, outcome: failed, transitions: [] }
`;

const hooks = `apiVersion: svc.dev/v1
kind: Workflow
metadata:
  name: shop-events
  version: "1.0.0"
  description: What the shop tells
spec:
  initial_state: NOTE
  states:
    NOTE:
      kind: System
      command: 'printf %s {{input.stimulus_content}} | wc -c'
      transitions: []
`;

let stores: TestStores;
let node: NodeProcess;
let browser: Browser;
const daemons: Daemon[] = [];

describe.skipIf(chromiumPath === null)("in Chromium", () => {
  beforeAll(async () => {
    stores = await freshStores();
    const [port] = await freePorts(1);
    const env = {
      SVC_PORT: String(port),
      SVC_PUBLIC_URL: `http://127.0.0.1:${port}`,
      // Daemons of the test come from addresses of their own.
      SVC_TRUSTED_PROXIES: "127.0.0.1",
    };
    [node, browser] = await Promise.all([startNodeProcess(stores, { env }), launchBrowser()]);
    for (const manifest of [workflow, hooks])
      expect((await asAdmin("POST", "/v1/workflows", manifest)).status).toBe(200);
    const edge = new EdgeFixture(stores, node);
    for (const name of ["web-1", "web-2", "web-3", "web-4", "db-1", "db-2"]) {
      const host = await edge.host(await headers(), { name, tags: ["production"] });
      daemons.push(new Daemon(node.url, host, name, edge.address()));
    }
    if (isForDocs) await before();
  });
  afterAll(async () => {
    for (const daemon of daemons) daemon.close();
    await browser?.close();
    await node?.dispose();
    await stores?.dispose();
  });

  const headers = async () => ({
    Authorization: `Bearer ${await node.token({ grant_type: "password", client_id: "svc-console", username: "admin", password: "dev" })}`,
  });
  const asAdmin = async (method: string, path: string, body?: unknown) =>
    node.call(method, path, body, await headers());

  /** A tenant of the pictures has been at work before. */
  async function before(): Promise<void> {
    for (const [name, says, count, wanted] of [
      ["mail-sorter", "Sorted as billing", 9, "Sorted"],
      ["price-watch", "No price has changed", 6, "price"],
      ["stock-feed", "The feed is empty", 2, "items of the feed"],
      ["translator", "Three pages are done", 7, "pages"],
    ] as const) {
      const manifest = agent
        .replace("order-check", name)
        .replace(/description: .*/, `description: ${says}`)
        .replace(/\[\n[\s\S]*?\n {6}\]\n/, `[{"content": "${says}"}]\n`)
        .replace(/ {2}tools: .*\n/, "")
        .replace("iteration_timeout: 1m", `validation: [{ type: regex, pattern: "${wanted}" }]`);
      const { body } = await asAdmin("POST", "/v1/agents", manifest);
      for (let start = 0; start < count; start += 1) {
        const answer = await asAdmin("POST", `/v1/agents/${body.agent_id}/execute`, { input: { order: `A-${start}` } });
        expect(answer.status).toBe(200);
      }
    }
  }

  /** Another page of the console, without a reload. */
  const go = (page: Page, path: string) =>
    page.evaluate((to) => {
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `/console${path}`);

  const shown = (page: Page, text: string | RegExp) => page.getByRole("main").getByText(text).first().waitFor();

  test("a day's work in the console, from sign-in to a command on every host", async () => {
    const [one, other] = await Promise.all([openWindow(browser), openWindow(browser)]);
    const { page } = one;
    await Promise.all([
      signIn(page, node.url, "admin", "/agents/new"),
      signIn(other.page, node.url, "admin", "/approvals"),
    ]);
    await deployed(page);
    await watched(page);
    await decided(page, other.page);
    await replayed(page);
    await onEveryHost(page);
    await go(page, "/executions");
    await shown(page, "order-check");
    await picture(page, "executions");
    // Something is under way when the day ends.
    await asAdmin("POST", "/v1/workflows/refund/run", { input: { customer: "Grace Hopper", amount: 80 } });
    await go(page, "/");
    await shown(page, "Refund 80 to Grace Hopper?");
    await until(async () => (await page.getByRole("main").locator("[aria-busy=true]").count()) === 0, {
      what: "every panel of the home to be filled",
    });
    await picture(page, "home");
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("who");
    await page.getByRole("dialog").getByText("Audit").waitFor();
    await picture(page, "search");
    expect([one.complaints, other.complaints]).toEqual([[], []]);
    await Promise.all([one.context.close(), other.context.close()]);
  });

  /** A manifest is written in the editor; the node says what is wrong with it, and takes it when nothing is. */
  async function deployed(page: Page): Promise<void> {
    const write = async (text: string) => {
      await page.getByRole("textbox", { name: "Manifest" }).focus();
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.press("Delete");
      await page.keyboard.insertText(text);
      await page.keyboard.press("ControlOrMeta+Home");
    };
    await write(agent.replace("mode: one-shot", "mode: once"));
    await page
      .getByRole("list", { name: "Findings" })
      .getByText(/^line \d+/)
      .first()
      .waitFor();
    await picture(page, "agent-editor");
    await write(agent);
    await page.getByText("Valid. Deploying makes a new agent").waitFor();
    await page.getByRole("button", { name: "Deploy" }).click();
    await page.waitForURL(/\/console\/agents\/[0-9a-f-]{36}\?tab=run/);
  }

  /** The form is made from the manifest's schema; the execution is seen while it runs, and to its end. */
  async function watched(page: Page): Promise<void> {
    await page.getByRole("textbox", { name: /^Order/ }).fill("A-1027");
    await picture(page, "run-form");
    await page.getByRole("main").getByRole("button", { name: "Run", exact: true }).last().click();
    await page.waitForURL(/\/console\/executions\//);
    await page.getByRole("option").filter({ hasText: "cmd.run" }).waitFor();
    await page.getByRole("tab", { name: "Console" }).click();
    await page.getByText("line 1 of the order is in stock").waitFor();
    await page.getByRole("main").getByText("completed", { exact: true }).first().waitFor();
    await page.getByText("line 4 of the order is in stock").waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.getByRole("option").filter({ hasText: "cmd.run" }).click();
    await picture(page, "execution");
  }

  /** What is decided in one window is seen in the other. */
  async function decided(page: Page, inbox: Page): Promise<void> {
    await inbox.getByText("Nothing waits for a decision").waitFor();
    await go(page, "/workflows/refund");
    await page.getByRole("button", { name: "Start" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Customer").fill("Ada Lovelace");
    await dialog.getByLabel("Amount").fill("120");
    await dialog.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    await page.getByRole("region", { name: "Waits for a person" }).waitFor();
    await picture(page, "run");
    await inbox.getByRole("list", { name: "Approvals that wait" }).getByText("Refund 120 to Ada Lovelace?").click();
    await inbox.getByRole("article", { name: "Approval" }).getByText("Refund 120 to Ada Lovelace?").waitFor();
    await picture(inbox, "approvals");
    await inbox
      .getByRole("article", { name: "Approval" })
      .getByRole("button", { name: /^Approve/ })
      .click();
    await inbox.getByText("Nothing waits for a decision").waitFor();
    await page.getByRole("main").getByText("completed", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: /^PAID\W+System, success/ }).waitFor();
  }

  /** A sender's signed delivery arrives in the open list, and is taken a second time. */
  async function replayed(page: Page): Promise<void> {
    await go(page, "/sources/new");
    await page.getByLabel("Name").fill("shop");
    await page.getByLabel("Workflow it starts").fill("shop-events");
    await page.getByRole("button", { name: "Make the source" }).click();
    const secret = page.getByRole("dialog", { name: "The secret of shop" });
    const snippet = (await secret.getByText("openssl dgst").textContent()) ?? "";
    await secret.getByRole("button", { name: "I have kept it" }).click();
    await go(page, "/stimuli");
    await shown(page, /./);
    const order = '{"order":"A-1027","event":"paid","total":120}';
    const sent = Bun.spawn(["sh", "-c", snippet.replace('{"hello":"world"}', order)], { stdout: "pipe" });
    expect(JSON.parse(await new Response(sent.stdout).text())).toMatchObject({ status: "classified" });
    // It comes by itself, without a reload.
    await page.getByText(order).first().click();
    await shown(page, "Payload");
    const first = page.url();
    await page.getByRole("button", { name: "Replay", exact: true }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true }).click();
    await page.waitForURL((url) => url.href !== first);
    await page.getByText(`replay of …${first.slice(-8)}`).waitFor();
    await picture(page, "delivery");
  }

  /** The hosts that a run will reach are seen before it starts, and each of them while it runs. */
  async function onEveryHost(page: Page): Promise<void> {
    for (const daemon of daemons) await daemon.connect();
    await go(page, "/fleet/run?tag=production");
    await page.getByLabel("Command").fill("systemctl restart shop");
    await shown(page, "reached now");
    await page.getByRole("button", { name: "Start on 6 hosts" }).click();
    await page.waitForURL(/\/fleet\/runs\/[0-9a-f-]{36}$/);
    const commands = await Promise.all(daemons.map((daemon) => daemon.next()));
    for (const [at, daemon] of daemons.entries()) {
      daemon.started(commands[at] ?? "");
      daemon.output(commands[at] ?? "", 0, `shop.service restarted on ${daemon.name}\n`);
    }
    for (const [at, daemon] of daemons.slice(0, 4).entries()) await daemon.result(commands[at] ?? "");
    const hosts = page.getByRole("group", { name: "Hosts" });
    await hosts.getByRole("button", { name: /^web-4\W*ok/ }).waitFor();
    await hosts.getByRole("button", { name: /^db-1/ }).click();
    await page.getByText("shop.service restarted on db-1").waitFor();
    await picture(page, "fleet-run");
    for (const at of [4, 5]) await daemons[at]?.result(commands[at] ?? "");
    await page.getByRole("main").getByText("complete", { exact: true }).first().waitFor();
  }
});
