/** Decision links over HTTP (docs/reference/approvals.md): seen without effect, used once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Open } from "../../../../actors/approval/messages.ts";
import { hashOf } from "../../../../src/features/approvals/links/token.ts";
import { until } from "../../../harness/until.ts";
import { caller, openFixture } from "../fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
const ada = caller("ada");
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.dispose());

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

async function linked(changes: Partial<Open> = {}) {
  const { id, run } = await fixture.open(changes);
  const made = await fixture.call(ada, `/v1/human-approvals/${id}/links`, { body: { recipient: "bob@example.com" } });
  const { url = "" } = made.body;
  return { id, run, made, path: url.replace("https://svc.test", "") };
}
const record = async (id: string) => (await fixture.call(ada, `/v1/human-approvals/${id}/history`)).body;

test("a link is made once, shown once, and stored as a hash", async () => {
  const { id, made, path } = await linked();
  expect(made.status).toBe(201);
  expect(made.headers.get("cache-control")).toBe("no-store");
  expect(made.body).toEqual({
    url: expect.stringMatching(/^https:\/\/svc\.test\/v1\/approval-links\/[A-Za-z0-9_-]{43}$/),
    expires_at: (await record(id)).expires_at,
  });
  const token = path.split("/").at(-1) ?? "";
  const rows = await fixture.sql`select hash from approval_links where approval_id = ${id}`;
  expect(rows.map(({ hash }) => hash)).toEqual([hashOf(token)]);
  const stored = await fixture.sql`
    select 1 from runtime_actors where state like ${`%${token}%`} union all select 1 from runtime_logs where entry like ${`%${token}%`}`;
  expect(stored).toHaveLength(0);
  expect((await record(id)).events.at(-1)).toMatchObject({
    type: "link_issued",
    actor: { sub: "ada" },
    note: "bob@example.com",
  });
});

test("looking at it decides nothing; using it decides once", async () => {
  const { id, run, path } = await linked();
  for (let look = 0; look < 3; look++) {
    expect((await fixture.call(null, path)).status).toBe(200);
    expect((await fixture.call(null, path, { headers: browser })).status).toBe(200);
    expect((await fixture.call(null, path, { method: "HEAD" })).status).toBe(200);
  }
  expect(await record(id)).toMatchObject({ status: "pending" });
  const first = await fixture.call(null, path, { body: { decision: "approve", feedback: "fine" } });
  expect([first.status, first.body]).toEqual([
    200,
    { status: "approved", approval_id: id, request_id: id, decided_at: expect.any(String) },
  ]);
  const second = await fixture.call(null, path, { body: { decision: "reject", reason: "no" } });
  expect(second.status).toBe(409);
  expect(second.body).toMatchObject({ code: "approval_already_decided", status: "approved" });
  expect((await fixture.call(null, path)).body.code).toBe("link_expired");
  const [told] = await until(async () => {
    const all = await fixture.told(run);
    return all.length > 0 && all;
  });
  expect(told).toMatchObject({
    via: "link",
    result: { feedback: "fine", decided_by: { sub: null, kind: "link", email: "bob@example.com" } },
  });
  expect((await record(id)).events.at(-1)).toMatchObject({ type: "approved", via: "link", ip: "127.0.0.1" });
});

describe("a browser", () => {
  test("gets a page without scripts or referrer that shows the question as text", async () => {
    const { path } = await linked({ prompt: `</pre><script>alert("1")</script>&'` });
    const page = await fixture.call(null, path, { headers: browser });
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; /,
    );
    expect(page.text).toContain("&lt;/pre&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#x27;");
    expect(page.text).not.toMatch(/<script|\son\w+=|https?:\/\//i);
  });

  test("decides by the page's forms", async () => {
    const { id, path } = await linked();
    const headers = { ...browser, "content-type": "application/x-www-form-urlencoded" };
    const page = (await fixture.call(null, path, { headers: browser })).text;
    const fields = [...page.matchAll(/name="(\w+)"(?: value="(\w+)")?/g)].map(([, name, value]) => `${name} ${value}`);
    expect(fields.filter((field) => /^(decision|reason|feedback)/.test(field))).toEqual([
      "decision approve",
      "feedback undefined",
      "decision reject",
      "reason undefined",
    ]);
    const blank = await fixture.call(null, path, { headers, body: "decision=reject&reason=" });
    expect(blank.status).toBe(422);
    const done = await fixture.call(null, path, { headers, body: "decision=reject&reason=too+dear%21" });
    expect([done.status, done.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const shownAt = `<dd>${(await record(id)).decided_at}</dd>`;
    expect(done.text).toContain("This was rejected");
    expect(await record(id)).toMatchObject({ status: "rejected", feedback: "too dear!", via: "link" });
    const again = await fixture.call(null, path, { headers: browser });
    expect([again.status, again.headers.get("cache-control")]).toEqual([410, "no-store"]);
    for (const text of ["This was rejected", "bob@example.com, by a link that ada@example.com issued", shownAt]) {
      expect(again.text).toContain(text);
    }
  });
});

test("the page of a decided link says who decided what and when", async () => {
  const headers = { ...browser, "content-type": "application/x-www-form-urlencoded" };
  const eve = caller("eve", { email: "<eve>@example.com" });
  const { id, path } = await linked();
  await fixture.call(eve, `/v1/human-approvals/${id}/approve`, { body: {} });
  const late = await fixture.call(null, path, { headers, body: "decision=reject&reason=no" });
  for (const answer of [late, await fixture.call(null, path, { headers: browser })]) {
    expect(answer.text).toContain("This was approved");
    expect(answer.text).toContain("<dd>&lt;eve&gt;@example.com</dd>");
    expect(answer.text).toContain(`<dd>${(await record(id)).decided_at}</dd>`);
  }
  expect(late.status).toBe(409);
  expect(await record(id)).toMatchObject({ status: "approved", decided_by: { sub: "eve" } });

  const two = await linked({ quorum: 2 });
  const counted = await fixture.call(null, two.path, { headers, body: "decision=approve" });
  expect([counted.status, counted.text]).toEqual([200, expect.stringContaining("<dd>1 of 2</dd>")]);

  const gone = await linked();
  await fixture.giveUp(gone.run, gone.id);
  await until(async () => (await record(gone.id)).status === "withdrawn");
  const shown = await fixture.call(null, gone.path, { headers: browser });
  expect([shown.status, shown.text]).toEqual([410, expect.stringContaining("This is no longer asked")]);
});

describe("a link that a caller was handed for another person", () => {
  test("names its issuer in the record, the history and the result", async () => {
    const { id, run, path } = await linked();
    await fixture.call(null, path, { body: { decision: "approve" } });
    const decided_by = {
      sub: null,
      kind: "link",
      email: "bob@example.com",
      issued_by: { sub: "ada", kind: "tenant_user", email: "ada@example.com", realm: "test" },
    };
    const shown = await record(id);
    expect(shown).toMatchObject({ via: "link", decided_by });
    expect(shown.events.at(-1)).toMatchObject({
      type: "approved",
      via: "link",
      note: "by a link that ada@example.com issued",
    });
    const told = await until(async () => (await fixture.told(run))[0]);
    expect(told?.result.decided_by).toEqual(decided_by);
  });

  test("is not used by its issuer who shows who they are; others may", async () => {
    const { id, path } = await linked();
    const misused = await fixture.call(ada, path, { body: { decision: "approve" } });
    expect([misused.status, misused.body.code]).toEqual([403, "approver_not_allowed"]);
    const again = caller("ada2", { email: "ADA@example.com" });
    expect((await fixture.call(again, path, { body: { decision: "approve" } })).status).toBe(403);
    expect(await record(id)).toMatchObject({ status: "pending" });
    expect((await record(id)).events.at(-1)).toMatchObject({ type: "refused", via: "link", actor: { sub: "ada2" } });
    expect((await fixture.call("no token", path, { body: { decision: "approve" } })).status).toBe(200);
  });

  test("is used by an issuer whose own address it was made for", async () => {
    const { id } = await fixture.open();
    const made = await fixture.call(ada, `/v1/human-approvals/${id}/links`, { body: { recipient: "Ada@example.com" } });
    const path = made.body.url.replace("https://svc.test", "");
    expect((await fixture.call(ada, path, { body: { decision: "approve" } })).status).toBe(200);
  });
});

test("a program gets JSON that is not cached", async () => {
  const { id, path } = await linked();
  const shown = await fixture.call(null, path);
  expect(shown.headers.get("cache-control")).toBe("no-store");
  expect(shown.body.approval).toMatchObject({ id, status: "pending", prompt: "Release INV-7 (5 characters)?" });
});

test.each(["x".repeat(43), "abc", "%00", "..%2f..", "é".repeat(20)])("an unknown token %j is 404", async (token) => {
  const path = `/v1/approval-links/${token}`;
  for (const answer of [
    await fixture.call(null, path),
    await fixture.call(null, path, { body: { decision: "approve" } }),
  ]) {
    expect([answer.status, answer.body.code]).toEqual([404, "approval_not_found"]);
  }
});

describe("what is wrong with a decision is told, and decides nothing", () => {
  const json = { "content-type": "application/json" };
  const form = { "content-type": "application/x-www-form-urlencoded" };
  test.each<[string | object, Record<string, string>, number]>([
    [{}, {}, 422],
    [{ decision: "maybe" }, {}, 422],
    [{ decision: "reject" }, {}, 422],
    [{ decision: "reject", reason: " " }, {}, 422],
    [{ decision: "approve", feedback: "x".repeat(16_385) }, {}, 422],
    [{ decision: "approve", feedback: "a\0b" }, {}, 422],
    [{ decision: "approve", feedback: 7 }, {}, 422],
    ["[]", json, 422],
    ["{", json, 400],
    ["", json, 400],
    ["\u00ff\u00fe", json, 400],
    ["decision=approve", { "content-type": "text/plain" }, 415],
    ["decision=", form, 422],
    ["__proto__=1&decision=no", form, 422],
  ])("%#", async (body, headers, status) => {
    const { id, path } = await linked();
    const answer = await fixture.call(null, path, { method: "POST", body, headers });
    expect(answer.status).toBe(status);
    expect(await record(id)).toMatchObject({ status: "pending" });
  });
});

describe("a link dies", () => {
  const use = (path: string) => fixture.call(null, path, { body: { decision: "approve" } });
  test("with its run", async () => {
    const { id, run, path } = await linked();
    await fixture.giveUp(run, id);
    await until(async () => (await record(id)).status === "withdrawn");
    expect([(await use(path)).status, (await fixture.call(null, path)).status]).toEqual([410, 410]);
  });

  test("with its time, before any timer", async () => {
    const { path, id } = await linked({ timeout_ms: 3600_000 });
    await fixture.advance(3600_000);
    expect((await fixture.call(null, path)).body.code).toBe("link_expired");
    expect((await use(path)).body.code).toBe("link_expired");
    expect(await record(id)).toMatchObject({ status: "timed_out" });
  });

  test("when another person decides, it shows whose decision it was", async () => {
    const { id, path } = await linked();
    await fixture.call(ada, `/v1/human-approvals/${id}/reject`, { body: { reason: "no" } });
    expect((await fixture.call(null, path)).status).toBe(410);
    expect((await use(path)).body).toMatchObject({ code: "approval_already_decided", status: "rejected" });
  });
});

describe("only those who may decide get one", () => {
  test.each<[Partial<Open>, string, string]>([
    [{ approvers: ["user:ada"] }, "bob@example.com", "approver_not_allowed"],
    [{ approvers: ["email:bob@example.com"] }, "bob@example.com", "approver_not_allowed"],
    [{ forbid_initiator: true }, "IDA@example.com", "self_approval_forbidden"],
  ])("%j for %s", async (changes, recipient, code) => {
    const { id } = await fixture.open(changes);
    const refused = await fixture.call(ada, `/v1/human-approvals/${id}/links`, { body: { recipient } });
    expect([refused.status, refused.body.code]).toEqual([403, code]);
    expect((await record(id)).events.at(-1)).toMatchObject({ type: "refused", actor: { sub: "ada" } });
  });

  test.each(["ada", "a@b@c", "Ada <a@b.c>", "a@b.c, d@e.f", "a\0@b.c", "@"])("%j is no address", async (recipient) => {
    const { id } = await fixture.open();
    const refused = await fixture.call(ada, `/v1/human-approvals/${id}/links`, { body: { recipient } });
    expect([refused.status, refused.body.code]).toEqual([422, "validation_failed"]);
  });
});

test("the token is in no log line", async () => {
  const { path } = await linked();
  await fixture.call(null, path);
  const token = path.split("/").at(-1) ?? "";
  await until(() => fixture.app.log.some((line) => line.includes("/v1/approval-links/REDACTED")));
  expect(fixture.app.log.join("\n")).not.toContain(token);
});
