/** Links by mail, people who register themselves, and installations without the embedded provider. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { SmtpServer } from "../../harness/outside/smtp.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { claimsOf, Realm, startIssuer } from "./fixture.ts";

let stores: TestStores;
let mails: SmtpServer;
let node: NodeProcess;
const people = new Realm(() => node, "svc-consumer");

beforeAll(async () => {
  stores = await freshStores();
  mails = await SmtpServer.open();
  node = await startIssuer(stores, {
    SVC_ISSUER_REALMS: "consumers",
    SVC_ISSUER_SIGNUP: "true",
    SVC_ISSUER_TOTP: "required",
    SVC_SMTP_URL: mails.url,
  });
});
afterAll(async () => {
  await node?.dispose();
  await mails?.stop();
  await stores?.dispose();
});

const bob = { email: "bob@example.com", password: "Bob's own password" };

/** The link of the newest mail to an address. @param after how many it had before */
async function linkIn(address: string, after = 0): Promise<URL> {
  const mail = await until(() => mails.to(address)[after], { what: `a mail to ${address}` });
  const link = /https:\/\/\S+/.exec(mail?.text ?? "")?.[0];
  if (link === undefined) throw new Error(`no link: ${mail?.text}`);
  return new URL(link);
}

test("people register themselves, and prove their address by mail and password", async () => {
  const browser = people.browser();
  await browser.open(`${people.path}/sign-up`);
  await browser.submit({ name: "Bob", email: bob.email, password: bob.password });
  expect(browser.shown?.html).toContain("Look into your mail");
  await people.withPassword(browser, bob.email, bob.password);
  expect(browser.shown?.html).toContain("do not fit");
  const link = await linkIn(bob.email);
  await browser.open(link.pathname);
  await browser.submit({ token: link.hash.slice(1), password: "the password of another" });
  expect(browser.shown?.html).toContain("not the password");
  await browser.submit({ token: link.hash.slice(1), password: bob.password });
  expect(browser.shown?.html).toContain("Welcome");
  await people.withPassword(browser, bob.email, bob.password);
  expect(browser.shown?.html).toContain("Set up your authenticator");
});

test("registering an address that is in use answers alike and changes nothing", async () => {
  const browser = people.browser();
  await browser.open(`${people.path}/sign-up`);
  await browser.submit({ name: "Eve", email: bob.email.toUpperCase(), password: "Eve's own password" });
  expect(browser.shown?.html).toContain("Look into your mail");
  await people.withPassword(browser, bob.email, "Eve's own password");
  expect(browser.shown?.html).toContain("do not fit");
  expect(mails.to(bob.email)).toHaveLength(1);
});

test("a reset by mail answers alike for unknown addresses, and its link works once", async () => {
  const browser = people.browser();
  const answers: string[] = [];
  for (const email of [bob.email, "unknown@example.com"]) {
    await browser.open(`${people.path}/reset`);
    answers.push((await browser.submit({ email }, ["do", "ask"])).html);
  }
  expect(answers[0]).toBe(answers[1] ?? "");
  const link = await linkIn(bob.email, 1);
  expect(link.pathname).toBe(`${people.path}/reset`);
  await browser.open(link.pathname);
  bob.password = "Bob's next password";
  await browser.submit({ token: link.hash.slice(1), password: bob.password }, ["do", "set"]);
  expect(browser.shown?.html).toContain("Your password is changed");
  await browser.open(link.pathname);
  await browser.submit({ token: link.hash.slice(1), password: "Eve's own password" }, ["do", "set"]);
  expect(browser.shown?.html).toContain("was used");
  expect(mails.to("unknown@example.com")).toEqual([]);
});

test("with SVC_ISSUER unset its paths are 404 in production, people not configured", async () => {
  const realm = { slug: "svc-system", kind: "system", issuer_url: "https://id.test/svc", audience: "svc" };
  const plain = await startNodeProcess(stores, {
    env: { SVC_MODE: "production", SVC_AUTH_REALMS: JSON.stringify([realm]) },
  });
  const development = await startNodeProcess(stores);
  try {
    const ways = ["/sign-in", "/account", "/invitation", "/reset", "/device", "/sign-up"];
    for (const way of [...ways, "/.well-known/openid-configuration", "/protocol/openid-connect/auth"]) {
      const answer = await fetch(`${plain.url}/realms/svc-system${way}`);
      expect([way, answer.status]).toEqual([way, 404]);
    }
    for (const way of ways) expect((await fetch(`${development.url}/realms/svc-system${way}`)).status).toBe(404);
    const answer = await development.call("GET", "/v1/people");
    expect(answer).toMatchObject({ status: 501, body: { code: "issuer_not_configured" } });
    const posted = await development.call("POST", "/v1/people", "{");
    expect(posted).toMatchObject({ status: 501, body: { code: "issuer_not_configured" } });
    const issued = claimsOf(await development.token());
    expect(issued.iss).toBe("http://svc.test/realms/svc-system");
  } finally {
    await plain.dispose();
    await development.dispose();
  }
});
