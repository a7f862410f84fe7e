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
  test("signs in at a provider without a cookie; revoked, leads to sign-in and back", async () => {
    const { context, page, complaints } = await openWindow(browser);
    await page.goto(`${url}/console/secrets?prefix=pay`);
    await page.getByRole("button", { name: "Sign in with your organization" }).click();
    await page.getByLabel("Organization").fill("svc-system");
    await page.getByRole("button", { name: "Continue" }).last().click();
    await passTheIssuer(page);
    await page.getByRole("heading", { name: "Secrets", level: 1 }).waitFor();
    expect(page.url()).toBe(`${url}/console/secrets?prefix=pay`);

    await page.reload();
    await page.getByRole("heading", { name: "Secrets", level: 1 }).waitFor();
    expect(page.url()).toBe(`${url}/console/secrets?prefix=pay`);

    const ofConsole = (await context.cookies(`${url}/console/secrets`)).filter(
      ({ path }) => !path.startsWith("/realms"),
    );
    expect(ofConsole).toEqual([]);
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
    );
    expect(kept).not.toMatch(/eyJ|refresh|token/);

    const refresh = await withShortTokens(page, async () => {
      await page.reload();
      await page.getByRole("heading", { name: "Secrets", level: 1 }).waitFor();
    });
    await revoke(refresh);
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "API keys" }).click();
    await page.getByText("Your session has ended").waitFor();
    expect(page.url()).toBe(`${url}/console/api-keys`);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    expect(page.url()).toBe(`${url}/console/api-keys`);
    expect(complaints).toEqual([]);
    await context.close();
  });

  /** Tokens last so short that each request needs a new one. @returns the refresh token of the sign-in that `work` does */
  async function withShortTokens(page: Page, work: () => Promise<void>): Promise<string> {
    let refresh = "";
    await page.route("**/token", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as Record<string, unknown>;
      if (typeof body.refresh_token === "string") refresh = body.refresh_token;
      await route.fulfill({ response, json: { ...body, expires_in: 1 } });
    });
    await work();
    return refresh;
  }

  /** As an operator of the provider would end a session. */
  async function revoke(token: string): Promise<void> {
    const { issuer, client_id } = (await (await fetch(`${url}/v1/auth/config?tenant=svc-system`)).json()) as {
      issuer: string;
      client_id: string;
    };
    const found = await fetch(`${issuer}/.well-known/openid-configuration`);
    const { revocation_endpoint } = (await found.json()) as { revocation_endpoint: string };
    const body = new URLSearchParams({ token, client_id, token_type_hint: "refresh_token" });
    expect((await fetch(revocation_endpoint, { method: "POST", body })).status).toBe(200);
  }

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
