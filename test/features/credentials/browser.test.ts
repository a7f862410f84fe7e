/** One consent as a person gives it: a real provider, a real browser, the page behind it (docs/reference/credentials.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server } from "node:http";
import { Provider } from "oidc-provider";
import { type Browser, chromium } from "playwright-core";
import { CredentialFixture } from "./fixture.ts";

/** Debian's, as `.ci/run` installs it. */
const program = Bun.which("chromium");

let at: CredentialFixture;
let provider: Server;
let success: Bun.Server<undefined>;
let browser: Browser;

/** A port that is free for the moment. */
function freePort(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port = 0 } = server;
  server.stop(true);
  return port;
}

async function startProvider(redirectUri: string): Promise<string> {
  // Its issuer has to be known before it is made, and its port before that.
  let answer: ReturnType<Provider["callback"]> | null = null;
  provider = createServer((request, response) => void answer?.(request, response));
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const address = provider.address();
  const issuer = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const made = new Provider(issuer, {
    clients: [
      {
        client_id: "svc",
        client_secret: "client-secret",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_basic",
      },
    ],
    issueRefreshToken: async () => true,
    features: { revocation: { enabled: true } },
    cookies: { keys: ["test"] },
  });
  answer = made.callback();
  return issuer;
}

beforeAll(async () => {
  if (program === null) return;
  success = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("<h1>Welcome back</h1>", { headers: { "Content-Type": "text/html" } }),
  });
  const port = freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const issuer = await startProvider(`${publicUrl}/v1/credentials/oauth/callback`);
  const settings = {
    name: "idp",
    issuer,
    authorization_url: `${issuer}/auth`,
    token_url: `${issuer}/token`,
    revocation_url: `${issuer}/token/revocation`,
    client_id: "svc",
    client_secret: "env:IDP_SECRET",
    client_auth: "basic",
    scopes: ["openid"],
  };
  at = await CredentialFixture.open({
    SVC_PORT: String(port),
    SVC_PUBLIC_URL: publicUrl,
    SVC_OAUTH_PROVIDERS: JSON.stringify([settings]),
    IDP_SECRET: "client-secret",
    OAUTH_SUCCESS_URL: `http://127.0.0.1:${success.port}/welcome`,
  });
  browser = await chromium.launch({
    executablePath: program,
    args: ["--no-sandbox", "--disable-background-networking"],
  });
});
afterAll(async () => {
  await browser?.close();
  await at?.close();
  provider?.closeAllConnections();
  provider?.close();
  success?.stop(true);
});

test.skipIf(program === null)("a person signs in at a provider, agrees there and here; tokens are stored", async () => {
  const ann = await at.bearer({ username: "ann", email: "ann@acme.test" }, "tenant-acme");
  const begun = (await at.call(ann, "POST", "/oauth/initiate", { provider: "idp" })).body;
  const page = await browser.newPage();
  await page.goto(begun.auth_url);
  await page.fill("input[name=login]", "ann");
  await page.fill("input[name=password]", "any");
  await page.click("button[type=submit]");
  await page.waitForSelector("text=Authorize");
  await page.click("button[type=submit]");
  await page.waitForSelector("text=Store this access?");
  const text = (await page.textContent("body")) ?? "";
  for (const part of ["idp", "ann@acme.test", "acme"]) expect(text).toContain(part);
  const record = async () => (await at.call(ann, "GET", `/${begun.credential_id}`)).body;
  expect((await record()).status).toBe("pending_oauth");
  await page.click("button");
  await page.waitForSelector("text=Welcome back");
  expect(page.url()).toBe(`http://127.0.0.1:${success.port}/welcome`);
  expect(await record()).toMatchObject({ status: "active", provider: "idp", scopes: ["openid"] });
  const rotated = await at.call(ann, "POST", `/${begun.credential_id}/rotate`);
  expect([rotated.status, rotated.body.version]).toEqual([200, 2]);
});
