/** Who the command line calls as, and which service: contexts, sign-ins at a real issuer, renewal of tokens. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "../../features/embedded-issuer/browser.ts";
import { codeOf, firstOperator, shownSecret } from "../../features/embedded-issuer/fixture.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freePorts } from "../../harness/redis/server.ts";
import { scratch } from "../../harness/scratch.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { type SvcOptions, svc } from "./harness.ts";

let stores: TestStores;
let node: NodeProcess;
let browser: Browser;
/** Of one person's machine. */
const home = { XDG_CONFIG_HOME: scratch("svc-config") };
const file = (name: string) => join(home.XDG_CONFIG_HOME, "svc", name);
const tokens = () => JSON.parse(readFileSync(file("tokens.json"), "utf8"));

beforeAll(async () => {
  stores = await freshStores();
  const [port] = await freePorts(1);
  const publicUrl = `http://127.0.0.1:${port}`;
  node = await startNodeProcess(stores, {
    env: {
      ...{ SVC_ISSUER: "embedded", SVC_PORT: String(port), SVC_PUBLIC_URL: publicUrl },
      ...{ SVC_ISSUER_ADMIN_EMAIL: firstOperator.email, SVC_ISSUER_ADMIN_PASSWORD: firstOperator.password },
    },
  });
  browser = new Browser(publicUrl, () => node.url);
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

const here = (words: readonly string[], options: SvcOptions = {}) =>
  svc(words, { ...options, env: { ...home, ...options.env } });

/** The address in what the command line tells. */
const addressIn = (text: string) => /https?:\/\/\S+/.exec(text)?.[0];

/** Begins a sign-in, and has a person do what it asks for. */
async function signedIn(words: readonly string[], person: (address: string, told: string) => Promise<void>) {
  let acts: Promise<void> | null = null;
  const said = await here(words, {
    heard: (text) => {
      const address = addressIn(text);
      if (address !== undefined) acts ??= person(address, text);
    },
  });
  await acts;
  return said;
}

/** The page leads back to the command line: what a real browser would ask for. */
async function ledBack(): Promise<void> {
  for (const [name, value] of [
    ["step", "done"],
    ["step", "consent"],
  ] as const)
    await browser.submit({}, [name, value]).catch(() => {});
  const back = browser.shown?.url;
  if (back?.pathname !== "/callback") throw new Error(`not led back: ${back} ${browser.shown?.html}`);
  const state = new URL(back);
  state.searchParams.set("state", "another");
  expect((await fetch(state)).status).toBe(400);
  expect(await (await fetch(back)).text()).toContain("You are signed in");
}

test("a person signs in with the browser, and no other user can read the tokens", async () => {
  const realm = ["login", node.url, "--tenant", "svc-system", "--context", "mine"];
  const said = await signedIn(realm, async (address) => {
    await browser.open(address);
    await browser.submit({ email: firstOperator.email, password: firstOperator.password });
    const set = await browser.submit({ password: "a password of my own" });
    await browser.submit({ code: codeOf(shownSecret(set.html)) });
    await ledBack();
  });
  expect([said.code, said.err.includes("Open this address")]).toEqual([0, true]);
  expect(statSync(file("tokens.json")).mode & 0o777).toBe(0o600);
  expect(readFileSync(file("config.yaml"), "utf8")).not.toContain(tokens().mine.refresh_token);
  expect((await here(["whoami", "--json"])).json).toMatchObject({
    ...{ url: node.url, context: "mine", tenant: "svc-system", identity: "login", name: firstOperator.email },
    role: "admin",
  });
  expect((await here(["agents", "list", "--json"])).json).toEqual([]);
  expect((await here(["context", "list", "--json"])).json).toEqual([
    { name: "mine", url: node.url, tenant: "svc-system", current: true },
  ]);
});

test("two commands that renew at once spend the refresh token once", async () => {
  const before = tokens().mine;
  writeFileSync(file("tokens.json"), JSON.stringify({ mine: { ...before, expires_at: 0 } }), { mode: 0o600 });
  const program = join(import.meta.dir, "../../../src/programs/svc/main.ts");
  const children = [1, 2, 3].map(() =>
    Bun.spawn([process.execPath, program, "token"], {
      env: { PATH: process.env.PATH, ...home },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
  const said = await Promise.all(children.map((child) => new Response(child.stdout).text()));
  expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0]);
  expect(new Set(said).size).toBe(1);
  expect(tokens().mine.refresh_token).not.toBe(before.refresh_token);
  // A token that was spent twice would have ended the whole sign-in.
  writeFileSync(file("tokens.json"), JSON.stringify({ mine: { ...tokens().mine, expires_at: 0 } }));
  expect((await here(["whoami"])).code).toBe(0);
});

test("a refused token is renewed; what is refused for good says what to do", async () => {
  const good = tokens().mine;
  writeFileSync(file("tokens.json"), JSON.stringify({ mine: { ...good, access_token: "none" } }));
  expect((await here(["agents", "list"])).code).toBe(0);
  const lost = { ...tokens().mine, access_token: "none", refresh_token: "none" };
  writeFileSync(file("tokens.json"), JSON.stringify({ mine: lost }));
  const said = await here(["agents", "list"]);
  expect([said.code, said.err]).toEqual([3, expect.stringContaining("svc login")]);
});

test("a device is confirmed with another browser", async () => {
  const said = await signedIn(
    ["login", node.url, "--tenant", "svc-system", "--context", "device", "--device"],
    async (address, told) => {
      const code = /code is ([A-Z]{4}-[A-Z]{4})/.exec(told)?.[1] ?? "";
      await browser.open(address);
      await browser.submit({ user_code: code });
      await browser.submit({}, ["confirm", "yes"]);
      if (browser.shown?.html.includes("consent") === true)
        await browser.submit({}, ["step", "consent"]).catch(() => {});
      expect(browser.shown?.html).toContain("The device is connected");
    },
  );
  expect(said.code).toBe(0);
  expect((await here(["whoami", "--json"])).json).toMatchObject({ context: "device", name: firstOperator.email });
});

test("the environment beats contexts, and options beat both", async () => {
  const key = (await here(["token"])).out.trim();
  const other = await here(["context", "set", "other", "--url", "https://svc.invalid", "--tenant", "acme"]);
  expect(other.code).toBe(0);
  expect((await here(["context", "use", "other"])).code).toBe(0);
  expect((await here(["agents", "list"])).code).toBe(5);
  const env = { SVC_API_URL: node.url, SVC_USER_TOKEN: key, SVC_TENANT: "svc-system" };
  expect((await here(["whoami", "--json"], { env })).json).toMatchObject({
    url: node.url,
    context: null,
    tenant: "svc-system",
  });
  const wrong = { ...env, SVC_API_URL: "https://svc.invalid", SVC_USER_TOKEN: "none" };
  const beaten = await here(["whoami", "--json", "--url", node.url, "--api-key", key], { env: wrong });
  expect(beaten.json).toMatchObject({ url: node.url, source: "--api-key" });
  expect((await here(["agents", "list", "--context", "device"])).code).toBe(0);
});

test("what was given for one service is sent to no other one", async () => {
  const heard: (string | null)[] = [];
  const stranger = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      heard.push(request.headers.get("Authorization"));
      return Response.json({ error: "no", code: "invalid_token" }, { status: 401 });
    },
  });
  const url = `http://127.0.0.1:${stranger.port}`;
  expect((await here(["agents", "list", "--context", "device", "--url", url])).code).toBe(3);
  expect(heard.length).toBeGreaterThan(0);
  expect(heard.filter((header) => header !== null)).toEqual([]);
  await stranger.stop(true);
});

test("an API key is kept only where the service takes it", async () => {
  const refused = await here(["login", node.url, "--context", "key", "--api-key", "svc_none"]);
  expect(refused.code).toBe(3);
  expect(tokens().key).toBeUndefined();
  const token = (await here(["token", "--context", "device"])).out;
  expect((await here(["login", node.url, "--context", "key", "--api-key", "-"], { input: token })).code).toBe(0);
  expect((await here(["whoami", "--json"])).json).toMatchObject({ context: "key", identity: "api_key" });
});

test("signing out ends the sign-in at the issuer, and forgets the tokens", async () => {
  const { refresh_token } = tokens().device;
  expect((await here(["logout", "--context", "device", "--json"])).json).toMatchObject({ revoked: true });
  expect(tokens().device).toBeUndefined();
  const answer = await fetch(`${node.url}/realms/svc-system/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "refresh_token", client_id: "svc-cli", refresh_token }),
  });
  expect(answer.status).toBe(400);
  const refused = await here(["context", "delete", "device"]);
  expect([refused.code, refused.err.includes("--yes")]).toEqual([2, true]);
  expect((await here(["context", "delete", "device"], { answers: ["no"] })).code).toBe(1);
  expect((await here(["context", "delete", "device", "--yes"])).code).toBe(0);
  expect((await here(["context", "use", "device"])).code).toBe(4);
  expect(existsSync(`${file("tokens.json")}.lock`)).toBe(false);
});

test("Ctrl-C gives a sign-in up, and keeps nothing", async () => {
  const interrupted = AbortSignal.abort();
  const said = await here(["login", node.url, "--tenant", "svc-system", "--context", "never"], { interrupted });
  expect([said.code, tokens().never]).toEqual([7, undefined]);
});
