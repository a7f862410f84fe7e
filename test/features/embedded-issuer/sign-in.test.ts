/** People sign in at the embedded identity provider (docs/reference/embedded-issuer.md): by its pages, over two nodes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { NodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import type { Browser } from "./browser.ts";
import {
  claimsOf,
  codeOf,
  firstOperator,
  publicUrl,
  Realm,
  shownRecoveryCodes,
  shownSecret,
  startIssuer,
} from "./fixture.ts";

let stores: TestStores;
let nodes: readonly NodeProcess[] = [];
let turn = 0;
/** The nodes serve in turn: what one has begun the other one goes on with. */
function node(): NodeProcess {
  turn = (turn + 1) % nodes.length;
  const [chosen] = nodes.slice(turn);
  if (chosen === undefined) throw new Error("no node runs");
  return chosen;
}
const system = new Realm(node, "svc-system");
const people = new Realm(node, "svc-consumer");

beforeAll(async () => {
  stores = await freshStores();
  const env = { SVC_ISSUER_REALMS: "consumers" };
  nodes = [await startIssuer(stores, env), await startIssuer(stores, env)];
});
afterAll(async () => {
  for (const one of nodes) await one.dispose();
  await stores?.dispose();
});

const as = (token: string) => ({ Authorization: `Bearer ${token}` });
const typed = new Set<string>([firstOperator.password]);
const told = (secret: string): string => {
  typed.add(secret);
  return secret;
};

const operator = { password: told("a password of my own"), secret: "", codes: [] as readonly string[], token: "" };
const ann = { email: "ann@example.com", password: told("Ann's own password"), id: "" };
const wrong = "Address and password do not fit";

async function page(browser: Browser, fields: Record<string, string>, button?: readonly [string, string]) {
  return (await browser.submit(fields, button)).html;
}

test("the first operator's first sign-in sets a password and an authenticator", async () => {
  const browser = system.browser();
  const request = await system.withPassword(browser, firstOperator.email, firstOperator.password);
  expect(browser.shown?.html).toContain("Choose a password of your own");
  expect(await page(browser, { password: firstOperator.password })).toContain("another password");
  expect(await page(browser, { password: "123456789012345" })).toContain("tried first");
  operator.secret = told(shownSecret(await page(browser, { password: operator.password })));
  expect(await page(browser, { code: "000000" })).toContain("does not fit");
  operator.codes = shownRecoveryCodes(await page(browser, { code: codeOf(operator.secret) }));
  expect(operator.codes).toHaveLength(10);
  operator.codes.forEach(told);
  await browser.submit({}, ["step", "done"]);
  const tokens = await system.tokens(browser, request);
  expect(tokens.expires_in).toBe(300);
  expect(claimsOf(tokens.access_token)).toMatchObject({
    iss: "https://svc.test/realms/svc-system",
    aud: "svc-orchestrator",
    email: firstOperator.email,
    email_verified: true,
    svc_role: "admin",
  });
  operator.token = tokens.access_token;
  expect((await node().call("GET", "/v1/agents", undefined, as(operator.token))).status).toBe(200);
});

test("an authenticator's code lets in once, and a recovery code once", async () => {
  const browser = system.browser();
  await system.withPassword(browser, firstOperator.email, operator.password);
  // The next step: that of the present one was used for setting up.
  const code = codeOf(operator.secret, 1);
  const request = await system.withPassword(browser, firstOperator.email, operator.password);
  await browser.submit({ code });
  await system.tokens(browser, request);

  const second = system.browser();
  await system.withPassword(second, firstOperator.email, operator.password);
  expect(await page(second, { code })).toContain("does not fit");
  const [recovery = ""] = operator.codes;
  await second.submit({ code: recovery.toLowerCase() });
  expect(second.shown?.url.searchParams.get("code")).toBeTruthy();

  const third = system.browser();
  await system.withPassword(third, firstOperator.email, operator.password);
  expect(await page(third, { code: recovery })).toContain("does not fit");
});

test("an invitation gives a person a password, once, with the address proven", async () => {
  const made = await node().call("POST", "/v1/people?realm=svc-consumer", { email: ann.email }, as(operator.token));
  expect(made).toMatchObject({ status: 201, body: { status: "invited", email_verified: false, role: null } });
  ann.id = made.body.id;
  const again = await node().call(
    "POST",
    "/v1/people?realm=svc-consumer",
    { email: "ANN@example.com" },
    as(operator.token),
  );
  expect(again).toMatchObject({ status: 409, body: { code: "person_exists" } });

  const link = new URL(made.body.accept_url);
  const token = told(link.hash.slice(1));
  const browser = people.browser();
  await browser.open(link.pathname);
  expect(await page(browser, { token, name: "Ann", password: "too short" })).toContain("12 to 128");
  expect(await page(browser, { token, name: "Ann", password: ann.email })).toContain("must not be your address");
  expect(await page(browser, { token, name: "Ann", password: ann.password })).toContain("Welcome");
  await browser.open(link.pathname);
  expect(await page(browser, { token, name: "Eve", password: "Eve's own password" })).toContain("not known, was used");

  const request = await people.withPassword(browser, "Ann@Example.com", ann.password);
  const { access_token } = await people.tokens(browser, request);
  expect(claimsOf(access_token)).toMatchObject({ sub: ann.id, email: ann.email, email_verified: true, name: "Ann" });
  const agents = await node().call("GET", "/v1/agents", undefined, as(access_token));
  expect(agents.status).toBe(200);
  const info = await fetch(`${node().url}${people.path}/protocol/openid-connect/userinfo`, {
    headers: as(access_token),
  });
  expect(await info.json()).toEqual({ sub: ann.id, email: ann.email, email_verified: true, name: "Ann" });
});

test("a code without its verifier, and one redeemed twice, give nothing", async () => {
  const browser = people.browser();
  await people.withPassword(browser, ann.email, ann.password);
  const code = browser.shown?.url.searchParams.get("code") ?? "";
  const stolen = {
    grant_type: "authorization_code",
    client_id: "svc-console",
    code,
    redirect_uri: `${publicUrl}/console/`,
  };
  expect(await people.token({ ...stolen, code_verifier: "x".repeat(64) })).toMatchObject({
    status: 400,
    code: "invalid_grant",
  });
  const other = people.browser();
  const request = await people.withPassword(other, ann.email, ann.password);
  const tokens = await people.tokens(other, request);
  const twice = await request.redeem(other.shown?.url.searchParams.get("code") ?? "");
  expect(twice).toMatchObject({ status: 400, error: "invalid_grant" });
  const refreshed = await people.token({
    grant_type: "refresh_token",
    client_id: "svc-console",
    refresh_token: tokens.refresh_token,
  });
  expect(refreshed.status).toBe(400);
  const plain = people.request("svc-console", { code_challenge: "", code_challenge_method: "" });
  expect((await people.browser().open(plain.url)).url.searchParams.get("error")).toBe("invalid_request");
});

test("a refresh token used twice ends the grant, also of two requests at once", async () => {
  const grant = async () => {
    const browser = people.browser();
    return people.tokens(browser, await people.withPassword(browser, ann.email, ann.password));
  };
  const refresh = (refresh_token: string) =>
    people.token({ grant_type: "refresh_token", client_id: "svc-console", refresh_token });
  const first = await grant();
  const second = await refresh(first.refresh_token);
  expect(second).toMatchObject({ status: 200, expires_in: 300 });
  expect(await refresh(first.refresh_token)).toMatchObject({ status: 400, error: "invalid_grant" });
  expect(await refresh(second.refresh_token)).toMatchObject({ status: 400, error: "invalid_grant" });

  const { refresh_token } = await grant();
  const answers = await Promise.all([1, 2, 3, 4].map(() => refresh(refresh_token)));
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  const left = answers.find(({ status }) => status === 200)?.refresh_token ?? refresh_token;
  expect((await refresh(left)).status).toBe(400);
});

test("a device is let in by the signed-in person, with the letters that it shows", async () => {
  const begun = await people.post("auth/device", { client_id: "svc-cli", scope: "openid offline_access" });
  expect(begun).toMatchObject({ status: 200, expires_in: 600 });
  const letters = String(begun.user_code);
  expect(letters).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
  expect(begun.verification_uri).toBe(`${publicUrl}${people.path}/device`);
  const poll = () =>
    people.token({
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      client_id: "svc-cli",
      device_code: String(begun.device_code),
    });
  expect(await poll()).toMatchObject({ status: 400, error: "authorization_pending" });
  const browser = people.browser();
  await browser.open(`${people.path}/device`);
  expect(await page(browser, { user_code: "BBBB-BBBB" })).toContain("not known");
  expect(await page(browser, { user_code: letters.toLowerCase() })).toContain("Is this your device?");
  await browser.submit({}, ["confirm", "yes"]);
  expect(await poll()).toMatchObject({ status: 400, error: "authorization_pending" });
  const after = await page(browser, { email: ann.email, password: ann.password });
  if (!after.includes("connected")) await browser.submit({}, ["step", "consent"]);
  expect(browser.shown?.html).toContain("The device is connected");
  const tokens = await poll();
  expect(tokens.status).toBe(200);
  expect(claimsOf(tokens.access_token).sub).toBe(ann.id);
  expect((await poll()).status).toBe(400);
});

test("a reset link works once, and ends sessions and refresh tokens", async () => {
  const browser = people.browser();
  const tokens = await people.tokens(browser, await people.withPassword(browser, ann.email, ann.password));
  const sent = await node().call("POST", `/v1/people/${ann.id}/reset?realm=svc-consumer`, {}, as(operator.token));
  expect(sent).toMatchObject({ status: 200, body: { status: "reset_sent" } });
  const link = new URL(sent.body.reset_url);
  const token = told(link.hash.slice(1));
  ann.password = told("Ann's next password");
  const other = people.browser();
  await other.open(link.pathname);
  expect(await page(other, { token, password: ann.password }, ["do", "set"])).toContain("Your password is changed");
  await other.open(link.pathname);
  expect(await page(other, { token, password: "Eve's own password" }, ["do", "set"])).toContain("not known, was used");
  const refresh = { grant_type: "refresh_token", client_id: "svc-console", refresh_token: tokens.refresh_token };
  expect((await people.token(refresh)).status).toBe(400);
  await browser.open(`${people.path}/account`);
  expect(browser.shown?.html).toContain("Sign in");
});

test("ten wrong passwords lock, and the right one is then refused alike", async () => {
  const tryOne = async (email: string, password: string) => {
    const browser = people.browser();
    await people.withPassword(browser, email, password);
    const { html = "", status } = browser.shown ?? {};
    return { status, html: html.replaceAll(email, "").replaceAll(browser.shown?.url.pathname ?? "", "") };
  };
  const open = people.browser();
  await people.withPassword(open, ann.email, ann.password);
  // At once: what is counted before it is looked at lets through no more than one after another would.
  const guesses = await Promise.all(
    Array.from({ length: 12 }, (_, index) => tryOne(ann.email, `wrong password ${index}`)),
  );
  for (const { html } of guesses) expect(html).toContain(wrong);
  const right = await tryOne(ann.email, ann.password);
  expect(right).toEqual(await tryOne("nobody-here@example.com", ann.password));
  expect(right).toEqual(guesses[0] ?? right);
  const shown = await node().call("GET", "/v1/people?realm=svc-consumer&status=locked", undefined, as(operator.token));
  expect(shown.body.people).toMatchObject([{ id: ann.id, status: "locked" }]);
  expect((await open.open(`${people.path}/account`)).html).toContain("Your account");

  const unlocked = await node().call(
    "PATCH",
    `/v1/people/${ann.id}?realm=svc-consumer`,
    { unlock: true },
    as(operator.token),
  );
  expect(unlocked).toMatchObject({ status: 200, body: { status: "active" } });
  const browser = people.browser();
  await people.tokens(browser, await people.withPassword(browser, ann.email, ann.password));
});

test("no password, code or hash stands in clear in logs or in a dump", async () => {
  const rows = await Promise.all(
    [
      "people",
      "person_tokens",
      "person_recovery_codes",
      "issuer_records",
      "issuer_keys",
      "audit_entries",
      "idempotency_keys",
    ].map((table) => stores.sql`select to_jsonb(t)::text as text from ${stores.sql(table)} t`),
  );
  const dump = rows
    .flat()
    .map(({ text }) => String(text))
    .join("\n");
  const output = nodes.map((one) => one.output).join("\n");
  for (const secret of typed) {
    expect({ secret, inDump: dump.includes(secret) }).toEqual({ secret, inDump: false });
    expect({ secret, inLog: output.includes(secret) }).toEqual({ secret, inLog: false });
  }
  expect(output).not.toContain("$argon2id$");
  expect(
    dump
      .match(/\$argon2id\$v=19\$m=(\d+),t=(\d+)/)
      ?.slice(1)
      .map(Number),
  ).toEqual([19_456, 2]);
  await until(async () => {
    const actions = await stores.sql<
      { action: string }[]
    >`select distinct action from audit_entries where action like 'person.%'`;
    const found = new Set(actions.map(({ action }) => action));
    const wanted = [
      "signed_in",
      "locked",
      "invited",
      "activated",
      "password_changed",
      "password_reset",
      "totp_enabled",
      "updated",
    ];
    return wanted.every((name) => found.has(`person.${name}`));
  });
});
