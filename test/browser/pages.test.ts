/** Every page of the console on one filled node: readable by all, at every size, in both themes, and by the keyboard alone. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { PageEntry } from "../../src/console/app/page-entry.ts";
import { createClient } from "../../src/programs/client/client.ts";
import { callSigned, openSession } from "../../src/programs/client/seal.ts";
import { chromiumPath, launchBrowser, openWindow, signIn } from "../harness/browser.ts";
import { axe, axeFaults, frameFaults, namelessControls, tooWide } from "../harness/console/faults.ts";
import { type Call, type Filled, fillTenant } from "../harness/console/fill.ts";
import { longWorkflowName } from "../harness/console/manifests.ts";
import { letter, type Signed, type Visit, visits } from "../harness/console/visits.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freePorts } from "../harness/redis/server.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";

setDefaultTimeout(120_000);

const root = join(import.meta.dir, "../..");

interface Look {
  readonly colorScheme: "light" | "dark";
  readonly viewport: { readonly width: number; readonly height: number };
}

/** Every page of every `pages.ts` that there is. */
async function declaredPages(): Promise<readonly PageEntry[]> {
  const files = new Bun.Glob("src/console/pages/*/pages.ts").scanSync({ cwd: root, absolute: true });
  const rooms = await Promise.all(Array.from(files, (file) => import(file) as Promise<Record<string, unknown>>));
  return rooms.flatMap((room) => Object.values(room) as (readonly PageEntry[])[]).flat();
}

test("no page escapes: each path of the router has an address to visit", async () => {
  expect(Object.keys(visits).sort()).toEqual((await declaredPages()).map(({ path }) => path).sort());
});

let stores: TestStores;
let node: NodeProcess;
let browser: Browser;
let filled: Filled & Signed;

describe.skipIf(chromiumPath === null)("in Chromium", () => {
  beforeAll(async () => {
    stores = await freshStores();
    const [port] = await freePorts(1);
    // The page asks the issuer, whose address is the node's public one.
    const env = { SVC_PORT: String(port), SVC_PUBLIC_URL: `http://127.0.0.1:${port}` };
    [node, browser] = await Promise.all([startNodeProcess(stores, { env }), launchBrowser()]);
    const person = { grant_type: "password", client_id: "svc-console", username: "admin", password: "dev" };
    const token = await node.token(person);
    const authorization = { Authorization: `Bearer ${token}` };
    const call: Call = (method, path, body, headers) => node.call(method, path, body, { ...authorization, ...headers });
    const records = await fillTenant(node.url, call);
    const client = createClient({ url: node.url, token: async () => token });
    const session = await openSession(client);
    await callSigned(client, session, { name: "svc.agent.list", arguments: {} });
    const { items } = (await call("GET", `/v1/tool-invocations?session_id=${session.id}`)).body;
    filled = { ...records, session: session.id, call: items[0].id };
    await stores.sql`
      insert into runtime_dead_letters (id, partition, kind, key, tenant, message_id, type, body, error, attempts, created_at)
      values (${letter}, 0, 'execution', ${letter}, 'svc-system', 'm', 'unheard_of', '{"why": "a test"}',
        ${`it broke: ${"again and again ".repeat(40)}`}, 3, now())`;
  });
  afterAll(async () => {
    filled?.close();
    await browser?.close();
    await node?.dispose();
    await stores?.dispose();
  });

  /** A window that also gathers every error that the console of the browser shows. */
  async function signedIn(person = "admin", path = "/executions", look: Partial<Look> = {}) {
    const opened = await openWindow(browser, { reducedMotion: "reduce", colorScheme: "light", ...look });
    opened.page.on("console", (message) => {
      const isExpected = /status of (404|501)/.test(message.text());
      if (message.type() === "error" && !isExpected) opened.complaints.push(message.text().slice(0, 300));
    });
    await signIn(opened.page, node.url, person, path);
    return opened;
  }

  /** Another page of the console, without a reload, until it is there. */
  async function go(page: Page, [path, heading]: Visit): Promise<void> {
    await page.evaluate((to) => {
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `/console${path}`);
    await page.waitForFunction(
      ({ to, named }) =>
        location.pathname + location.search === to &&
        document.querySelector("main h1")?.textContent === named &&
        document.querySelector("main [aria-busy=true]") === null,
      { to: `/console${path}`, named: heading },
    );
  }

  test("every page: axe, names, titles, no complaint; light at 1280, dark at 400 px", async () => {
    const all = Object.values(visits).flatMap((of) => of(filled));
    const faults: string[] = [];
    const walk = async (look: Look, check: (page: Page, heading: string) => Promise<readonly string[]>) => {
      const { page, context, complaints } = await signedIn("admin", "/executions", look);
      await page.evaluate(axe);
      // What stands around every page is looked at once.
      const found = (await axeFaults(page, "document")).map((fault) => `${look.colorScheme}, around: ${fault}`);
      for (const visit of all) {
        const [path, heading] = visit;
        const isThere = await go(page, visit).then(
          () => true,
          () => false,
        );
        const seen = isThere
          ? await check(page, heading)
          : [`not reached: ${await page.locator("h1").allTextContents()}`];
        found.push(...[...seen, ...complaints.splice(0)].map((fault) => `${look.colorScheme} ${path}: ${fault}`));
      }
      faults.push(...found);
      await context.close();
    };
    await Promise.all([
      walk({ colorScheme: "light", viewport: { width: 1280, height: 800 } }, async (page, heading) => [
        ...(await page.evaluate(frameFaults, heading)),
        ...(await page.evaluate(namelessControls)),
        ...(await axeFaults(page, "main")),
      ]),
      walk({ colorScheme: "dark", viewport: { width: 400, height: 800 } }, async (page) => [
        ...(await page.evaluate(tooWide)),
        ...(await axeFaults(page, "main", ["color-contrast", "link-in-text-block", "scrollable-region-focusable"])),
      ]),
    ]);
    expect(faults).toEqual([]);
  });

  test("forms by their addresses, for a reader: what is lacking, and no form", async () => {
    const { page, context, complaints } = await signedIn("readonly");
    const forms = (await declaredPages()).flatMap(({ path, form }) => (form === undefined ? [] : [{ path, ...form }]));
    // What makes a record and has an address of its own.
    const made = Object.keys(visits).filter((path) => /\/(new[\w-]*|run)$/.test(path));
    expect(forms.map(({ path }) => path).sort()).toEqual(made.sort());
    const shown: Record<string, string> = {};
    const fields = "main :is(input, textarea, select, [role=textbox], button)";
    for (const { path, title } of forms) {
      await go(page, [path, title]);
      const text = (await page.locator("main").textContent()) ?? "";
      shown[path] = `${/the scope (\S+)\./.exec(text)?.[1]} ${await page.locator(fields).count()}`;
    }
    expect(shown).toEqual(Object.fromEntries(forms.map(({ path, scope }) => [path, `${scope} 0`])));
    // A tab that is not for them is not there, and another one is shown.
    for (const [path, heading] of [
      [`/sources/${filled.source}?tab=settings`, "orders"],
      ["/security-contexts/careful?tab=edit", "careful"],
      ["/tools/servers/crm?tab=settings", "crm"],
      [`/agents/${filled.agent}?tab=run`, "releaser"],
    ] as const) {
      await go(page, [path, heading]);
      expect([path, await page.locator("main [role=tab][aria-selected=true]").first().textContent()]).toEqual([
        path,
        path.startsWith("/security") ? "Rules" : "Overview",
      ]);
      expect(await page.locator("main [role=tabpanel]").first().textContent()).not.toBe("");
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("a list without a row that fits the filters says so, and clears them", async () => {
    const { page, context } = await signedIn();
    const faults: string[] = [];
    for (const [path, heading] of [
      ["/admin/dead-letters?in_tenant=nowhere", "Dead letters"],
      ["/admin/limits?in_tenant=nowhere", "Overrides of limits"],
      ["/admin/incidents?type=nothing", "Incidents"],
      ["/agents?q=nothing-is-named-so", "Agents"],
      ["/workflows?q=nothing-is-named-so", "Workflows"],
      ["/runs?q=nothing-is-named-so", "Runs"],
      ["/approvals?q=nothing-is-named-so", "Approvals"],
      ["/stimuli?source=nothing", "Stimuli"],
      ["/fleet?tag=nothing", "Fleet"],
      ["/secrets?prefix=nothing/", "Secrets"],
      ["/audit?actor=no-person", "Audit log"],
    ] as const) {
      await go(page, [path, heading]);
      const button = page.getByRole("main").getByRole("button", { name: "Clear the filters" });
      const said = await button.waitFor({ timeout: 3_000 }).then(
        () => true,
        () => false,
      );
      if (!said) faults.push(path);
    }
    expect(faults).toEqual([]);
    await go(page, ["/admin/dead-letters?in_tenant=nowhere", "Dead letters"]);
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("grid").getByText("unheard_of").waitFor();
    expect(new URL(page.url()).search).toBe("");
    const served = await fetch(`${node.url}/console/admin/dead-letters?in_tenant=nowhere&kind=stimulus`);
    expect([served.status, served.headers.get("x-svc-warnings")]).toEqual([200, null]);
    await context.close();
  });

  test("a record that is not there: the page says so, with code and request id", async () => {
    const { page, context, complaints } = await signedIn();
    const faults: string[] = [];
    const nothing = "01920000-0000-7000-8000-000000000001";
    let last: string | null = null;
    // A tool is looked up in the list of all tools: its page says in its own words that it is not there.
    const ofRecords = Object.keys(visits).filter((one) => one.includes("$") && one !== "/tools/$name");
    for (const path of ofRecords) {
      await page.evaluate(
        (to) => {
          history.pushState(null, "", to);
          dispatchEvent(new PopStateEvent("popstate"));
        },
        `/console${path.replace(/\$\w+/, nothing)}`,
      );
      // Each refusal has an id of its own: the one of the page before does not count.
      const seen: string | null = await page
        .waitForFunction(
          (before: string | null) => {
            const text = document.querySelector("main [role=alert]")?.textContent ?? null;
            const isNew = text !== null && text !== before && document.querySelectorAll("h1").length === 1;
            return isNew ? text : null;
          },
          last as string | null,
          { timeout: 5_000 },
        )
        .then((found) => found.jsonValue())
        .catch(() => null);
      if (seen === null || !/404.*not_found.*request/s.test(seen)) faults.push(`${path}: ${seen}`);
      last = seen;
    }
    expect([faults, complaints]).toEqual([[], []]);
    await context.close();
  });

  test("a tenant that has nothing yet: every place says what to do, and none is too wide", async () => {
    const { page, context, complaints } = await signedIn("ada", "/", { viewport: { width: 400, height: 800 } });
    const links = page.locator("nav[aria-label=Pages] a");
    const paths = await links.evaluateAll((found) => found.map((link) => link.getAttribute("href") ?? ""));
    const places = Object.values(visits).flatMap((of) => of(filled));
    const faults: string[] = [];
    for (const href of paths) {
      const path = href.replace(/^\/console\/?/, "/");
      const visit = places.find(([known]) => known === path);
      if (visit === undefined) throw new Error(`${path} leads nowhere that is known`);
      await go(page, visit);
      faults.push(...(await page.evaluate(tooWide)).map((fault) => `${path}: ${fault}`));
      const alerts = await page.getByRole("main").getByRole("alert").allTextContents();
      faults.push(...alerts.map((text) => `${path}: ${text}`));
    }
    expect(paths.length).toBeGreaterThan(12);
    expect([faults, complaints]).toEqual([[], []]);
    await context.close();
  });

  test("by the keyboard: palette, list, selection, dialog; the focus comes back", async () => {
    const { page, context, complaints } = await signedIn("admin", "/");
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Go to" });
    await palette.waitFor();
    await page.keyboard.type("executions");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/console\/executions$/);
    await palette.waitFor({ state: "detached" });
    const row = page.getByRole("grid").getByRole("row");
    await row.nth(3).waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    const current = page.locator("[data-current]");
    expect(await current.getAttribute("aria-rowindex")).toBe("3");
    await page.keyboard.press("x");
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/console\/executions\/[0-9a-f-]{36}/);

    await go(page, [`/executions/${filled.execution.waiting}`, "releaser"]);
    await page.getByRole("main").getByRole("button", { name: "Cancel" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    // The focus stays inside while it is open.
    for (let step = 0; step < 6; step++) await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.closest("[role=dialog]") !== null)).toBe(true);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await focused()).toBe("Cancel");
    await page.keyboard.press("Control+k");
    await palette.waitFor();
    // Records are found by a part of their names.
    await page.keyboard.type("releas");
    await palette.getByRole("option", { name: "Agent releaser" }).waitFor();
    await palette.getByRole("combobox").fill(longWorkflowName.slice(5, 20));
    await palette.getByRole("option", { name: `Workflow ${longWorkflowName}` }).waitFor();
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
    expect(await focused()).toBe("Cancel");
    // What has the focus is seen to have it.
    await page.keyboard.press("Tab");
    const ring = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
    expect(ring).not.toBe("none");
    expect(complaints).toEqual([]);
    await context.close();
  });
});
