/** Teams, their members, roles and seats, on a node (docs/reference/colony.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { manifest, say } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ColonyFixture, type Headers } from "./fixture.ts";

let fixture: ColonyFixture;
beforeAll(async () => {
  fixture = await ColonyFixture.open();
});
afterAll(() => fixture?.close());

const unknownTeam = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11";

test("a business owner makes a team; a free consumer, and who has no address, does not", async () => {
  const ann = await fixture.person("ann");
  const free = await fixture.person("free", { tier: "free" });
  const unproven = await fixture.person("unproven", { email_verified: "false" });
  const made = await ann.done("POST", "/v1/teams", { display_name: "Payments" });
  expect(made).toEqual({
    team: expect.any(Object),
    id: expect.any(String),
    slug: `t-${made.id}`,
    display_name: "Payments",
    tier: "business",
    tenant_id: `t-${made.id}`,
    role: "owner",
    status: "active",
    member_count: 1,
    created_at: expect.any(String),
  });
  const { team, ...rest } = made;
  expect(team).toEqual(rest);
  for (const path of ["/v1/teams", "/v1/colony/teams"]) {
    const list = await ann.done("GET", path);
    expect([list.teams, list.items, list.count]).toEqual([[rest], [rest], 1]);
  }
  expect((await free.done("GET", "/v1/teams")).items).toEqual([]);
  expect(await free.refused("POST", "/v1/teams", { display_name: "x" })).toBe("402 personal_tier_too_low");
  expect(await ann.refused("POST", "/v1/teams", { display_name: "x", tier: "enterprise" })).toBe(
    "402 personal_tier_too_low",
  );
  expect(await unproven.refused("POST", "/v1/teams", { display_name: "x" })).toBe("422 email_required");
  expect(await ann.refused("POST", "/v1/teams", { display_name: " " })).toBe("422 validation_failed");
  expect(await ann.refused("POST", "/v1/teams", { display_name: "x".repeat(129) })).toBe("422 validation_failed");
});

test("machines, tenant users and keys make no team", async () => {
  const user = await fixture.tenantUser("nomads", "ann");
  expect(await user.refused("POST", "/v1/teams", { display_name: "x" })).toBe("403 user_identity_required");
  const { status, body } = await fixture.node.call("POST", "/v1/teams", { display_name: "x" });
  expect([status, body.code]).toEqual([403, "user_identity_required"]);
});

test("the same Idempotency-Key makes one team", async () => {
  const ann = await fixture.person("ann");
  const make = () => ann.call("POST", "/v1/teams", { display_name: "Once" }, { "Idempotency-Key": "once" });
  const [first, second] = [await make(), await make()];
  expect(second.body).toEqual(first.body);
  expect((await ann.done("GET", "/v1/teams")).count).toBe(1);
});

test("a 21st team is refused", async () => {
  const ann = await fixture.person("ann");
  for (let made = 0; made < 20; made++) await ann.team(`Team ${made}`);
  expect(await ann.refused("POST", "/v1/teams", { display_name: "x" })).toBe("402 quota_exceeded");
  const page = await ann.done("GET", "/v1/teams?limit=15");
  const rest = await ann.done("GET", `/v1/teams?limit=15&cursor=${page.next_cursor}`);
  expect([page.count, rest.count, rest.next_cursor]).toEqual([15, 5, null]);
  await ann.call("DELETE", `/v1/teams/${page.items[0].id}`);
  expect(await ann.refused("POST", "/v1/teams", { display_name: "x" })).toBe("201 undefined");
});

test("X-Svc-Team, team_id and the one team of a person choose the colony", async () => {
  const ann = await fixture.person("ann");
  const eve = await fixture.person("eve");
  expect((await ann.done("GET", "/v1/colony/members")).items).toMatchObject([
    { id: ann.userId, email: ann.email, role: "owner", status: "active", membership_id: null },
  ]);
  const one = await ann.team("One");
  const membersOf = async (person: typeof ann, path = "/v1/colony/members") =>
    (await person.done("GET", path)).items.map(({ id, membership_id }: Record<string, unknown>) => [
      id,
      typeof membership_id,
    ]);
  expect(await membersOf(ann)).toEqual([[ann.userId, "string"]]);
  const two = await ann.team("Two");
  expect(await ann.refused("GET", "/v1/colony/members")).toBe("400 team_context_required");
  for (const id of [one.id, one.slug, one.id.toUpperCase()])
    expect([await membersOf(ann, `/v1/colony/members?team_id=${id}`), await membersOf(ann.in(id))]).toEqual([
      [[ann.userId, "string"]],
      [[ann.userId, "string"]],
    ]);
  expect(await ann.in(one.id).refused("GET", `/v1/colony/members?team_id=${two.id}`)).toBe("400 team_context_required");
  for (const team of [one.id, unknownTeam]) {
    expect(await eve.in(team).refused("GET", "/v1/colony/members")).toBe("403 not_a_team_member");
    expect(await eve.refused("GET", `/v1/colony/members?team_id=${team}`)).toBe("403 not_a_team_member");
  }
  expect(await eve.refused("GET", "/v1/colony/members?team_id=nonsense")).toBe("400 invalid_tenant_slug");
  expect(await eve.in("nonsense").refused("GET", "/v1/colony/members")).toBe("400 invalid_tenant_slug");
  expect(await eve.refused("POST", "/v1/colony/members", { email: "x@y.test" })).toBe("403 tier_not_permitted");
});

test("the platform's tenant shows no members and takes none", async () => {
  const get = (path: string) => fixture.node.call("GET", path);
  expect((await get("/v1/colony/members")).body).toMatchObject({ items: [], count: 0 });
  expect((await get("/v1/colony/saml")).body).toMatchObject({ configured: false, provisioning: "none" });
  expect((await get("/v1/colony/subscription")).body).toMatchObject({
    tier: "enterprise",
    features: ["volumes", "edge", "teams", "saml", "audit_export"],
  });
  const invited = await fixture.node.call("POST", "/v1/colony/members", { email: "x@y.test" });
  expect([invited.status, invited.body.code]).toEqual([400, "team_context_required"]);
});

test("the subject of a team member from another realm is no member", async () => {
  const ann = await fixture.person("ann");
  const { id } = await ann.team();
  const double = await fixture.tenantUser("impostors", ann.userId);
  expect(await double.in(id).refused("GET", "/v1/agents")).toBe("403 not_a_team_member");
  expect(await double.refused("GET", `/v1/colony/members?team_id=${id}`)).toBe("403 not_a_team_member");
  const claiming = await fixture.node.token(
    { username: "x", sub: "someone-else", tenant_id: `t-${id}` },
    "svc-consumer",
  );
  const { body } = await fixture.node.call("GET", "/v1/agents", undefined, { Authorization: `Bearer ${claiming}` });
  expect(body.code).toBe("invalid_tenant_slug");
});

test("a tenant claim may name a team that the consumer is in", async () => {
  const ann = await fixture.person("ann");
  const { slug } = await ann.team();
  const token = await fixture.node.token({ username: ann.userId, sub: ann.userId, tenant_id: slug }, "svc-consumer");
  const { body } = await fixture.node.call(
    "POST",
    "/v1/volumes",
    { label: "papers" },
    { Authorization: `Bearer ${token}` },
  );
  expect(body.tenant_id).toBe(slug);
});

test("roles change by both routes, and answer a full member", async () => {
  const [ann, bob, eve] = [await fixture.person("ann"), await fixture.person("bob"), await fixture.person("eve")];
  const { id } = await ann.team();
  await ann.bring(bob);
  await ann.bring(eve);
  const path = `/v1/colony/members/${bob.userId}`;
  const member = {
    id: bob.userId,
    user_id: bob.userId,
    membership_id: expect.any(String),
    realm: "svc-consumer",
    email: bob.email,
    name: null,
    role: "admin",
    status: "active",
    invited_at: expect.any(String),
    joined_at: expect.any(String),
  };
  expect(await ann.done("PATCH", path, { role: "admin" })).toEqual(member);
  expect(await ann.done("PUT", "/v1/colony/roles", { user_id: bob.userId, role: "member" })).toEqual({
    ...member,
    role: "member",
  });
  expect(await ann.done("PUT", "/v1/colony/roles", { user_id: bob.userId, role: "admin" })).toEqual(member);
  const asEve = eve.in(id);
  expect(await asEve.refused("PATCH", path, { role: "member" })).toBe("403 insufficient_scope");
  expect(await bob.refused("PATCH", `/v1/colony/members/${ann.userId}`, { role: "member" })).toBe(
    "409 owner_role_immutable",
  );
  expect(await bob.refused("PATCH", `/v1/colony/members/${eve.userId}`, { role: "owner" })).toBe("403 owner_only");
  expect(await ann.refused("PATCH", path, { role: "queen" })).toBe("422 validation_failed");
  expect(await ann.refused("PATCH", "/v1/colony/members/unknown", { role: "admin" })).toBe("404 not_found");
});

test("the ownership goes over to a member whose tier allows the team", async () => {
  const ann = await fixture.person("ann");
  const bob = await fixture.person("bob");
  const low = await fixture.person("low", { tier: "pro" });
  const { slug } = await ann.team();
  await ann.bring(bob);
  await ann.bring(low);
  await Promise.all([bob, low].map((person) => person.done("GET", "/v1/agents")));
  const give = (to: typeof bob) => ann.refused("PATCH", `/v1/colony/members/${to.userId}`, { role: "owner" });
  expect(await give(low)).toBe("402 personal_tier_too_low");
  expect(await give(bob)).toBe("200 undefined");
  const rolesSeen = (await bob.done("GET", "/v1/colony/members")).items.map(
    ({ id, role }: Record<string, string>) => `${id} ${role}`,
  );
  expect(rolesSeen.sort()).toEqual([`${ann.userId} admin`, `${bob.userId} owner`, `${low.userId} member`].sort());
  const [tenant] = await fixture.stores.sql`select owner_tenant from tenants where slug = ${slug}`;
  expect(tenant?.owner_tenant).toBe(`u-${bob.userId.replaceAll("-", "")}`);
  expect(await ann.refused("DELETE", `/v1/teams/${slug.slice(2)}`)).toBe("403 owner_only");
});

test("of two transfers at once one counts: a former owner gives the team to no other", async () => {
  const [ann, bob, eve] = [await fixture.person("ann"), await fixture.person("bob"), await fixture.person("eve")];
  const { slug } = await ann.team();
  for (const person of [bob, eve]) {
    await ann.bring(person);
    await person.done("GET", "/v1/agents");
  }
  const give = (to: typeof bob) => ann.refused("PATCH", `/v1/colony/members/${to.userId}`, { role: "owner" });
  expect((await Promise.all([give(bob), give(eve)])).sort()).toEqual(["200 undefined", "403 owner_only"]);
  const owners = await fixture.stores.sql`
    select user_id from tenant_members where tenant = ${slug} and role = 'owner'`;
  expect(owners).toHaveLength(1);
});

test("a member removes himself, the owner does not, and others only those in charge", async () => {
  const [ann, bob, eve] = [await fixture.person("ann"), await fixture.person("bob"), await fixture.person("eve")];
  const { id } = await ann.team();
  await ann.bring(bob);
  await ann.bring(eve);
  expect(await bob.refused("DELETE", `/v1/colony/members/${eve.userId}`)).toBe("403 insufficient_scope");
  expect(await bob.done("DELETE", `/v1/colony/members/${bob.userId}`)).toEqual({ status: "removed", id: bob.userId });
  expect(await ann.refused("DELETE", `/v1/colony/members/${ann.userId}`)).toBe("409 owner_role_immutable");
  await until(async () => (await bob.in(id).refused("GET", "/v1/agents")) === "403 not_a_team_member");
  const { membership_id } = (await ann.done("GET", "/v1/colony/members")).items.find(
    ({ id }: { id: string }) => id === eve.userId,
  );
  expect(await ann.done("DELETE", `/v1/colony/members/${membership_id}`)).toMatchObject({ status: "removed" });
  expect(await ann.refused("DELETE", `/v1/colony/members/${membership_id}`)).toBe("404 not_found");
});

test("removing a member ends the keys and the open streams in the team", async () => {
  const [ann, bob] = [await fixture.person("ann"), await fixture.person("bob")];
  const { id } = await ann.team();
  await ann.bring(bob);
  const asBob = bob.in(id);
  const agent = manifest({ name: "clerk", script: [say("done")], runtime: { bootstrap_path: undefined } });
  const { agent_id } = await ann.in(id).done("POST", "/v1/agents", agent);
  const { key } = await asBob.done("POST", "/v1/api-keys", { name: "ci" });
  const byKey = () => fixture.node.call("GET", "/v1/agents", undefined, { Authorization: `Bearer ${key}` });
  expect((await byKey()).body.items).toMatchObject([{ agent_id }]);
  const open = async (headers: Headers) => {
    const stream = await fetch(`${fixture.node.url}/v1/agents/${agent_id}/events`, { headers });
    expect(stream.status).toBe(200);
    return stream.text();
  };
  const streams = [open(asBob.headers), open({ Authorization: `Bearer ${key}` })];
  expect(await ann.done("DELETE", `/v1/colony/members/${bob.userId}`)).toEqual({ status: "removed", id: bob.userId });
  // Each ends by itself.
  await Promise.all(streams);
  await until(async () => (await byKey()).body.code === "invalid_api_key");
  await until(async () => (await asBob.refused("GET", "/v1/agents")) === "403 not_a_team_member");
  expect(await bob.refused("GET", "/v1/agents")).toBe("200 undefined");
});

test("a key stays in the tenant it was made in, and makes no team", async () => {
  const ann = await fixture.person("ann");
  const { id } = await ann.team();
  const { key } = await ann.done("POST", "/v1/api-keys", { name: "home" });
  const byKey = (method: string, path: string, body?: unknown) =>
    fixture.node.call(method, path, body, { Authorization: `Bearer ${key}` });
  expect((await byKey("POST", "/v1/teams", { display_name: "x" })).body.code).toBe("user_identity_required");
  expect((await byKey("GET", `/v1/colony/members?team_id=${id}`)).body.code).toBe("not_a_team_member");
  expect((await byKey("GET", "/v1/teams")).body.items).toEqual([]);
  expect((await byKey("DELETE", `/v1/teams/${id}`)).body.code).toBe("owner_only");
  expect((await byKey("POST", "/v1/colony/members", { email: "x@y.test" })).body.code).toBe("tier_not_permitted");
  expect((await byKey("POST", "/v1/colony/invitations/accept", { token: "x" })).body.code).toBe(
    "user_identity_required",
  );
});

test("a subject of two realms in one team is told apart by the membership", async () => {
  const ann = await fixture.person("ann");
  const bob = await fixture.person("bob");
  const twin = await fixture.tenantUser("twins", bob.userId);
  await ann.team();
  await ann.bring(bob);
  await ann.bring(twin);
  const path = `/v1/colony/members/${bob.userId}`;
  expect(await ann.refused("PATCH", path, { role: "admin" })).toBe("409 ambiguous_user");
  expect(await ann.refused("DELETE", path)).toBe("409 ambiguous_user");
  const { items } = await ann.done("GET", "/v1/colony/members");
  const one = items.find(({ realm }: { realm: string }) => realm === "tenant-twins");
  expect(await ann.done("PATCH", `/v1/colony/members/${one.membership_id}`, { role: "admin" })).toMatchObject({
    realm: "tenant-twins",
    role: "admin",
  });
});

test("over the cap of seats 402 seat_cap_reached; a replaced invitation takes no other", async () => {
  const ann = await fixture.person("ann");
  const one = await ann.team("One");
  const two = await ann.team("Two");
  const invite = (team: string, email: string) =>
    ann.in(team).refused("POST", "/v1/colony/members", { email, role: "member" });
  expect(await invite(one.id, "a@seats.test")).toBe("201 undefined");
  expect(await invite(two.id, "b@seats.test")).toBe("201 undefined");
  expect(await invite(one.id, "c@seats.test")).toBe("201 undefined");
  expect(await invite(two.id, "d@seats.test")).toBe("201 undefined");
  expect(await invite(one.id, "A@seats.test")).toBe("201 undefined");
  const { status, body } = await ann.in(one.id).call("POST", "/v1/colony/members", { email: "e@seats.test" });
  expect([status, body.code, body.members_used, body.members_limit]).toEqual([402, "seat_cap_reached", 5, 5]);
  expect(await ann.in(one.id).done("GET", "/v1/colony/subscription")).toEqual({
    tier: "business",
    status: "none",
    features: ["volumes", "edge", "teams"],
    quota_usage: {
      max_agents: { used: 0, limit: 200 },
      max_concurrent_executions: { used: 0, limit: 25 },
      max_storage_gb: { used: 0, limit: 50 },
    },
    members_used: 5,
    members_limit: 5,
    seat_count: 5,
    current_period_end: null,
    is_team: true,
  });
});

test("of invitations that come at once no more pass than there are seats", async () => {
  const ann = await fixture.person("ann");
  const { id } = await ann.team();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      ann.in(id).refused("POST", "/v1/colony/members", { email: `${index}@rush.test` }),
    ),
  );
  expect(answers.sort()).toEqual([...Array(4).fill("201 undefined"), ...Array(4).fill("402 seat_cap_reached")]);
});

test("when the owner's subscription ends the team answers 402 until it is renewed", async () => {
  const [ann, bob] = [await fixture.person("ann"), await fixture.person("bob")];
  const { id, slug } = await ann.team();
  await ann.bring(bob);
  const { sql } = fixture.stores;
  const subscribe = (tier: string) =>
    sql`update tenants set subscription_tier = ${tier} where slug = ${`u-${ann.userId.replaceAll("-", "")}`}`;
  const asBob = bob.in(id);
  await subscribe("free");
  await until(async () => (await asBob.refused("GET", "/v1/agents")) === "402 colony_suspended");
  expect(await asBob.refused("POST", "/v1/volumes", { label: "x" })).toBe("402 colony_suspended");
  const { body } = await asBob.call("GET", "/v1/agents");
  expect(body).toMatchObject({
    code: "colony_suspended",
    team_id: id,
    tenant_id: slug,
    reason: "owner_subscription_below_business",
    remediation: expect.any(String),
  });
  // What pays for it, shows it or takes something away still answers.
  expect((await ann.in(id).done("GET", "/v1/teams")).items).toMatchObject([{ status: "plan_suspended", tier: "free" }]);
  expect((await ann.in(id).done("GET", "/v1/colony/members")).count).toBe(2);
  expect(await ann.refused("POST", `/v1/colony/members?team_id=${id}`, { email: "x@y.test" })).toBe(
    "402 colony_suspended",
  );
  await subscribe("business");
  await until(async () => (await asBob.refused("GET", "/v1/agents")) === "200 undefined");
  expect((await ann.done("GET", "/v1/teams")).items).toMatchObject([{ status: "active", tier: "business" }]);
});

test("a team suspended by an administrator stays so after a payment", async () => {
  const ann = await fixture.person("ann");
  const { id, slug } = await ann.team();
  const { sql } = fixture.stores;
  await sql`update tenants set status = 'suspended' where slug = ${slug}`;
  await sql`update tenants set subscription_tier = 'enterprise' where slug = ${`u-${ann.userId.replaceAll("-", "")}`}`;
  await until(async () => (await ann.in(id).refused("GET", "/v1/agents")) === "403 tenant_suspended");
  expect((await ann.done("GET", "/v1/teams")).items).toMatchObject([{ status: "suspended" }]);
});

test("only its owner deletes a team, with everything in it", async () => {
  const [ann, bob] = [await fixture.person("ann"), await fixture.person("bob")];
  const { id, slug } = await ann.team();
  await ann.bring(bob, "admin");
  expect(await bob.refused("DELETE", `/v1/teams/${id}`)).toBe("403 owner_only");
  expect(await ann.refused("DELETE", `/v1/teams/${unknownTeam}`)).toBe("403 owner_only");
  expect((await ann.call("DELETE", `/v1/colony/teams/${id}`)).status).toBe(204);
  expect((await ann.call("DELETE", `/v1/teams/${id}`)).status).toBe(204);
  expect((await ann.done("GET", "/v1/teams")).items).toEqual([]);
  await until(async () => (await bob.in(id).refused("GET", "/v1/agents")) === "403 tenant_deleted");
  const [tenant] = await fixture.stores.sql`select status, purge_at from tenants where slug = ${slug}`;
  expect(tenant).toMatchObject({ status: "deleted", purge_at: expect.any(Date) });
});

test("an operator in a team counts as its owner, and is not listed", async () => {
  const ann = await fixture.person("ann");
  const { slug } = await ann.team();
  const headers = await fixture.operator(slug);
  const call = (method: string, path: string, body?: unknown) => fixture.node.call(method, path, body, headers);
  expect((await call("POST", "/v1/colony/members", { email: "new@team.test" })).status).toBe(201);
  expect((await call("GET", "/v1/colony/members")).body.items.map(({ id }: { id: string }) => id)[0]).toBe(ann.userId);
  expect((await call("GET", "/v1/teams")).body.items).toMatchObject([{ slug, role: "owner" }]);
  expect((await call("GET", "/v1/colony/members")).body.count).toBe(2);
});
