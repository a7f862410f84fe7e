/** Workflows, runs and approvals in Chromium: started, watched and decided by people in windows of their own. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { chromiumPath, launchBrowser, openWindow, signIn } from "../harness/browser.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freePorts } from "../harness/redis/server.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

setDefaultTimeout(60_000);

/** What a person is asked holds text that a terminal and a page would obey. */
const hostile = "<img src=x onerror=alert(1)> \u001b[31mred\u001b[0m \u202egnp.exe";

const released = `apiVersion: svc.dev/v1
kind: Workflow
metadata:
  name: ship
  version: "1.0.0"
  input_schema:
    type: object
    required: [item]
    properties: { item: { type: string, title: Item } }
spec:
  initial_state: CHECK
  states:
    CHECK:
      kind: System
      command: "exit 3"
      transitions:
        - { condition: exit_code_non_zero, target: ASK }
        - { condition: exit_code_zero, target: DONE }
    ASK:
      kind: Human
      prompt: "Ship {{input.item}}? {{input.note}}"
      timeout: 1h
      transitions:
        - { condition: approved, target: HOLD }
        - { condition: rejected, target: STOPPED }
    HOLD:
      kind: Wait
      signal: receipt
      timeout: 1h
      transitions:
        - { condition: always, target: DONE }
    DONE: { kind: System, command: noop, transitions: [] }
    STOPPED: { kind: System, command: noop, outcome: failed, transitions: [] }
`;

/** Two versions: the second one has no state HOLD. */
const parcel = released.replaceAll("name: ship", "name: parcel");
const parcels = [
  parcel,
  parcel
    .replace('"1.0.0"', '"1.1.0"')
    .replace("approved, target: HOLD", "approved, target: DONE")
    .replace(/ {4}HOLD:[\s\S]*?(?= {4}DONE:)/, ""),
];

/** Its input has no schema. */
const greet = `apiVersion: svc.dev/v1
kind: Workflow
metadata: { name: greet, version: "1.0.0", output_template: { said: "{{input.name}}" } }
spec:
  initial_state: DONE
  states:
    DONE: { kind: System, command: noop, transitions: [] }
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
    const token = await admin();
    for (const text of [released, greet, ...parcels]) {
      const answer = await node.call("POST", "/v1/workflows", text, { Authorization: `Bearer ${token}` });
      expect(answer.status).toBe(200);
    }
  });
  afterAll(async () => {
    await browser?.close();
    await node?.dispose();
    await stores?.dispose();
  });

  const admin = () =>
    node.token({ grant_type: "password", client_id: "svc-console", username: "admin", password: "dev" });

  /** Another page of the console, without a reload. */
  const go = (page: Page, path: string) =>
    page.evaluate((to) => {
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `/console${path}`);

  async function begin(note: string): Promise<string> {
    const answer = await node.call(
      "POST",
      "/v1/workflows/ship/run",
      { input: { item: "crate", note } },
      { Authorization: `Bearer ${await admin()}` },
    );
    return answer.body.execution_id;
  }

  const card = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

  test("a run is started in one window, decided there, and moves on in another", async () => {
    const [first, second] = await Promise.all([openWindow(browser), openWindow(browser)]);
    const { page } = first;
    await Promise.all([
      signIn(page, node.url, "admin", "/workflows/ship"),
      signIn(second.page, node.url, "admin", "/approvals"),
    ]);
    await second.page.getByText("Nothing waits for a decision").waitFor();
    await page.getByRole("button", { name: "Start" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Item").fill("crate 7");
    await dialog.getByRole("button", { name: "Start", exact: true }).click();
    // What its question reads is missing: that is told before anything is begun.
    await dialog.getByRole("alert").getByText("note", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Start anyway" }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    const id = page.url().slice(-36);
    await card(page, "Waits for a person").getByText("Ship crate 7?").waitFor();
    // What failed and was reckoned with is no alarm.
    await page.getByText("failed, led on").waitFor();
    // The other window hears of it by the tenant's changes.
    const row = second.page.getByRole("list", { name: "Approvals that wait" }).getByText("Ship crate 7?");
    await row.waitFor();
    await second.page.waitForFunction(() => document.title.startsWith("(1)"));
    await row.click();
    await second.page.getByRole("article", { name: "Approval" }).getByText("Ship crate 7?").waitFor();
    // A rejection needs a reason; the key of an approval does it.
    await second.page.keyboard.press("r");
    await second.page.getByText("a rejection needs a reason").waitFor();
    await second.page.keyboard.press("Escape");
    await second.page.getByRole("heading", { level: 1 }).click();
    // A key decides only when it is pressed alone: not right after another.
    await until(
      async () => {
        await second.page.keyboard.press("a");
        return second.page.getByText("Nothing waits for a decision").isVisible();
      },
      { everyMs: 800, timeoutMs: 15_000, what: "the key to decide" },
    );
    const signal = card(page, "Waits for a signal");
    await signal.getByRole("button", { name: "Send the signal" }).click();
    await until(async () => (await run(id)).status === "completed", { what: "the run to end" });
    await page.getByRole("main").getByText("completed", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: /^DONE\W+System, success/ }).waitFor();
    expect([first.complaints, second.complaints]).toEqual([[], []]);
    await Promise.all([first.context.close(), second.context.close()]);
  });

  test("without a schema a start asks for what is read, as fields or as JSON", async () => {
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url, "admin", "/workflows/greet");
    await page.getByRole("button", { name: "Start" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("name").fill("Grace");
    await dialog.getByRole("button", { name: "Write as JSON" }).click();
    const text = dialog.getByRole("textbox", { name: "Input as JSON" });
    await text.getByText("Grace").waitFor();
    await text.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type(`{"name": "Ada"}`);
    await dialog.getByRole("button", { name: "Fill in as a form" }).click();
    expect(await dialog.getByLabel("name").inputValue()).toBe("Ada");
    await dialog.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("said:").waitFor();
    expect(await page.getByText(`"Ada"`).count()).toBe(2);
    // The colours of what was typed over are in no style attribute: the policy refuses those.
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("several approvals are decided at once; one that was decided before is told", async () => {
    const { page, context, complaints } = await openWindow(browser);
    await Promise.all(["one", "two", "three"].map(begin));
    const waiting = async (): Promise<{ id: string; prompt: string }[]> =>
      (await node.call("GET", "/v1/human-approvals", undefined, { Authorization: `Bearer ${await admin()}` })).body
        .items;
    const rows = await until(
      async () => {
        const found = (await waiting()).filter(({ prompt }) => / (one|two|three)$/.test(prompt));
        return found.length === 3 ? found : null;
      },
      { what: "three approvals" },
    );
    await signIn(page, node.url, "admin", "/approvals?q=crate");
    for (const note of ["one", "two", "three"]) await page.getByText(`Ship crate? ${note}`).waitFor();
    await page.getByRole("checkbox", { name: "Select all" }).click();
    await page.getByRole("button", { name: "Reject 3" }).click();
    const dialog = page.getByRole("dialog");
    const verb = dialog.getByRole("button", { name: "Reject them" });
    // A reason is needed.
    expect(await verb.isDisabled()).toBe(true);
    await dialog.getByLabel("The reason, for all of them").fill("not today");
    const first = rows[0]?.id ?? "";
    await node.call("POST", `/v1/human-approvals/${first}/approve`, {}, { Authorization: `Bearer ${await admin()}` });
    await verb.click();
    const outcomes = dialog.getByRole("list", { name: "What came of each" }).getByRole("listitem");
    await dialog.getByText("2 of 3 done, 1 refused").waitFor();
    expect((await outcomes.allInnerTexts()).map((text) => text.split("\n").at(-1)).sort()).toEqual([
      "already decided: approved",
      "rejected",
      "rejected",
    ]);
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await page.getByText("Nothing matches the filters").waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("the day is drawn over time, and a bar leads to what was started then", async () => {
    const { page, context, complaints } = await openWindow(browser);
    const id = await begin("drawn");
    await signIn(page, node.url, "admin", "/");
    const chart = page.getByRole("slider", { name: /^Workflow runs/ });
    await until(async () => (await chart.getAttribute("aria-valuetext"))?.includes("running") === true, {
      what: "the run in the last bar",
    });
    await chart.locator("canvas").waitFor();
    await chart.focus();
    await chart.press("End");
    await chart.press("Enter");
    await page.waitForURL(/\/runs\?after=.*before=/);
    await page.getByText(`…${id.slice(-4)}`).waitFor();
    // A quarter of an hour in which nothing was.
    await go(page, "/runs?after=2020-01-01T00:00:00.000Z&before=2020-01-01T00:15:00.000Z");
    await page.getByText("Nothing matches the filters").waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("two versions are compared by an address, state by state", async () => {
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url, "admin", "/workflows/parcel?tab=versions");
    const list = card(page, "What differs")
      .or(page.locator("section", { hasText: "What differs" }))
      .first();
    await list.getByText("1 state removed").waitFor();
    await list.getByText("1 state changed").waitFor();
    await page.getByRole("button", { name: /^HOLD\W+Wait, removed/ }).waitFor();
    await page.getByRole("button", { name: "The other way round" }).click();
    await page.waitForURL(/from=1\.1\.0/);
    await list.getByText("1 state added").waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  const run = async (id: string) =>
    (await node.call("GET", `/v1/workflows/executions/${id}`, undefined, { Authorization: `Bearer ${await admin()}` }))
      .body;

  test("a run is paused, goes on, is cancelled and retried by its buttons", async () => {
    const { page, context, complaints } = await openWindow(browser);
    const id = await begin("");
    await signIn(page, node.url, "admin", `/runs/${id}`);
    await card(page, "Waits for a person").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await card(page, "Paused").getByRole("button", { name: "Resume" }).click();
    await card(page, "Paused").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click();
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
    await page.waitForURL((url) => /\/runs\/[0-9a-f-]{36}$/.test(url.pathname) && !url.pathname.endsWith(id));
    await page.getByRole("link", { name: /^retry of/ }).waitFor();
    const again = await run(page.url().slice(-36));
    expect(again.retry_of).toBe(id);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Fork from a state" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
    await page.getByRole("link", { name: /^forked from/ }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("who may only read sees what waits, inert, and no control that would be refused", async () => {
    const { page, context, complaints } = await openWindow(browser);
    page.on("dialog", () => complaints.push("a script ran"));
    const id = await begin(hostile);
    await signIn(page, node.url, "readonly", `/runs/${id}`);
    const inertText = page.getByText("<img src=x onerror=alert(1)> red [U+202E]gnp.exe").first();
    await inertText.waitFor();
    expect(await controls(page)).toEqual([]);
    await go(page, "/workflows/ship");
    await page.getByRole("button", { name: /^ASK\W+Human/ }).waitFor();
    expect(await controls(page)).toEqual([]);
    await page.getByRole("tab", { name: "Manifest" }).click();
    await page.getByText("initial_state").first().waitFor();
    expect(await controls(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  /** Controls that change something. */
  const controls = async (page: Page): Promise<string[]> => {
    const names = await page.getByRole("main").getByRole("button").allInnerTexts();
    return names.filter((name) =>
      /^(start|register|delete|approve|reject|pause|resume|cancel|retry|fork|send)/i.test(name.trim()),
    );
  };
});
