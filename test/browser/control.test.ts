/** Sources and stimuli in Chromium: a sender is set up and tried, what it sends is read, edited and sent in again. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { chromiumPath, launchBrowser, openWindow, signIn } from "../harness/browser.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freePorts } from "../harness/redis/server.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";

setDefaultTimeout(60_000);

const root = join(import.meta.dir, "../..");
const workflow = readFileSync(join(root, "src/features/workflows/sample/on-stimulus.yaml"), "utf8");

/** Text that a terminal and a page would obey. */
const hostile = "<script>window.obeyed = true</script> \u001b[31mred\u001b[0m \u202egnp.exe";
const shownHostile = "<script>window.obeyed = true</script> red [U+202E]gnp.exe";

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
    expect((await asAdmin("POST", "/v1/workflows", workflow)).status).toBe(200);
  });
  afterAll(async () => {
    await browser?.close();
    await node?.dispose();
    await stores?.dispose();
  });

  async function asAdmin(method: string, path: string, body?: unknown) {
    const person = { grant_type: "password", client_id: "svc-console", username: "admin", password: "dev" };
    return node.call(method, path, body, { Authorization: `Bearer ${await node.token(person)}` });
  }

  const send = async (source: string, content: unknown): Promise<string> =>
    (await asAdmin("POST", "/v1/stimuli", { source, content })).body.stimulus_id;

  test("a source is made, its secret shown once; a signed test and the snippet arrive", async () => {
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url, "admin", "/sources/new");
    await page.getByLabel("Name").fill("orders");
    await page.getByLabel("Workflow it starts").fill("on-stimulus");
    await page.getByRole("button", { name: "Make the source" }).click();
    const shown = page.getByRole("dialog", { name: "The secret of orders" });
    const snippet = (await shown.getByText("openssl dgst").textContent()) ?? "";
    await shown.getByRole("button", { name: "Send a signed test" }).click();
    await shown.getByText("The signature is right").waitFor();
    await shown.getByRole("button", { name: "I have kept it" }).click();
    const [, secret = ""] = /SECRET='([^']+)'/.exec(snippet) ?? [];
    expect(secret.length).toBeGreaterThan(15);

    await page.getByRole("tab", { name: "Deliveries" }).click();
    await page.getByText("from the console").waitFor();
    const sent = Bun.spawn(["sh", "-c", snippet], { stdout: "pipe", stderr: "pipe" });
    expect(JSON.parse(await new Response(sent.stdout).text())).toMatchObject({ status: "classified" });
    // It comes by itself, without a reload.
    await page.getByText('{"hello":"world"}').waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("a delivery is shown inert, and replayed with edited content", async () => {
    const id = await send("orders", hostile);
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url, "admin", `/stimuli/${id}`);
    const content = page.locator("pre").filter({ hasText: "gnp.exe" });
    await content.waitFor();
    expect(await content.textContent()).toBe(shownHostile);
    expect(await page.evaluate("window.obeyed")).toBeUndefined();

    await page.getByRole("button", { name: "Edit and replay" }).click();
    await page.getByRole("textbox", { name: "Content of the replay" }).fill("what was meant");
    await page.getByRole("button", { name: "Replay", exact: true }).last().click();
    await page.getByText(`replay of …${id.slice(-8)}`).waitFor();
    await page.locator("pre").filter({ hasText: "what was meant" }).waitFor();
    const again = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    expect((await asAdmin("GET", `/v1/stimuli/${again}`)).body).toMatchObject({
      content: "what was meant",
      replay_of: id,
      status: "classified",
    });
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("dead letters are discarded together", async () => {
    for (const order of [1, 2, 3]) await asAdmin("POST", "/v1/stimuli", { source: "nowhere", content: { order } });
    const { page, context } = await openWindow(browser);
    await signIn(page, node.url, "admin", "/stimuli?dead_letter=true");
    await page.getByText('{"order":3}').waitFor();
    await page.getByRole("checkbox", { name: "Select all" }).click();
    await page.getByRole("button", { name: "Discard 3" }).click();
    await page.getByRole("button", { name: "Discard", exact: true }).click();
    await page.getByText("3 of 3; 3 succeeded").waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("No dead letters").waitFor();
    expect((await asAdmin("GET", "/v1/stimuli?status=discarded")).body.items).toHaveLength(3);
    await context.close();
  });

  test("a key is made, rotated and revoked; it is shown once", async () => {
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url, "admin", "/api-keys");
    await page.getByRole("button", { name: "New API key" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("ci");
    await dialog.getByRole("checkbox").first().click();
    await dialog.getByRole("button", { name: "Create" }).click();
    const shown = page.getByRole("dialog", { name: "Your new key" });
    await shown.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    await shown.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("button", { name: "Revoke" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("revoked").first().waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});
