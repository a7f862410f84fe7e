/** Invitations by mail and by link, and acceptance by signing in, on a node (docs/reference/colony.md). */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { until } from "../../harness/until.ts";
import { ColonyFixture } from "./fixture.ts";

let fixture: ColonyFixture;
beforeAll(async () => {
  fixture = await ColonyFixture.open();
});
afterAll(() => fixture?.close());
beforeEach(() => {
  fixture.smtp.refusals.clear();
});

const accept = "/v1/colony/invitations/accept";
const mailTo = (address: string, count = 1) =>
  until(() => fixture.smtp.to(address).length >= count && fixture.smtp.to(address), { what: `mail to ${address}` });

test("an invited person gets a mail with the link; both forms of accepting work", async () => {
  const ann = await fixture.person("ann");
  const [bob, eve] = [await fixture.person("bob"), await fixture.person("eve")];
  const { id, slug } = await ann.team("Payments & Co");
  const asMember = await ann.done("POST", "/v1/colony/members", { email: bob.email, role: "admin" });
  expect(asMember).toEqual({
    id: expect.any(String),
    user_id: asMember.id,
    membership_id: null,
    realm: null,
    email: bob.email,
    name: null,
    role: "admin",
    status: "invited",
    invited_at: expect.any(String),
    joined_at: null,
    token: expect.stringMatching(/^[\w-]{43}$/),
    accept_url: `http://svc.test/console/invitations#${asMember.token}`,
    expires_at: expect.any(String),
  });
  const [letter] = await mailTo(bob.email);
  expect(letter?.text).toContain(asMember.accept_url);
  expect(letter?.text).toContain('"Payments & Co" as admin');
  const { invitation } = await ann.done("POST", "/v1/colony/invitations", { invitee_email: eve.email });
  expect(invitation).toEqual({
    id: expect.any(String),
    team_id: id,
    invitee_email: eve.email,
    role: "member",
    status: "pending",
    token: expect.any(String),
    expires_at: expect.any(String),
  });
  const { invitations, items } = await ann.done("GET", "/v1/colony/invitations");
  const { token: _, ...shown } = invitation;
  expect(items).toEqual(invitations);
  expect(items).toEqual([
    { ...shown, created_at: expect.any(String) },
    expect.objectContaining({ id: asMember.id, invitee_email: bob.email }),
  ]);

  const byBody = await bob.done("POST", accept, { token: asMember.token });
  expect(byBody).toMatchObject({
    team: { id, slug, role: "admin", member_count: 2 },
    member: { id: bob.userId, email: bob.email, role: "admin", status: "active", realm: "svc-consumer" },
  });
  const byPath = await eve.done("POST", `/v1/colony/invitations/${invitation.token}/accept`);
  expect(byPath).toMatchObject({ team: { id }, member: { id: eve.userId, role: "member", status: "active" } });
  expect(await bob.refused("POST", accept, { token: asMember.token })).toBe("409 invitation_not_pending");
  expect(await eve.refused("POST", `/v1/colony/invitations/${invitation.token}/accept`)).toBe(
    "409 invitation_not_pending",
  );
  expect(await ann.refused("POST", "/v1/colony/members", { email: bob.email.toUpperCase() })).toBe(
    "409 already_member",
  );
  expect((await ann.done("GET", "/v1/colony/invitations?status=accepted")).count).toBe(2);
  expect((await ann.done("GET", "/v1/colony/invitations?status=pending")).count).toBe(0);
});

test("a wrong address, an unproven one, a wrong kind and an unknown token are refused", async () => {
  const [ann, bob] = [await fixture.person("ann"), await fixture.person("bob")];
  await ann.team();
  const { token } = await ann.done("POST", "/v1/colony/members", { email: bob.email });
  const eve = await fixture.person("eve");
  const unproven = await fixture.person("x", { email: bob.email, email_verified: "false" });
  // A Kelvin sign is no `k`.
  const kelvin = await fixture.person("y", { email: bob.email.replace("b", "\u212A") });
  for (const person of [eve, unproven, kelvin])
    expect(await person.refused("POST", accept, { token })).toBe("403 email_mismatch");
  const operator = await fixture.node.token(
    {
      grant_type: "password",
      username: "operator",
      password: "dev",
      client_id: "",
      client_secret: "",
      email: bob.email,
    },
    "svc-system",
  );
  const asOperator = await fixture.node.call("POST", accept, { token }, { Authorization: `Bearer ${operator}` });
  expect([asOperator.status, asOperator.body.code]).toEqual([403, "identity_kind_not_allowed"]);
  const machine = await fixture.node.call("POST", accept, { token });
  expect([machine.status, machine.body.code]).toEqual([403, "user_identity_required"]);
  expect(await bob.refused("POST", accept, { token: "unknown" })).toBe("404 invalid_invitation");
  expect(await bob.refused("POST", "/v1/colony/invitations/unknown/accept")).toBe("404 invalid_invitation");
  expect(await bob.refused("POST", accept, { token: "x".repeat(5000) })).toBe("422 validation_failed");
  const shouted = await fixture.person("z", { email: bob.email.toUpperCase(), sub: bob.userId });
  expect(await shouted.refused("POST", accept, { token })).toBe("200 undefined");
});

test("withdrawn, replaced and expired invitations open nothing", async () => {
  const [ann, bob] = [await fixture.person("ann"), await fixture.person("bob")];
  await ann.team();
  const invite = () => ann.done("POST", "/v1/colony/members", { email: bob.email });
  const first = await invite();
  const second = await invite();
  expect(await bob.refused("POST", accept, { token: first.token })).toBe("409 invitation_not_pending");
  expect(await ann.done("DELETE", `/v1/colony/invitations/${second.id}`)).toEqual({
    status: "cancelled",
    id: second.id,
  });
  expect(await bob.refused("POST", accept, { token: second.token })).toBe("409 invitation_not_pending");
  expect(await ann.refused("DELETE", `/v1/colony/invitations/${second.id}`)).toBe("409 invitation_not_pending");
  expect(await ann.refused("DELETE", "/v1/colony/invitations/0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11")).toBe(
    "404 invalid_invitation",
  );
  const third = await invite();
  expect(await ann.done("DELETE", `/v1/colony/members/${third.id}`)).toEqual({ status: "cancelled", id: third.id });
  const { sql } = fixture.stores;
  const late = await ann.done("POST", "/v1/colony/members", { email: "late@expired.test" });
  await sql`update invitations set expires_at = now() - interval '1 second' where id = ${late.id}`;
  expect(await bob.refused("POST", accept, { token: late.token })).toBe("410 invitation_expired");
  expect((await ann.done("GET", "/v1/colony/invitations?status=expired")).items).toMatchObject([{ id: late.id }]);
  expect((await ann.done("GET", "/v1/colony/members")).count).toBe(1);
  expect(await ann.refused("POST", "/v1/colony/members", { email: "late@expired.test" })).toBe("201 undefined");
});

test("of requests that accept one invitation at once a single one does", async () => {
  const [ann, bob] = [await fixture.person("ann"), await fixture.person("bob")];
  await ann.team();
  const { token } = await ann.done("POST", "/v1/colony/members", { email: bob.email });
  const answers = await Promise.all(Array.from({ length: 6 }, () => bob.refused("POST", accept, { token })));
  expect(answers.sort()).toEqual(["200 undefined", ...Array(5).fill("409 invitation_not_pending")]);
  expect((await ann.done("GET", "/v1/colony/members")).count).toBe(2);
});

test("the role of an invitation changes, but never to owner", async () => {
  const [ann, bob] = [await fixture.person("ann"), await fixture.person("bob")];
  await ann.team();
  const { id, token } = await ann.done("POST", "/v1/colony/members", { email: bob.email });
  expect(await ann.done("PATCH", `/v1/colony/members/${id}`, { role: "admin" })).toMatchObject({
    id,
    role: "admin",
    status: "invited",
  });
  expect(await ann.refused("PUT", "/v1/colony/roles", { user_id: id, role: "owner" })).toBe("422 validation_failed");
  expect(await bob.done("POST", accept, { token })).toMatchObject({ member: { role: "admin" } });
  expect(await ann.refused("POST", "/v1/colony/members", { email: "x@y.test", role: "owner" })).toBe(
    "422 validation_failed",
  );
});

test("a fourth mail to an address in a day is refused, and is no invitation", async () => {
  const address = "often@invited.test";
  const [ann, bob] = [await fixture.person("ann"), await fixture.person("bob")];
  await ann.team();
  await bob.team();
  const invite = (by: typeof ann) => by.call("POST", "/v1/colony/members", { email: address });
  for (const by of [ann, bob, ann]) expect((await invite(by)).status).toBe(201);
  const before = (await ann.done("GET", "/v1/colony/invitations")).items;
  const { status, body, headers } = await invite(ann);
  expect([status, body.code]).toEqual([429, "rate_limited"]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(86_000);
  expect((await ann.done("GET", "/v1/colony/invitations")).items).toEqual(before);
  await mailTo(address, 3);
});

test("a tenant's 21st mail in an hour is refused", async () => {
  const owner = await fixture.tenantUser("writers", "ann");
  const { sql } = fixture.stores;
  const invite = (number: number) =>
    owner.refused("POST", "/v1/colony/members", { email: `${number}@many.test`, role: "member" });
  for (let number = 0; number < 20; number++) expect(await invite(number)).toBe("201 undefined");
  expect(await invite(20)).toBe("429 rate_limited");
  await sql`update mails set created_at = created_at - interval '1 hour' where tenant = 'writers'`;
  expect(await invite(20)).toBe("201 undefined");
});

test("a mail that the server does not take comes later; no address is in the log", async () => {
  const ann = await fixture.person("ann");
  await ann.team();
  const address = "refused@later.test";
  fixture.smtp.refusals.set(address, 1);
  await ann.done("POST", "/v1/colony/members", { email: address });
  const { sql } = fixture.stores;
  const waiting = () => sql<{ attempts: number }[]>`
    select attempts from mails where ciphertext is not null and next_at > now() and attempts = 1
      and next_at < now() + interval '1 minute'`;
  await until(async () => (await waiting()).length > 0);
  const stored = await sql`select * from mails`;
  expect(JSON.stringify(stored)).not.toContain(address);
  await sql`update mails set next_at = now() where ciphertext is not null`;
  await mailTo(address);
  expect(fixture.node.output).toContain("mail_failed");
  expect(fixture.node.output).not.toContain(address);
});

test("the token of an invitation is in no log and in no row", async () => {
  const [ann, bob] = [await fixture.person("ann"), await fixture.person("bob")];
  await ann.team();
  const { token } = await ann.done("POST", "/v1/colony/members", { email: bob.email });
  await bob.call("POST", `/v1/colony/invitations/${token}`);
  await bob.done("POST", `/v1/colony/invitations/${token}/accept`);
  await until(() => fixture.node.output.includes("/v1/colony/invitations/REDACTED/accept"));
  expect(fixture.node.output).not.toContain(token);
  const { sql } = fixture.stores;
  const rows = await sql`select * from invitations`;
  const entries = await sql`select * from audit_entries`;
  const kept = await sql`select * from idempotency_keys`;
  expect(JSON.stringify([rows, entries, kept])).not.toContain(token);
});

test("an invitation repeated under its Idempotency-Key shows its token, kept encrypted", async () => {
  const ann = await fixture.person("ann");
  await ann.team();
  const invite = () =>
    ann.call("POST", "/v1/colony/members", { email: "once@key.test" }, { "Idempotency-Key": "invite-once" });
  const [first, second] = [await invite(), await invite()];
  expect(second.body).toEqual(first.body);
  const rows = await fixture.stores.sql`select * from idempotency_keys`;
  expect(JSON.stringify(rows)).not.toContain(first.body.token);
  await mailTo("once@key.test");
  expect(fixture.smtp.to("once@key.test").length).toBe(1);
});

test("in a tenant of an enterprise only users of its realm accept", async () => {
  const owner = await fixture.tenantUser("clinic", "ann");
  const outside = await fixture.person("bob");
  const elsewhere = await fixture.tenantUser("hospital", "eve");
  for (const person of [outside, elsewhere]) {
    const { token } = await owner.done("POST", "/v1/colony/members", { email: person.email });
    expect(await person.refused("POST", accept, { token })).toBe("403 identity_kind_not_allowed");
  }
});

test("a first sign-in with the invited address accepts; the link answers once more", async () => {
  const owner = await fixture.tenantUser("bakery", "ann");
  const { token } = await owner.done("POST", "/v1/colony/members", { email: "BOB@bakery.test", role: "member" });
  const bob = await fixture.tenantUser("bakery", "bob");
  await bob.done("GET", "/v1/agents");
  const listed = (await owner.done("GET", "/v1/colony/members")).items;
  expect(listed).toMatchObject([
    { id: "ann", role: "owner" },
    { id: "bob", role: "member", status: "active", invited_at: expect.any(String) },
  ]);
  expect(await bob.refused("POST", "/v1/colony/members", { email: "x@y.test" })).toBe("403 insufficient_scope");
  expect(await bob.done("POST", accept, { token })).toMatchObject({ team: { id: "bakery" }, member: { id: "bob" } });
  expect(await bob.refused("POST", accept, { token })).toBe("409 invitation_not_pending");
});

test("a tenant user without a verified address accepts no invitation by signing in", async () => {
  const owner = await fixture.tenantUser("garage", "ann");
  await owner.done("POST", "/v1/colony/members", { email: "bob@garage.test", role: "member" });
  const bob = await fixture.tenantUser("garage", "bob", { email_verified: "false" });
  await bob.done("GET", "/v1/agents");
  expect((await owner.done("GET", "/v1/colony/invitations?status=pending")).count).toBe(1);
});

test("a revoked tenant user who is invited again is active at the next request", async () => {
  const owner = await fixture.tenantUser("tailors", "ann");
  const bob = await fixture.tenantUser("tailors", "bob");
  for (const person of [owner, bob]) await person.done("GET", "/v1/agents");
  expect(await owner.done("DELETE", "/v1/colony/members/bob")).toEqual({ status: "removed", id: "bob" });
  await until(async () => (await bob.refused("GET", "/v1/agents")) === "403 membership_revoked");
  const claiming = await fixture.tenantUser("tailors", "bob", { role: "tenant:admin" });
  expect(await claiming.refused("GET", "/v1/agents")).toBe("403 membership_revoked");
  await owner.done("POST", "/v1/colony/members", { email: bob.email, role: "admin" });
  await until(async () => (await bob.refused("GET", "/v1/agents")) === "200 undefined");
  expect(await bob.refused("POST", "/v1/colony/members", { email: "x@tailors.test" })).toBe("201 undefined");
});

test("everything that changes a colony is on record", async () => {
  const [ann, bob] = [await fixture.person("ann"), await fixture.person("bob")];
  const { id, slug } = await ann.team();
  const { token } = await ann.done("POST", "/v1/colony/members", { email: bob.email });
  await bob.done("POST", accept, { token });
  await ann.done("PATCH", `/v1/colony/members/${bob.userId}`, { role: "admin" });
  await ann.done("PATCH", `/v1/colony/members/${bob.userId}`, { role: "owner" });
  const other = await bob.done("POST", "/v1/colony/members", { email: "x@record.test" });
  await bob.done("DELETE", `/v1/colony/invitations/${other.id}`);
  await bob.done("DELETE", `/v1/colony/members/${ann.userId}`);
  await bob.call("DELETE", `/v1/teams/${id}`);
  const entries = await fixture.stores.sql<{ action: string }[]>`
    select action from audit_entries where tenant = ${slug} and outcome = 'allowed' order by at, id`;
  expect(entries.map(({ action }) => action)).toEqual([
    "team.created",
    "invitation.created",
    "invitation.accepted",
    "member.joined",
    "member.role_changed",
    "team.transferred",
    "member.role_changed",
    "invitation.created",
    "invitation.cancelled",
    "member.removed",
    "team.deleted",
  ]);
});
