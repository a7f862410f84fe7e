/** Tools, security contexts and signed sessions in Chromium, with a real server of tools. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { createClient } from "../../src/programs/client/client.ts";
import { callSigned, openSession } from "../../src/programs/client/seal.ts";
import { chromiumPath, launchBrowser, openWindow, signIn } from "../harness/browser.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { legacyRemote, type RemoteTools } from "../harness/outside/remote-tools.ts";
import { type ToolServerPrograms, toolServerPrograms } from "../harness/outside/tool-servers.ts";
import { freePorts } from "../harness/redis/server.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

setDefaultTimeout(60_000);

/** Text that a terminal and a page would obey. */
const hostile = "<script>window.obeyed = true</script> \u001b[31mred\u001b[0m \u202egnp.exe";
const shownHostile = "<script>window.obeyed = true</script> red [U+202E]gnp.exe";

let stores: TestStores;
let node: NodeProcess;
let browser: Browser;
let programs: ToolServerPrograms;
let remote: RemoteTools;

describe.skipIf(chromiumPath === null)("in Chromium", () => {
  beforeAll(async () => {
    [stores, programs] = await Promise.all([freshStores(), toolServerPrograms("everything")]);
    remote = legacyRemote();
    const [port] = await freePorts(1);
    const env = {
      // The page asks the issuer, whose address is the node's public one.
      ...{ SVC_PORT: String(port), SVC_PUBLIC_URL: `http://127.0.0.1:${port}` },
      ...{ SVC_TOOL_SERVER_PATHS: programs.directory, SVC_EGRESS_ALLOW_PRIVATE: '["127.0.0.1"]' },
    };
    [node, browser] = await Promise.all([startNodeProcess(stores, { env }), launchBrowser()]);
    const changing = { name: "changing", transport: "streamable_http", url: remote.url };
    expect((await asAdmin("POST", "/v1/tool-servers", changing)).status).toBe(201);
  });
  afterAll(async () => {
    await browser?.close();
    await node?.dispose();
    await stores?.dispose();
    await remote?.stop();
  });

  const admin = { grant_type: "password", client_id: "svc-console", username: "admin", password: "dev" };
  const asAdmin = async (method: string, path: string, body?: unknown) =>
    node.call(method, path, body, { Authorization: `Bearer ${await node.token(admin)}` });

  test("a server is added, mended at its field; its tool is called, signed, shown inert", async () => {
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url, "admin", "/tools/new-server");
    await page.getByLabel("Name").fill("everything");
    await page.getByLabel("Executable").fill("/usr/../node");
    await page.getByLabel("Arguments").fill(programs.program("everything"));
    await page.getByRole("button", { name: "Add the server" }).click();
    await page.getByText("must be a name, or a plain absolute path").waitFor();
    await page.getByLabel("Executable").fill(programs.executable);
    await page.getByRole("button", { name: "Add the server" }).click();
    await page.waitForURL(/\/console\/tools\/servers\/everything/);
    // Its tools come by themselves once it runs.
    await page.getByRole("link", { name: "everything.echo" }).click();
    await page.getByRole("button", { name: "Call it" }).click();
    await page.getByText("is required").waitFor();
    await page.getByRole("textbox", { name: /message/ }).fill(hostile);
    await page.getByRole("button", { name: "Call it" }).click();
    await page.getByText("Session ended").waitFor();
    expect(await page.getByText("gnp.exe").last().textContent()).toBe(`Echo: ${shownHostile}`);
    expect(await page.evaluate("window.obeyed")).toBeUndefined();
    await page.getByRole("link", { name: "The record of this call" }).click();
    await page.getByText("signed", { exact: true }).waitFor();
    const { items } = (await asAdmin("GET", "/v1/tool-invocations?tool_name=everything.echo")).body;
    expect(items).toMatchObject([{ entry: "seal", decision: "allow", outcome: "success", execution_id: null }]);
    const session = (await asAdmin("GET", `/v1/seal/sessions/${items[0].session_id}`)).body;
    expect(session).toMatchObject({ detached: true, status: "revoked", calls: 1 });
    const others = await asAdmin("GET", `/v1/tool-invocations?session_id=${crypto.randomUUID()}`);
    expect(others.body.items).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("a changed tool is compared with what was accepted, and accepted", async () => {
    const changing = async () => (await asAdmin("GET", "/v1/tool-servers/changing")).body;
    await until(async () => (await changing()).tools_count > 0);
    remote.change();
    await until(async () => (await changing()).withheld_tools.length === 2);
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url, "admin", "/tools");
    await page.getByRole("link", { name: "Look at the changes" }).click();
    await page.getByText('"Says it again (1)"').waitFor();
    await page.getByText('"Says it again (2)"').waitFor();
    await page.getByRole("button", { name: "Accept all 2" }).click();
    await page.getByRole("button", { name: "Accept", exact: true }).click();
    await page.getByText("Accepted", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Waits for acceptance" }).waitFor({ state: "detached" });
    expect((await changing()).withheld_tools).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("a context is mended at its line; it names the rule; a call waits for a person", async () => {
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url, "admin", "/security-contexts/-/new");
    await page.getByLabel("Name").fill("careful");
    await write(page, "capabilities:\n  - tool_pattern: everything.*\n    approve: {}\n");
    await page.getByRole("list", { name: "Findings" }).getByText("line 3").waitFor();
    expect(await page.getByRole("button", { name: "Make it" }).isDisabled()).toBe(true);
    const rules =
      "capabilities:\n  - tool_pattern: everything.*\n    approval: { quorum: 1 }\n" +
      "  - { tool_pattern: fs.*, path_allowlist: [/workspace] }\ndeny_list: [fs.delete]\n";
    await write(page, rules);
    await page.getByText("Valid. careful can be named at once").waitFor();
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByText("A person is asked about every call").waitFor();

    await page.getByRole("tab", { name: "May this call?" }).click();
    await page.getByLabel("Tool").fill("fs.delete");
    await page.getByRole("textbox", { name: /path/ }).fill("notes.md");
    await page.getByRole("button", { name: "May it?" }).click();
    await page.getByText("It may not").waitFor();
    await page.getByText("of the deny list covers it").waitFor();
    await page.getByLabel("Tool").fill("fs.read");
    await page.getByRole("textbox", { name: /path/ }).fill("/etc/passwd");
    await page.getByRole("button", { name: "May it?" }).click();
    const deciding = page.locator("section").filter({ hasText: "The rule that decides" });
    await deciding.getByTitle("rule 2").waitFor();
    await deciding.getByText("/etc/passwd").waitFor();
    await page.getByRole("textbox", { name: /path/ }).fill("notes.md");
    expect(await deciding.count()).toBe(0);
    await page.getByRole("button", { name: "May it?" }).click();
    await page.getByText("It may", { exact: true }).waitFor();

    await go(page, "/tools/everything.get-sum");
    await page.getByLabel("Security context").click();
    await page.getByRole("option", { name: "careful" }).click();
    await page.getByRole("spinbutton", { name: /^a/ }).fill("2");
    await page.getByRole("spinbutton", { name: /^b/ }).fill("40");
    await page.getByRole("button", { name: "Call it" }).click();
    await page.getByText("A person is asked first").waitFor();
    const [approval] = (await asAdmin("GET", "/v1/human-approvals?status=pending")).body.items;
    expect((await asAdmin("POST", `/v1/human-approvals/${approval.id}/approve`, {})).status).toBe(200);
    await page.getByText("The sum of 2 and 40 is 42.").waitFor();
    await page.getByText("Session ended").waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("a session is revoked, and its next call refused", async () => {
    const client = createClient({ url: node.url, token: () => node.token(admin) });
    const session = await openSession(client);
    const call = { name: "svc.agent.list", arguments: {} };
    expect((await callSigned(client, session, call)).result).toMatchObject({ status: "success" });
    const { page, context, complaints } = await openWindow(browser);
    await signIn(page, node.url, "admin", "/seal-sessions");
    await page.getByRole("link", { name: `…${session.id.slice(-8)}` }).click();
    await page.getByRole("link", { name: "svc.agent.list" }).waitFor();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByLabel("Reason").fill("lost laptop");
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("a person or program revoked it").waitFor();
    await expect(callSigned(client, session, call)).rejects.toMatchObject({ status: 401, code: "session_inactive" });
    expect(complaints).toEqual([]);
    await context.close();
  });

  /** Pages that have controls of their own, and a text of each. */
  const controlled = [
    ["/tools", "everything"],
    ["/tools/servers/everything", "How it is reached"],
    ["/tools/everything.get-sum", "What it takes"],
    ["/security-contexts", "careful"],
    ["/security-contexts/careful", "What it opens"],
    ["/security-contexts/careful?tab=try&tool=fs.read", "Who calls"],
    ["/seal-sessions?status=all", "detached"],
  ] as const;

  test("a caller who may only read sees no control that would be refused", async () => {
    const { page, context } = await openWindow(browser);
    await signIn(page, node.url, "readonly");
    const control = /^(Add a server|Restart|More|Accept|Call it|New context|Delete|Save|Revoke|Make it)/;
    for (const [path, seen] of controlled) {
      await go(page, path);
      await page.getByRole("main").getByText(seen, { exact: true }).first().waitFor();
      const shown = await page.getByRole("main").getByRole("button", { name: control }).allTextContents();
      const tabs = await page
        .getByRole("main")
        .getByRole("tab", { name: /^(Settings|Edit|Try it)$/ })
        .count();
      expect([path, shown, tabs]).toEqual([path, [], 0]);
    }
    await context.close();
  });

  /** Another page of the console, without a reload. */
  const go = (page: Page, path: string) =>
    page.evaluate((to) => {
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `/console${path}`);

  // Emptied by keys first: text put over text makes Chromium carry styles along, which the page's policy refuses.
  const write = async (page: Page, text: string) => {
    await page.getByRole("textbox", { name: "Security context" }).focus();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(text);
  };
});
