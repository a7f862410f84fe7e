/** The pages of the embedded identity provider in a real browser, which holds them to their own policy. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type Browser, chromium } from "playwright-core";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freePorts } from "../../harness/redis/server.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { codeOf, firstOperator, shownSecret } from "./fixture.ts";

/** Debian's, as `.ci/run` installs it. */
const program = Bun.which("chromium");

let stores: TestStores;
let node: NodeProcess;
let client: Bun.Server<undefined>;
let browser: Browser;
let realm = "";

beforeAll(async () => {
  if (program === null) return;
  // A command line's own listener, at another port than the service: forms lead on to it.
  client = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("<h1>Signed in</h1>", { headers: { "Content-Type": "text/html" } }),
  });
  stores = await freshStores();
  const [port] = await freePorts(1);
  const publicUrl = `http://127.0.0.1:${port}`;
  realm = `${publicUrl}/realms/svc-system`;
  node = await startNodeProcess(stores, {
    env: {
      SVC_ISSUER: "embedded",
      SVC_PORT: String(port),
      SVC_PUBLIC_URL: publicUrl,
      SVC_ISSUER_ADMIN_EMAIL: firstOperator.email,
      SVC_ISSUER_ADMIN_PASSWORD: firstOperator.password,
    },
  });
  browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
});
afterAll(async () => {
  await browser?.close();
  client?.stop(true);
  await node?.dispose();
  await stores?.dispose();
});

test.skipIf(program === null)("a person signs in with the pages' own policy in force, and out", async () => {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
  const query = new URLSearchParams({
    client_id: "svc-cli",
    response_type: "code",
    scope: "openid",
    redirect_uri: `http://127.0.0.1:${client.port}/callback`,
    code_challenge: createHash("sha256").update("v".repeat(64)).digest("base64url"),
    code_challenge_method: "S256",
  });
  await page.goto(`${realm}/protocol/openid-connect/auth?${query}`);
  await page.fill("#email", firstOperator.email);
  await page.fill("#password", firstOperator.password);
  await page.click("button");
  await page.fill("#password", "a password of my own");
  await page.click("button");
  const secret = shownSecret(await page.content());
  await page.fill("#code", codeOf(secret));
  await page.click("button");
  await page.click("text=I have kept them");
  await page.click("text=Let it in");
  await page.waitForURL(`http://127.0.0.1:${client.port}/callback?**`);
  expect(await page.textContent("h1")).toBe("Signed in");
  expect(new URL(page.url()).searchParams.get("code")).toBeTruthy();

  await page.goto(`${realm}/account`);
  expect(await page.textContent("h1")).toBe("Your account");
  await page.goto(`${realm}/reset#the-token-of-a-link`);
  expect(await page.inputValue("#token")).toBe("the-token-of-a-link");
  expect(page.url()).toBe(`${realm}/reset`);
  await page.goto(`${realm}/protocol/openid-connect/logout`);
  await page.click("button");
  await page.waitForSelector("text=You are signed out");
  await page.goto(`${realm}/account`);
  expect(await page.textContent("h1")).toBe("Sign in");
  // The icon that browsers ask for by themselves is none of the pages'.
  expect(faults.filter((text) => !text.includes("favicon") && !text.includes("404"))).toEqual([]);
});
