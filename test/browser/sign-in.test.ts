/** Signing in to the console: at a real identity provider, and in development. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { codeOf, firstOperator, shownSecret } from "../features/embedded-issuer/fixture.ts";
import { chromiumPath, launchBrowser, openWindow, signIn } from "../harness/browser.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freePorts } from "../harness/redis/server.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";

let browser: Browser;
let stores: TestStores;
let embedded: NodeProcess;
let development: NodeProcess;
let url = "";

beforeAll(async () => {
  if (chromiumPath === null) return;
  stores = await freshStores();
  const [port, other] = await freePorts(2);
  url = `http://127.0.0.1:${port}`;
  const common = { SVC_ISSUER_ADMIN_EMAIL: firstOperator.email, SVC_ISSUER_ADMIN_PASSWORD: firstOperator.password };
  [embedded, development, browser] = await Promise.all([
    startNodeProcess(stores, {
      env: { ...common, SVC_ISSUER: "embedded", SVC_PORT: String(port), SVC_PUBLIC_URL: url },
    }),
    freshStores().then((own) =>
      startNodeProcess(own, { env: { SVC_PORT: String(other), SVC_PUBLIC_URL: `http://127.0.0.1:${other}` } }),
    ),
    launchBrowser(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await embedded?.dispose();
  await development?.dispose();
  await stores?.dispose();
});

/** The first operator at the issuer: a password of the own, an authenticator, recovery codes. */
async function passTheIssuer(page: Page): Promise<void> {
  await page.fill("#email", firstOperator.email);
  await page.fill("#password", firstOperator.password);
  await page.click("button");
  await page.fill("#password", "a password of my own");
  await page.click("button");
  const secret = shownSecret(await page.content());
  await page.fill("#code", codeOf(secret));
  await page.click("button");
  await page.click("text=I have kept them");
}

describe.skipIf(chromiumPath === null)("the console", () => {
  test("signs in at an identity provider, keeps no cookie, and comes back to its page", async () => {
    const { context, page, complaints } = await openWindow(browser);
    await page.goto(`${url}/console/secrets`);
    await page.getByRole("button", { name: "Sign in with your organization" }).click();
    await page.getByLabel("Organization").fill("svc-system");
    await page.getByRole("button", { name: "Continue" }).last().click();
    await passTheIssuer(page);
    await page.getByRole("heading", { name: "Secrets", level: 1 }).waitFor();
    expect(page.url()).toBe(`${url}/console/secrets`);

    await page.reload();
    await page.getByRole("heading", { name: "Secrets", level: 1 }).waitFor();
    expect(page.url()).toBe(`${url}/console/secrets`);

    const ofConsole = (await context.cookies(`${url}/console/secrets`)).filter(
      ({ path }) => !path.startsWith("/realms"),
    );
    expect(ofConsole).toEqual([]);
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
    );
    expect(kept).not.toMatch(/eyJ|refresh|token/);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("renews a token that ends, without losing what was typed", async () => {
    const { context, page, complaints } = await openWindow(browser);
    let asked = 0;
    await page.route("**/openid-connect/token", async (route) => {
      asked += 1;
      const response = await route.fetch();
      const body = (await response.json()) as Record<string, unknown>;
      // So short that each request needs a new one.
      await route.fulfill({ response, json: { ...body, expires_in: 1 } });
    });
    await signIn(page, development.url, "admin", "/secrets");
    const before = asked;
    await page.getByRole("button", { name: "New secret" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Path").fill("payments/key");
    await dialog.getByLabel("Value").fill("very secret");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("gridcell", { name: "payments/key Copy" }).waitFor();
    expect(asked).toBeGreaterThan(before);
    expect(await page.content()).not.toContain("very secret");
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("a caller who may only read sees no control that would be refused", async () => {
    const { context, page } = await openWindow(browser);
    await signIn(page, development.url, "readonly", "/api-keys");
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    await page.goto(`${development.url}/console/admin/tenants`);
    await page.getByRole("heading", { name: "Tenants", level: 1 }).waitFor();
    expect(await page.getByRole("button", { name: "New tenant" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Secrets" }).count()).toBe(0);
    await context.close();
  });
});
