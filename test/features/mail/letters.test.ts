/** Letters on their way: bounded, stored with their change, sent by any node (docs/reference/colony.md). */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { openMail } from "../../../src/adapters/mail/port.ts";
import { createEncryption } from "../../../src/features/encryption/encryption.ts";
import { masterKeyOf } from "../../../src/features/encryption/envelope.ts";
import { createLetters } from "../../../src/features/mail/letters.ts";
import { SmtpServer } from "../../harness/outside/smtp.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let smtp: SmtpServer;
let now = Date.now();
const warnings: Record<string, unknown>[] = [];
const encryption = createEncryption({
  current: masterKeyOf(Buffer.alloc(32, 7).toString("base64")),
  previous: null,
  incidents: { report: () => {} },
});
beforeAll(async () => {
  [stores, smtp] = await Promise.all([freshStores(), SmtpServer.open()]);
});
afterAll(async () => {
  await smtp?.stop();
  await stores?.dispose();
});
beforeEach(async () => {
  smtp.received.length = 0;
  smtp.refusals.clear();
  warnings.length = 0;
  await stores.sql`truncate mails`;
});

const hourMs = 3_600_000;
/** The letters of one node. */
function node() {
  const mail = openMail({ url: smtp.url, from: "svc@svc.test" });
  const letters = createLetters({
    sql: stores.sql,
    encryption,
    mail,
    now: () => now,
    newId: () => Bun.randomUUIDv7(),
    warn: (event, facts) => void warnings.push({ event, ...facts }),
  });
  return { ...letters, close: () => mail.close() };
}
type Node = ReturnType<typeof node>;
const letter = (tenant: string, to: string) => ({
  tenant,
  to,
  subject: "Hello",
  text: "Come in",
  expiresAt: now + 24 * hourMs,
});
const post = (by: Node, tenant: string, to: string) =>
  stores.sql.begin((tx) => by.letters.post(tx, letter(tenant, to)));
const waiting = async () => (await stores.sql`select 1 from mails where ciphertext is not null`).count;

test("a letter whose change fails is not sent; one whose node died is sent by another", async () => {
  const one = node();
  await stores.sql
    .begin(async (tx) => {
      await one.letters.post(tx, letter("acme", "never@mail.test"));
      throw new Error("the change fails");
    })
    .catch(() => {});
  await post(one, "acme", "later@mail.test");
  one.close();
  const other = node();
  const stop = other.start();
  await until(() => smtp.to("later@mail.test").length === 1);
  await until(async () => (await waiting()) === 0);
  await stop();
  other.close();
  expect(smtp.to("never@mail.test")).toEqual([]);
});

test("of nodes that send at once each letter leaves once", async () => {
  const nodes = [node(), node(), node()];
  for (let number = 0; number < 12; number++) await post(nodes[0] as Node, "acme", `${number}@once.test`);
  const stops = nodes.map(({ start }) => start());
  await until(async () => (await waiting()) === 0);
  await Promise.all(stops.map((stop) => stop()));
  for (const { close } of nodes) close();
  expect(smtp.received.flatMap(({ to }) => to).sort()).toEqual(
    Array.from({ length: 12 }, (_, number) => `${number}@once.test`).sort(),
  );
});

test("of letters posted at once 20 of a tenant and 3 to an address are taken", async () => {
  const one = node();
  const outcomes = async (posts: readonly Promise<unknown>[]) => {
    const settled = await Promise.allSettled(posts);
    return settled.filter(({ status }) => status === "fulfilled").length;
  };
  const many = Array.from({ length: 30 }, (_, number) => post(one, "acme", `${number}@bound.test`));
  expect(await outcomes(many)).toBe(20);
  const alike = Array.from({ length: 8 }, (_, number) => post(one, `tenant-${number}`, "Same@bound.test"));
  expect(await outcomes(alike)).toBe(3);
  await expect(post(one, "other", "sAME@bound.test")).rejects.toMatchObject({
    code: "rate_limited",
    headers: { "Retry-After": expect.any(String) },
  });
  one.close();
});

test("a server away is tried again for as long as the letter is of use", async () => {
  const one = node();
  smtp.refusals.set("ann@away.test", 2);
  await post(one, "acme", "ann@away.test");
  const stop = one.start();
  const attempts = async () => (await stores.sql`select attempts from mails`)[0]?.attempts;
  await until(async () => (await attempts()) === 1 && warnings.length === 1);
  expect(warnings[0]).toMatchObject({ event: "mail_failed", tenant: "acme", reason: "not taken: 451" });
  now += hourMs;
  one.letters.sendSoon();
  await until(async () => (await attempts()) === 2 && warnings.length === 2);
  now += hourMs;
  one.letters.sendSoon();
  await until(() => smtp.to("ann@away.test").length === 1);
  smtp.refusals.set("bob@away.test", 1);
  await post(one, "acme", "bob@away.test");
  one.letters.sendSoon();
  await until(() => warnings.length === 3);
  now += 25 * hourMs;
  one.letters.sendSoon();
  await until(async () => (await waiting()) === 0);
  expect(warnings.at(-1)).toMatchObject({ event: "mail_given_up", reason: "of no use any more" });
  expect(smtp.to("bob@away.test")).toEqual([]);
  // What is over is forgotten a day later, and counts no more.
  now += 25 * hourMs;
  one.letters.sendSoon();
  await until(async () => (await stores.sql`select 1 from mails`).count === 0);
  await stop();
  one.close();
});

test("without a mail server nothing is stored and nothing is bounded", async () => {
  const { letters } = createLetters({
    sql: stores.sql,
    encryption,
    mail: null,
    now: () => now,
    newId: () => Bun.randomUUIDv7(),
    warn: () => {},
  });
  expect(letters.isConfigured).toBe(false);
  for (let number = 0; number < 25; number++)
    await stores.sql.begin((tx) => letters.post(tx, letter("acme", "x@none.test")));
  expect((await stores.sql`select 1 from mails`).count).toBe(0);
});
