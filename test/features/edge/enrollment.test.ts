/** Enrollment tokens, enrolled hosts and their keys, of a whole node (docs/reference/edge.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose";
import { publicHalf, signed } from "../../actors/edge/vectors.ts";
import { until } from "../../harness/until.ts";
import { EdgeFixture, type Headers, newKey, told } from "./fixture.ts";

let at: EdgeFixture;
let ann: Headers;
let zoe: Headers;
beforeAll(async () => {
  at = await EdgeFixture.open();
  ann = await at.user("acme", "ann");
  zoe = await at.user("zeta", "zoe");
  for (const headers of [ann, zoe]) await at.node.call("GET", "/v1/agents", undefined, headers);
});
afterAll(() => at?.close());

test("a token says where to go and by whom it is signed; no list has its text", async () => {
  const { status, body } = await at.call("POST", "enrollment-tokens", ann, {
    name: " web-1 ",
    tags: ["web", "a", "a"],
  });
  expect(status).toBe(200);
  const { port } = new URL(at.node.url);
  expect(body).toMatchObject({
    name: "web-1",
    tags: ["a", "web"],
    tenant_id: "acme",
    controller_endpoint: `127.0.0.1:${port}`,
    controller_url: at.node.url,
    qr_payload: `svc-edge-enroll://${body.token}`,
    command_hint: `svc edge enroll ${body.token}`,
  });
  const { body: keySet } = await at.node.call("GET", "/.well-known/jwks.json");
  const { payload, protectedHeader } = await jwtVerify(body.token, createLocalJWKSet(keySet), {
    audience: "edge-enrollment",
  });
  expect(protectedHeader.kid).toMatch(/^edge-/);
  expect([payload.jti, payload.tid, (payload.exp ?? 0) - (payload.nbf ?? 0)]).toEqual([body.id, "acme", 900]);
  const list = await at.call("GET", "enrollment-tokens?status=outstanding", ann);
  expect(list.body.enrollment_tokens).toEqual(list.body.items);
  const rows = await at.stores.sql`select row_to_json(t)::text as row from edge_enrollment_tokens t`;
  for (const text of [JSON.stringify(list.body), JSON.stringify(rows), at.node.output])
    expect(text.includes(body.token.split(".")[2])).toBe(false);
});

test("a token lives 900 s at most, and after its time it is gone", async () => {
  for (const ttl_seconds of [0, 901, 1.5])
    expect(told(await at.call("POST", "enrollment-tokens", ann, { ttl_seconds }))).toEqual([422, "validation_failed"]);
  const token = await at.token(ann, { ttl_seconds: 1 });
  const gone = await until(
    async () => {
      const answer = await at.enroll(token, newKey(), { signature: "AAAA" });
      // A wrong proof uses nothing up: the token's time alone passes.
      return Date.now() / 1000 > (decodeJwt(token).exp ?? 0) + 1 && answer;
    },
    { timeoutMs: 10_000, what: "the token's end" },
  );
  expect(told(gone)).toEqual([401, "invalid_proof"]);
  expect(told(await at.enroll(token, newKey()))).toEqual([410, "enrollment_token_expired"]);
});

test("a token is redeemed by one key, which may repeat it; wrong proofs cost nothing", async () => {
  const token = await at.token(ann, { name: "db-1", tags: ["db"] });
  const key = newKey();
  expect(told(await at.enroll(token, key, { signature: signed(key, "something else") }))).toEqual([
    401,
    "invalid_proof",
  ]);
  expect(told(await at.enroll(token, key, { public_key: publicHalf(newKey()) }))).toEqual([401, "invalid_proof"]);
  const first = await at.enroll(token, key, { name: "mine", agent_version: "0.1.0" });
  expect([first.status, first.body.name, first.body.tags, first.body.connect_url]).toEqual([
    200,
    "db-1",
    ["db"],
    `${at.node.url.replace("http", "ws")}/v1/edge/connect`,
  ]);
  expect((await at.enroll(token, key)).body).toEqual(first.body);
  expect(told(await at.enroll(token, newKey()))).toEqual([409, "token_redeemed"]);
  expect(told(await at.call("DELETE", `enrollment-tokens/${decodeJwt(token).jti}`, ann))).toEqual([
    409,
    "token_redeemed",
  ]);
  const incident = await until(
    async () => {
      const { body } = await at.node.call("GET", "/v1/security/incidents?category=edge_token_reused", undefined, ann);
      return body.items[0];
    },
    { what: "the incident" },
  );
  expect([incident.severity, incident.details.node_id]).toEqual(["high", first.body.node_id]);
});

test("of two keys that redeem one token at once, one gets the host", async () => {
  const token = await at.token(ann);
  const answers = await Promise.all(Array.from({ length: 8 }, () => at.enroll(token, newKey())));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
  // One key by many tokens, at once: one host.
  const key = newKey();
  const tokens = await Promise.all(Array.from({ length: 4 }, () => at.token(ann)));
  const hosts = await Promise.all(tokens.map((one) => at.enroll(one, key)));
  const enrolled = hosts.filter(({ status }) => status === 200);
  expect(new Set(enrolled.map(({ body }) => body.node_id)).size).toBe(1);
  expect(hosts.filter(({ status }) => status !== 200).every(({ status }) => status === 409)).toBe(true);
});

test("a revoked token, one of another issuer and one that was altered enroll none", async () => {
  const token = await at.token(ann);
  const [head, payload, signature] = token.split(".");
  const claims = { ...decodeJwt(token), tid: "zeta" };
  const altered = [head, Buffer.from(JSON.stringify(claims)).toString("base64url"), signature].join(".");
  const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
  const security = await at.node.token({ username: "ann" }, "tenant-acme");
  for (const text of [altered, none, security, "", "a.b.c", "x".repeat(4000), "\u{1F600}"])
    expect([text, ...told(await at.enroll(text, newKey()))]).toEqual([text, 401, "invalid_enrollment_token"]);
  const id = decodeJwt(token).jti;
  expect(told(await at.call("DELETE", `enrollment-tokens/${id}`, zoe))).toEqual([404, "enrollment_token_not_found"]);
  for (let round = 0; round < 2; round++)
    expect((await at.call("DELETE", `enrollment-tokens/${id}`, ann)).status).toBe(204);
  expect(told(await at.enroll(token, newKey()))).toEqual([410, "enrollment_token_revoked"]);
});

test("the eleventh failure of an address in a minute is 429, others' are not", async () => {
  const address = at.address();
  const codes: unknown[] = [];
  for (let round = 0; round < 11; round++) codes.push((await at.enroll("nothing", newKey(), {}, address)).status);
  expect(codes).toEqual([...Array(10).fill(401), 429]);
  expect((await at.enroll("nothing", newKey())).status).toBe(401);
});

test("a key stays one host's, in one tenant, also once the host is revoked", async () => {
  const { id, key } = await at.host(ann, { name: "kept", tags: ["x"] });
  const again = await at.enroll(await at.token(ann, { name: "other", tags: ["y"] }), key);
  expect([again.body.node_id, again.body.name, again.body.tags]).toEqual([id, "kept", ["x"]]);
  expect(told(await at.enroll(await at.token(zoe), key))).toEqual([409, "key_in_use"]);
  expect((await at.call("DELETE", `hosts/${id}`, ann)).status).toBe(204);
  expect(told(await at.call("DELETE", `hosts/${id}`, ann))).toEqual([404, "host_not_found"]);
  // its key → 409 at enroll
  expect(told(await at.enroll(await at.token(ann), key))).toEqual([409, "key_in_use"]);
});

test("a next key takes both signatures, a fresh time and a key that no host had", async () => {
  const { id, key } = await at.host(ann);
  const next = newKey();
  const now = Math.floor(Date.now() / 1000);
  for (const answer of [
    await at.rotate(id, newKey(), next),
    await at.rotate(id, key, next, now - 400),
    await at.rotate(id, key, next, now + 400),
    await at.rotate(crypto.randomUUID(), key, next),
  ])
    expect(told(answer)).toEqual([401, "invalid_proof"]);
  const other = await at.host(zoe);
  expect(told(await at.rotate(id, key, other.key))).toEqual([409, "key_in_use"]);
  expect(told(await at.rotate(id, key, key))).toEqual([409, "key_in_use"]);
  for (let round = 0; round < 2; round++)
    expect(await at.rotate(id, key, next)).toMatchObject({ status: 200, body: { node_id: id, pending: true } });
  expect(told(await at.enroll(await at.token(zoe), next))).toEqual([409, "key_in_use"]);
  const codes: number[] = [];
  for (let round = 0; round < 20; round++) codes.push((await at.rotate(id, key, newKey())).status);
  expect(codes.slice(-3)).toEqual([200, 429, 429]);
  await at.call("DELETE", `hosts/${id}`, ann);
  expect(told(await at.rotate(id, key, newKey()))).toEqual([401, "invalid_proof"]);
  const { body } = await at.node.call("GET", `/v1/audit?target_id=${id}`, undefined, ann);
  const actions = body.items.map(({ action }: { action: string }) => action);
  expect(new Set(actions)).toEqual(new Set(["edge.host_enrolled", "edge.key_rotated", "edge.host_revoked"]));
});

test("PATCH replaces tags, POST adds and removes; overlaps and a 65th are refused", async () => {
  const { id } = await at.host(ann, { tags: ["a", "b"] });
  const tags = async (method: string, path: string, body: object) => {
    const answer = await at.call(method, `hosts/${id}${path}`, ann, body);
    return answer.status === 200 ? answer.body.tags : told(answer);
  };
  expect(await tags("PATCH", "", { tags: ["c", "b", "c"] })).toEqual(["b", "c"]);
  expect(await tags("POST", "/tags", { add: ["a", "a"], remove: ["b", "gone"] })).toEqual(["a", "c"]);
  expect(await tags("POST", "/tags", { add: ["x"], remove: ["x"] })).toEqual([422, "validation_failed"]);
  const many = Array.from({ length: 64 }, (_, at) => `t${at}`);
  expect(await tags("PATCH", "", { tags: [...many, ...many] })).toHaveLength(64);
  expect(await tags("POST", "/tags", { add: ["u"] })).toEqual([422, "validation_failed"]);
  expect(await tags("PATCH", "", { add_tags: ["u"], remove_tags: ["t0"] })).toHaveLength(64);
  for (const bad of ["", "-a", "a b", "ä", "a".repeat(129)])
    expect(await tags("PATCH", "", { tags: [bad] })).toEqual([422, "validation_failed"]);
  const held = await at.call("PATCH", `hosts/${id}`, ann, { name: " new ", accepting: false });
  expect([held.body.name, held.body.accepting, held.body.not_accepting]).toEqual(["new", false, ["held"]]);
  expect((await at.call("PATCH", `hosts/${id}`, ann, { accepting: true })).body.accepting).toBe(true);
  expect(told(await at.call("PATCH", `hosts/${id}`, ann, { name: "  " }))).toEqual([422, "validation_failed"]);
});

test("hosts are found by tags, and the cursor visits each once", async () => {
  const mia = await at.consumer("mia", { tier: "enterprise" });
  const names = ["c", "a", "b", "a", "d"];
  const hosts = await Promise.all(names.map((name, place) => at.host(mia, { name, tags: ["all", `p${place}`] })));
  const list = async (query: string) => (await at.call("GET", `hosts?${query}`, mia)).body;
  expect((await list("")).hosts.map(({ name }: { name: string }) => name)).toEqual(["a", "a", "b", "c", "d"]);
  expect((await list("tag=all&tag=p1")).items.map(({ id }: { id: string }) => id)).toEqual([hosts[1]?.id]);
  expect((await list("tag=p0&tag=p1")).count).toBe(0);
  const seen: string[] = [];
  for (let cursor = ""; ; ) {
    const page = await list(`limit=2&cursor=${cursor}`);
    seen.push(...page.items.map(({ id }: { id: string }) => id));
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  expect([seen.length, new Set(seen).size]).toEqual([5, 5]);
  await at.call("DELETE", `hosts/${hosts[0]?.id}`, mia);
  const counts = await Promise.all(
    ["", "include_revoked=true", "status=revoked", "connected=false", "connected=true"].map(list),
  );
  expect(counts.map(({ count }) => count)).toEqual([4, 5, 1, 4, 0]);
});

test("a tenant has as many hosts as its plan allows", async () => {
  const mo = await at.consumer("mo", { tier: "free" });
  const tokens = await Promise.all(Array.from({ length: 7 }, () => at.token(mo)));
  const answers = await Promise.all(tokens.map((token) => at.enroll(token, newKey())));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 402, 402]);
  const refused = await at.call("POST", "enrollment-tokens", mo, {});
  expect([...told(refused), refused.body.quota, refused.body.limit]).toEqual([402, "quota_exceeded", "edge_hosts", 5]);
  const [one] = (await at.call("GET", "hosts", mo)).body.items;
  await at.call("DELETE", `hosts/${one.id}`, mo);
  const unused = tokens[answers.findIndex(({ status }) => status === 402)] ?? "";
  expect((await at.enroll(unused, newKey())).status).toBe(200);
});

test("each route asks for its scope, and a foreign id is an unknown one", async () => {
  const { id } = await at.host(ann);
  const bob = await at.user("acme", "bob", { role: "tenant:member" });
  await at.node.call("GET", "/v1/agents", undefined, bob);
  const readonly = await at.operator("readonly");
  const token = (await at.call("POST", "enrollment-tokens", ann, {})).body.id;
  const routes: readonly (readonly [string, string, unknown, string | null])[] = [
    ["POST", "enrollment-tokens", {}, "aegis.edge.enroll"],
    ["GET", "enrollment-tokens", undefined, "aegis.edge.enroll"],
    ["DELETE", `enrollment-tokens/${token}`, undefined, "aegis.edge.enroll"],
    ["GET", "hosts", undefined, null],
    ["GET", `hosts/${id}`, undefined, null],
    ["PATCH", `hosts/${id}`, { name: "x" }, "aegis.edge.hosts.write"],
    ["POST", `hosts/${id}/tags`, { add: ["x"] }, "aegis.edge.hosts.write"],
    ["DELETE", `hosts/${id}`, undefined, "aegis.edge.hosts.write"],
  ];
  const before = (await at.call("GET", `hosts/${id}`, ann)).body;
  for (const [method, path, body, scope] of routes) {
    for (const headers of [bob, readonly]) {
      const answer = await at.call(method, path, headers, body);
      if (scope !== null)
        expect([path, ...told(answer), answer.body.required]).toEqual([path, 403, "insufficient_scope", scope]);
      else if (headers === bob || !path.includes("/")) expect([path, answer.status]).toEqual([path, 200]);
    }
    if (path.includes("/")) expect([path, (await at.call(method, path, zoe, body)).status]).toEqual([path, 404]);
  }
  expect((await at.call("GET", `hosts/${id}`, ann)).body).toEqual(before);
  expect(told(await at.call("GET", "hosts/x", ann))).toEqual([400, "invalid_id"]);
});

test("a token of a team takes its owner or admin, and makes the host the team's", async () => {
  const vic = await at.consumer("vic", { tier: "business", email: "vic@vic.test" });
  const made = await at.node.call("POST", "/v1/teams", { display_name: "ops", name: "ops" }, vic);
  expect(made.status).toBe(201);
  const team = made.body.tenant_id as string;
  const { body } = await at.call("POST", "enrollment-tokens", vic, { team_tenant_id: team.replace(/^t-/, "") });
  expect(body.tenant_id).toBe(team);
  const host = await at.enroll(body.token, newKey());
  expect([host.status, host.body.tenant_id]).toEqual([200, team]);
  expect((await at.call("GET", `hosts/${host.body.node_id}`, vic)).status).toBe(404);
  expect((await at.call("GET", `hosts/${host.body.node_id}`, { ...vic, "X-Svc-Team": team })).status).toBe(200);
  for (const other of [ann, await at.consumer("cleo", { tier: "enterprise" })])
    expect(told(await at.call("POST", "enrollment-tokens", other, { team_tenant_id: team }))).toEqual([
      403,
      "not_a_team_admin",
    ]);
});
