import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { parseAnswer, rawRequest } from "../../http/raw.ts";
import { limit, StimuliFixture, secret, signed } from "./fixture.ts";

let fixture: StimuliFixture;
beforeAll(async () => {
  fixture = await StimuliFixture.open({
    SVC_WEBHOOK_SECRET_CI: secret,
    SVC_WEBHOOK_SECRET_MY_CI_X: secret,
    SVC_WEBHOOK_SECRET_BARE: secret,
    SVC_WEBHOOK_SECRET_NOISY: secret,
    // Clients of these tests say by X-Forwarded-For who they are.
    SVC_TRUSTED_PROXIES: "127.0.0.0/8",
  });
  await fixture.workflow("on-ci");
  await fixture.route({ source: "ci", workflow: "on-ci" });
  await fixture.route({ source: "my-ci.x", workflow: "on-ci" });
});
afterAll(async () => {
  if (process.env.SHOW) console.log(fixture.node.output);
  await fixture.close();
});

const body = '{"ref":"main","n":7}';
const vector = "sha256=96f8bbef3ed836139cdce3255bd8259584f5d2047e85e3c2ec78166ca664307c";
const vectorOfNothing = "sha256=c69368fb157e585bc207bdb755c4bf41b95d1fb08a927910118d90f9629d206f";

const routeOf = async (source: string) => (await fixture.ok("GET", `/v1/stimulus-routes?source=${source}`)).items[0];

describe("a signed delivery", () => {
  test("starts the route's workflow with the content byte for byte", async () => {
    const answer = await fixture.hook("CI", body, {
      signature: vector.replace("sha256=96f8", "sha256=96F8"),
      headers: {
        "Content-Type": "application/json",
        Authorization: "Bearer x",
        Cookie: "a=b",
        "X-Hub-Signature-256": vector,
        "X-Tenant-Id": "acme",
        "X-Kept": "yes",
      },
    });
    expect(answer.status).toBe(200);
    const { stimulus_id, workflow_execution_id } = answer.body;
    expect(answer.body).toMatchObject({
      status: "classified",
      workflow_name: "on-ci",
      routing_mode: "deterministic",
      confidence: 1,
    });
    expect(answer.headers.get("location")).toBe(`/v1/workflows/executions/${workflow_execution_id}`);
    const run = await fixture.record(workflow_execution_id);
    expect(run.stimulus_id).toBe(stimulus_id);
    expect(run.initiated_by).toMatchObject({ kind: "webhook", sub: "webhook:ci" });
    // It acts for who made the source.
    expect(run.starter).toMatchObject({ sub: (await routeOf("ci")).created_by.sub });
    expect(run.input).toMatchObject({
      stimulus_content: body,
      stimulus_content_encoding: "utf-8",
      stimulus_payload: { ref: "main", n: 7 },
      stimulus_source: "ci",
      stimulus_id,
      stimulus_channel: "webhook",
    });
    expect(run.input.headers["x-kept"]).toBe("yes");
    for (const name of ["authorization", "cookie", "x-hub-signature-256", "x-tenant-id", "x-svc-signature"]) {
      expect(run.input.headers).not.toHaveProperty(name);
    }
  });

  test("of a source with other characters reads its variable", async () => {
    expect((await fixture.hook("my-ci.x", body)).status).toBe(200);
  });

  test("without a route goes to the router, and there is none", async () => {
    const answer = await fixture.hook("bare", body);
    expect([answer.status, answer.body.code]).toEqual([422, "no_router_configured"]);
    const record = await fixture.ok("GET", `/v1/stimuli/${answer.body.stimulus_id}`);
    expect(record).toMatchObject({ status: "rejected", dead_letter: true, error_code: "no_router_configured" });
  });

  test("may hold any bytes, or none", async () => {
    const bytes = new Uint8Array([0xff, 0xfe, 0, 1]);
    const binary = await fixture.hook("ci", bytes);
    const { input } = await fixture.record(binary.body.workflow_execution_id);
    expect(input).toMatchObject({
      stimulus_content: "//4AAQ==",
      stimulus_content_encoding: "base64",
      stimulus_payload: null,
    });
    expect((await fixture.hook("ci", "", { signature: vectorOfNothing })).status).toBe(200);
    const form = await fixture.hook("ci", "a=1&payload=%7B%22b%22%3A2%7D", {
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    });
    expect((await fixture.record(form.body.workflow_execution_id)).input.stimulus_payload).toEqual({
      a: "1",
      payload: { b: 2 },
    });
    const largest = JSON.stringify({ text: '"'.repeat(520_000) });
    expect((await fixture.hook("ci", largest)).status).toBe(200);
  });

  test("with Prefer: respond-async is acknowledged and routed in the background", async () => {
    const answer = await fixture.hook("ci", "later", { headers: { Prefer: "respond-async" } });
    expect([answer.status, answer.body.status, answer.body.workflow_execution_id]).toEqual([202, "received", null]);
    expect(answer.headers.get("location")).toBe(`/v1/stimuli/${answer.body.stimulus_id}`);
    const record = await fixture.settled(answer.body.stimulus_id);
    expect(record.status).toBe("classified");
    expect((await fixture.record(record.workflow_execution_id)).input.stimulus_content).toBe("later");
  });
});

describe("a delivery is turned away", () => {
  const cases: readonly [string, string, string | null, number, string][] = [
    ["without a signature", "ci", null, 401, "missing_signature"],
    ["with SHA-1", "ci", "sha1=aabb", 400, "malformed_signature"],
    ["with what is no hex", "ci", "sha256=xyz", 400, "malformed_signature"],
    ["with no hex at all", "ci", "sha256=", 400, "malformed_signature"],
    ["with another body's signature", "ci", signed("other"), 401, "invalid_signature"],
    ["with ten digits", "ci", "sha256=aabbccddee", 401, "invalid_signature"],
    ["of a source without a secret", "nobody", vector, 401, "secret_not_found"],
    ["of such a source without a signature", "nobody", null, 401, "missing_signature"],
    ["of a source that is no name", "-x", vector, 400, "invalid_source"],
    ["of a source with a slash", "a%2Fb", vector, 400, "invalid_source"],
    ["of a source encoded twice", "a%2562", vector, 400, "invalid_source"],
    ["of a source with a broken escape", "a%zz", vector, 400, "invalid_source"],
    ["of a source with a NUL", "a%00b", vector, 400, "invalid_source"],
    ["of a source that goes upwards", "..%2f..%2fv1", vector, 400, "invalid_source"],
    ["of a source too long", "a".repeat(129), vector, 400, "invalid_source"],
    ["at a provider's own place", "stripe", vector, 501, "webhook_not_configured"],
    ["at a provider's own place in capitals", "Git", vector, 404, "not_found"],
    ["at no route's URL", `ci/${crypto.randomUUID()}`, vector, 404, "webhook_endpoint_not_found"],
    ["at a URL with no id", "ci/x", vector, 404, "webhook_endpoint_not_found"],
  ];
  test.each(cases)("%s", async (_, source, signature, status, code) => {
    const answer = await fixture.hook(source, body, { signature });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("with more than a mebibyte, announced or not, or one that does not come", async () => {
    const large = "x".repeat(1_048_577);
    expect((await fixture.hook("ci", large)).status).toBe(413);
    const head = (more: string) =>
      `POST /v1/webhooks/ci HTTP/1.1\r\nHost: localhost\r\nX-Svc-Signature: ${vector}\r\n${more}\r\n\r\n`;
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    const chunked = await rawRequest(fixture.node.port, [head("Transfer-Encoding: chunked"), ...Array(18).fill(chunk)]);
    expect(parseAnswer(chunked)).toMatchObject({ status: 413, body: { code: "body_too_large" } });
    const unwanted = await rawRequest(fixture.node.port, [head("Content-Length: 99999999999")]);
    expect(parseAnswer(unwanted)).toMatchObject({ status: 413 });
  });

  test("with headers that come twice, are no text, or are huge", async () => {
    const head = (...lines: string[]) =>
      `POST /v1/webhooks/ci HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\nConnection: close\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
    const ask = async (...lines: string[]) => parseAnswer(await rawRequest(fixture.node.port, [head(...lines)]));
    const twice = await ask(`X-Svc-Signature: ${vector}`, `X-Svc-Signature: ${vector}`);
    expect(twice).toMatchObject({ status: 400, body: { code: "malformed_signature", reason: "repeated_header" } });
    const odd = await ask("X-Svc-Signature: sha256=\u00e9");
    expect(odd).toMatchObject({ status: 400, body: { code: "malformed_signature" } });
    const long = await ask(`X-Svc-Signature: ${vector}`, `X-Idempotency-Key: ${"k".repeat(1025)}`);
    expect(long).toMatchObject({ status: 422, body: { code: "validation_failed" } });
    const huge = await rawRequest(fixture.node.port, [
      head(`X-Svc-Signature: ${vector}`, `X-Idempotency-Key: ${"k".repeat(1_048_576)}`),
    ]);
    expect(huge.startsWith("HTTP/1.1 431") || huge === "").toBe(true);
    expect((await fixture.hook("ci", body)).status).toBe(200);
  });

  test("while its route is disabled or its tenant suspended, only where it is signed", async () => {
    const tenant = `t${randomBytes(4).toString("hex")}`;
    const own = "a-secret-of-their-own";
    await fixture.workflow("theirs", tenant);
    const { id } = await fixture.route({ source: "shut", workflow: "theirs", enabled: false, secret: own }, tenant);
    const disabled = await fixture.hook("shut", body, { signature: signed(body, own) });
    expect([disabled.status, disabled.body.code]).toEqual([403, "route_disabled"]);
    await fixture.as(tenant, "PATCH", `/v1/stimulus-routes/${id}`, { enabled: true });
    expect((await fixture.hook("shut", body, { signature: signed(body, own) })).status).toBe(200);
    await fixture.stores
      .sql`update ${fixture.stores.sql(fixture.stores.schema)}.tenants set status = 'suspended' where slug = ${tenant}`;
    const suspended = await fixture.until(async () => {
      const answer = await fixture.hook("shut", body, { signature: signed(body, own) });
      return answer.status === 403 ? answer : null;
    });
    expect(suspended.body.code).toBe("tenant_suspended");
    expect((await fixture.hook("shut", body, { signature: signed(body, "wrong") })).status).toBe(401);
  });

  test("once 30 signatures were wrong within a minute, unless its own is right", async () => {
    await fixture.workflow("on-noise");
    const { id } = await fixture.route({ source: "noisy", workflow: "on-noise", secret });
    const from = (client: string) => ({ "X-Forwarded-For": `203.0.113.200, ${client}` });
    const wrong = (client = "192.0.2.1", place = "noisy", content = body) =>
      fixture.hook(place, content, { signature: signed(content, "wrong"), headers: from(client) });
    const first = await Promise.all(Array.from({ length: 30 }, () => wrong()));
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set([401]));
    const next = await wrong();
    expect([next.status, next.body.code]).toEqual([429, "rate_limited"]);
    expect(Number(next.headers.get("retry-after"))).toBeGreaterThan(0);
    // Others behind the same balancer, other sources and the source's own URL are not concerned.
    expect((await wrong("192.0.2.2")).status).toBe(401);
    expect((await wrong("192.0.2.1", "ci")).status).toBe(401);
    expect((await wrong("192.0.2.1", `noisy/${id}`)).status).toBe(401);
    const right = (content: string) => fixture.hook("noisy", content, { headers: from("192.0.2.1") });
    expect((await right(body)).status).toBe(200);
    expect((await right("x".repeat(65_536))).status).toBe(200);
    // Large bodies of such a client are not read.
    const large = await right("x".repeat(65_537));
    expect([large.status, large.body.code]).toEqual([429, "rate_limited"]);
    const head = `POST /v1/webhooks/noisy HTTP/1.1\r\nHost: localhost\r\nX-Svc-Signature: ${vector}\r\nX-Forwarded-For: 192.0.2.1\r\n`;
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    const chunked = [`${head}Transfer-Encoding: chunked\r\n\r\n`, chunk, chunk];
    expect(parseAnswer(await rawRequest(fixture.node.port, chunked))).toMatchObject({ status: 429 });
    expect((await fixture.hook("noisy", "x".repeat(65_537))).status).toBe(200);
  });

  test("once the tenant's rate is used up: nothing is stored, the key stays free", async () => {
    const tenant = `t${randomBytes(4).toString("hex")}`;
    await fixture.workflow("limited", tenant);
    await limit(fixture.stores, tenant, 1);
    await fixture.route({ source: "rated", workflow: "limited", secret: "sixteen-characters" }, tenant);
    const send = (key: string) =>
      fixture.hook("rated", body, {
        signature: signed(body, "sixteen-characters"),
        headers: { "X-Idempotency-Key": key },
      });
    expect((await send("one")).status).toBe(200);
    const refused = await send("two");
    expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
    expect(refused.headers.has("retry-after")).toBe(true);
    // A repeat costs nothing, whatever the tenant's standing.
    expect((await send("one")).status).toBe(409);
    expect((await fixture.as(tenant, "GET", "/v1/stimuli")).body.count).toBe(1);
    await limit(fixture.stores, tenant, 1000);
    const later = await fixture.until(async () => {
      const answer = await send("two");
      return answer.status === 429 ? null : answer;
    });
    expect(later.status).toBe(200);
  });
});

test("a source may have a rate of its own, which leaves the tenant's others alone", async () => {
  await fixture.route({ source: "slow", workflow: "on-ci", secret, rate_limit_per_minute: 1 });
  await fixture.route({ source: "free", workflow: "on-ci", secret });
  expect((await fixture.hook("slow", body)).status).toBe(200);
  const refused = await fixture.hook("slow", body);
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({ code: "rate_limited", scope_type: "source", limit: 1, bucket: "per_minute" });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(30);
  expect((await fixture.hook("free", body)).status).toBe(200);
});

test("a team whose owner's tier has no teams gets 402 at a delivery", async () => {
  const { sql } = fixture.stores;
  const [team, owner] = [`t-${crypto.randomUUID()}`, `u-${crypto.randomUUID().replaceAll("-", "")}`];
  await sql`insert into tenants (slug, kind, display_name, subscription_tier) values (${owner}, 'consumer', 'o', 'business')`;
  await sql`insert into tenants (slug, kind, display_name, team_tier, owner_tenant)
    values (${team}, 'team', 't', 'business', ${owner})`;
  await fixture.workflow("on-team", team);
  await fixture.route({ source: "team-hooks", workflow: "on-team", secret }, team);
  const deliver = async (signature?: string) => {
    const answer = await fixture.hook("team-hooks", body, signature === undefined ? {} : { signature });
    return [answer.status, answer.body.code ?? answer.body.status];
  };
  expect(await deliver()).toEqual([200, "classified"]);
  await sql`update tenants set subscription_tier = 'free' where slug = ${owner}`;
  await fixture.until(async () => ((await deliver())[0] === 402 ? true : null));
  expect(await deliver()).toEqual([402, "colony_suspended"]);
  // Who cannot sign learns nothing of it.
  expect(await deliver(signed("other"))).toEqual([401, "invalid_signature"]);
});

test("unfinished bodies behind the same address keep no right delivery out", async () => {
  await fixture.route({ source: "shared", workflow: "on-ci", secret });
  const head = `POST /v1/webhooks/shared HTTP/1.1\r\nHost: localhost\r\nX-Svc-Signature: sha256=00\r\n`;
  // Announced, chunked, and with more bytes than a client has room for.
  const starts = [
    ...Array.from({ length: 70 }, () => `${head}Content-Length: 1048576\r\n\r\nx`),
    ...Array.from({ length: 5 }, () => `${head}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`),
    ...Array.from({ length: 70 }, () => `${head}Content-Length: 1048576\r\n\r\n${"x".repeat(1_048_000)}`),
  ];
  const sockets = starts.map((start) => {
    const socket = connect(fixture.node.port, "127.0.0.1").on("error", () => {});
    socket.write(start);
    return socket;
  });
  try {
    for (const size of [100, 20_000, 1_000_000]) {
      expect((await fixture.hook("shared", `${size}${"y".repeat(size)}`)).status).toBe(200);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

describe("the provider's handshakes start nothing", () => {
  test("GitHub's ping", async () => {
    await fixture.route({ source: "gh", workflow: "on-ci", signature: "github", secret });
    const headers = { "X-Hub-Signature-256": vector, "X-GitHub-Event": "ping" };
    const answer = await fixture.hook("gh", body, { signature: null, headers });
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: "pong", stimulus_id: null, workflow_execution_id: null },
    ]);
    expect(await fixture.stimuliOf("gh")).toEqual([]);
    const otherScheme = await fixture.hook("gh", body);
    expect(otherScheme.body.code).toBe("missing_signature");
  });
});

describe("a source that takes some messages only", () => {
  const github = (event: string, sent: string) => ({
    signature: null,
    headers: {
      "X-Hub-Signature-256": signed(sent),
      "X-GitHub-Event": event,
      "X-GitHub-Delivery": crypto.randomUUID(),
      "Content-Type": "application/json",
    },
  });

  test("starts nothing for another event, says so, and keeps count", async () => {
    const { id } = await fixture.route({
      source: "hub",
      workflow: "on-ci",
      secret,
      signature: "github",
      events: ["push", "issues.opened"],
      match: 'payload.ref != "draft"',
    });
    const send = (event: string, sent: object) =>
      fixture.hook("hub", JSON.stringify(sent), github(event, JSON.stringify(sent)));
    expect((await send("push", { ref: "main" })).body.status).toBe("classified");
    expect((await send("issues", { action: "opened" })).body.status).toBe("classified");
    const ignored = await send("issues", { action: "closed" });
    expect([ignored.status, ignored.body]).toEqual([
      200,
      {
        status: "ignored",
        reason: "event",
        event: "issues.closed",
        message: "The source takes other events only",
        stimulus_id: null,
        workflow_execution_id: null,
      },
    ]);
    expect((await send("push", { ref: "draft" })).body).toMatchObject({ status: "ignored", reason: "match" });
    expect((await send("ping", {})).body.status).toBe("pong");
    expect(await fixture.stimuliOf("hub")).toHaveLength(2);
    const shown = await fixture.until(async () => {
      const record = await fixture.ok("GET", `/v1/stimulus-routes/${id}`);
      return record.ignored_count === 2 ? record : null;
    });
    expect(shown.last_ignored).toMatchObject({ reason: "match", event: "push" });
  });

  test("takes no other by the API either; a wrong signature stays one", async () => {
    const posted = await fixture.stimulus({ source: "hub", content: { action: "opened" } });
    expect(posted.body).toMatchObject({ status: "ignored", reason: "event", event: null });
    const forged = await fixture.hook("hub", "{}", {
      signature: null,
      headers: { ...github("fork", "{}").headers, "X-Hub-Signature-256": signed("other") },
    });
    expect(forged.status).toBe(401);
  });
});
