/** Who is told of an approval: webhooks and mail, to real servers (docs/reference/approvals.md). */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import type { Notify } from "../../../../actors/approval/messages.ts";
import { signatureOf } from "../../../../src/lib/digest.ts";
import { Receiver } from "../../../harness/outside/receiver.ts";
import { SmtpServer } from "../../../harness/outside/smtp.ts";
import { until } from "../../../harness/until.ts";
import { caller, openFixture } from "../fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
let smtp: SmtpServer;
let receiver: Receiver;
const ada = caller("ada");
beforeAll(async () => {
  smtp = await SmtpServer.open();
  receiver = new Receiver();
  fixture = await openFixture({ smtpUrl: smtp.url });
});
afterAll(async () => {
  await fixture?.dispose();
  await receiver?.stop();
  await smtp?.stop();
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.replies.clear();
  smtp.received.length = 0;
  smtp.refusals.clear();
});

const hook = (path: string, secret: string | null = null): Notify => ({
  type: "webhook",
  url: receiver.url(path),
  secret,
});
const approve = (id: string) => fixture.call(ada, `/v1/human-approvals/${id}/approve`, { method: "POST" });
const record = async (id: string) => (await fixture.call(ada, `/v1/human-approvals/${id}/history`)).body;
const notesOf = async (id: string): Promise<string[]> =>
  (await record(id)).events.flatMap((event: { type: string; note: string }) =>
    event.type === "notified" ? [event.note] : [],
  );
const arrived = (path: string, count: number) =>
  until(() => receiver.at(path).length >= count && receiver.at(path), { what: `${count} at ${path}` });

test("a webhook gets the request and its end, with signatures the library verifies", async () => {
  const secret = `whsec_${Buffer.from("a key of twenty-four byte").toString("base64")}`;
  const { id } = await fixture.open({ notify: [hook("/hook", secret)] });
  await arrived("/hook", 1);
  await approve(id);
  const [requested, resolved] = await arrived("/hook", 2);
  for (const received of [requested, resolved]) {
    const headers = Object.fromEntries(received?.headers ?? []);
    const body = received?.body ?? "";
    expect(received?.method).toBe("POST");
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
    expect(headers["x-svc-signature"]).toBe(signatureOf(secret, body));
  }
  expect(requested?.headers.get("webhook-id")).toBe(`notify-${id}-requested-0`);
  expect(resolved?.headers.get("webhook-id")).toBe(`notify-${id}-resolved-0`);
  expect(JSON.parse(requested?.body ?? "")).toMatchObject({
    event: "requested",
    approval: { id, status: "pending", prompt: "Release INV-7 (5 characters)?" },
  });
  expect(JSON.parse(resolved?.body ?? "")).toMatchObject({
    event: "resolved",
    approval: { id, status: "approved", decided_by: { sub: "ada" }, via: "approve" },
  });
  await until(async () => (await notesOf(id)).length === 2);
  expect(await notesOf(id)).toEqual([
    `requested to 127.0.0.1:${receiver.port}`,
    `resolved to 127.0.0.1:${receiver.port}`,
  ]);
});

test("a secret that is no base64 is a key by its bytes, and none signs nothing", async () => {
  await fixture.open({ notify: [hook("/words", "käse & brot!"), hook("/open")] });
  const [words] = await arrived("/words", 1);
  const headers = Object.fromEntries(words?.headers ?? []);
  const verifier = new Webhook(Buffer.from("käse & brot!"), { format: "raw" });
  expect(verifier.verify(words?.body ?? "", headers)).toMatchObject({ event: "requested" });
  const [open] = await arrived("/open", 1);
  expect(open?.headers.get("webhook-id")).toStartWith("notify-");
  expect(open?.headers.has("webhook-signature")).toBe(false);
  expect(open?.headers.has("x-svc-signature")).toBe(false);
});

test("a destination is tried five times under one id; the approval does not mind", async () => {
  receiver.replies.set("/flaky", (_, earlier) => new Response(null, { status: earlier < 2 ? 500 : 200 }));
  receiver.replies.set("/down", () => new Response(null, { status: 503 }));
  const { id } = await fixture.open({ notify: [hook("/flaky"), hook("/down")] });
  const flaky = await arrived("/flaky", 3);
  const down = await arrived("/down", 5);
  expect(new Set(flaky.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
  await until(async () => (await notesOf(id)).length === 2);
  expect(await notesOf(id)).toEqual([
    `requested to 127.0.0.1:${receiver.port}`,
    `requested to 127.0.0.1:${receiver.port} failed: It was answered with status 503`,
  ]);
  const pauses = down.slice(1).map(({ at }, index) => at - (down[index]?.at ?? 0));
  expect(pauses.map((pause, index) => pause >= 20 * 2 ** index * 0.9)).toEqual([true, true, true, true]);
  expect(down).toHaveLength(5);
  expect((await approve(id)).status).toBe(200);
});

test("a private address is called only where the node allows it and the URL names it", async () => {
  const { id } = await fixture.open({
    notify: [
      { type: "webhook", url: "http://169.254.169.254/latest", secret: null },
      { type: "webhook", url: receiver.url("/by-name", "hook.test"), secret: null },
    ],
  });
  await until(async () => (await notesOf(id)).length === 2);
  for (const note of await notesOf(id)) expect(note).toMatch(/^requested to [^ ]+ failed: .*is refused/);
  expect(receiver.at("/by-name")).toEqual([]);
  const { incidents } = fixture;
  expect(new Set(incidents.map(({ category, executionId }) => `${category} ${executionId}`))).toEqual(
    new Set([`ssrf_blocked ${id}`]),
  );
});

test("each reader of mail gets a letter and a link of their own", async () => {
  const to = ["bob@example.com", "cleo@example.com"];
  const { id } = await fixture.open({
    prompt: "Release INV-7? Grüße.\r\nBcc: all@example.com\r\n.\r\n",
    notify: [{ type: "email", to }],
  });
  await until(() => smtp.received.length === 2, { what: "two letters" });
  const links = to.map((address) => {
    const [letter] = smtp.to(address);
    expect(letter?.to).toEqual([address]);
    expect(letter?.from).toBe("svc@svc.test");
    expect(letter?.raw).toMatch(/^Subject: Decision needed: invoice-release \/ SIGN$/m);
    expect(letter?.raw.split("\n\n")[0]).not.toContain("Bcc");
    expect(letter?.text).toContain("Grüße.");
    return /https:\/\/svc\.test(\/v1\/approval-links\/[\w-]{43})/.exec(letter?.text ?? "")?.[1] ?? "";
  });
  expect(new Set(links).size).toBe(2);
  const decided = await fixture.call(null, links[1] ?? "", { body: { decision: "approve" } });
  expect(decided.body).toMatchObject({ status: "approved" });
  expect(await record(id)).toMatchObject({ decided_by: { kind: "link", email: "cleo@example.com" } });
  expect((await fixture.call(null, links[0] ?? "", { body: { decision: "approve" } })).status).toBe(409);
  await until(() => smtp.received.length === 4, { what: "the news of the end" });
  expect(smtp.to("bob@example.com")[1]?.text).not.toContain("approval-links");
});

test("recipients who may not decide are told without a link", async () => {
  await fixture.open({
    approvers: ["email:bob@example.com"],
    forbid_initiator: true,
    notify: [{ type: "email", to: ["bob@example.com", "cleo@example.com", "ida@example.com"] }],
  });
  await until(() => smtp.received.length === 3);
  const withLink = smtp.received.filter(({ text }) => text.includes("approval-links")).flatMap(({ to }) => to);
  expect(withLink).toEqual(["bob@example.com"]);
});

test("a mail server that is not ready is asked again, for that reader alone", async () => {
  smtp.refusals.set("bob@example.com", 2);
  const { id } = await fixture.open({ notify: [{ type: "email", to: ["bob@example.com", "cleo@example.com"] }] });
  await until(async () => (await notesOf(id)).length === 2);
  expect([smtp.to("bob@example.com").length, smtp.to("cleo@example.com").length]).toEqual([1, 1]);
  expect(smtp.to("bob@example.com")[0]?.raw.replaceAll("\n ", " ")).toContain(
    `Message-ID: <notify-${id}-requested-0@svc.test>`,
  );
});
