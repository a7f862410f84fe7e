import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../harness/until.ts";
import { parseAnswer, rawRequest } from "../../http/raw.ts";
import { StimuliFixture, secret, signed } from "./fixture.ts";
import { secrets, sign, timedSignature } from "./sources/signer.ts";

let fixture: StimuliFixture;
beforeAll(async () => {
  fixture = await StimuliFixture.open();
  await fixture.workflow("keyed");
  await fixture.workflow("strict", "svc-system", {
    input_schema: { type: "object", properties: { stimulus_payload: { type: "string" } } },
  });
  for (const source of ["one", "two"]) await fixture.route({ source, workflow: "keyed", secret });
});
afterAll(() => fixture.close());

const keyed = (key: string) => ({ headers: { "X-Idempotency-Key": key } });

describe("a key", () => {
  test("is good for one run of a source in a tenant", async () => {
    const first = await fixture.hook("one", "a", keyed("k-1"));
    expect(first.status).toBe(200);
    const again = await fixture.hook("one", "another body", keyed("k-1"));
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({
      code: "idempotent_duplicate",
      original_stimulus_id: first.body.stimulus_id,
      workflow_execution_id: first.body.workflow_execution_id,
      status: "classified",
    });
    const record = await fixture.ok("GET", `/v1/stimuli/${first.body.stimulus_id}`);
    expect(record).toMatchObject({ duplicate_count: 1, idempotency_key: "k-1" });
    expect((await fixture.hook("two", "a", keyed("k-1"))).status).toBe(200);
    await fixture.workflow("keyed", "acme");
    const other = { source: "one", workflow: "keyed", secret: "their-own-secret-text" };
    await fixture.route(other, "acme");
    const foreign = await fixture.until(async () => {
      const signature = signed("a", other.secret);
      const answer = await fixture.hook("one", "a", { signature, ...keyed("k-1") });
      // Until this node has heard of the other tenant's route.
      return answer.status === 401 ? null : answer;
    });
    expect(foreign.status).toBe(200);
    const without = await Promise.all([fixture.hook("one", "b"), fixture.hook("one", "b")]);
    expect(without.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("of twenty deliveries at once lets one through", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.hook("one", "many", keyed("k-20"))));
    const [winner] = answers.filter(({ status }) => status === 200);
    const losers = answers.filter(({ status }) => status === 409);
    expect(losers).toHaveLength(19);
    for (const { body } of losers) expect(body.original_stimulus_id).toBe(winner?.body.stimulus_id);
    const record = await fixture.ok("GET", `/v1/stimuli/${winner?.body.stimulus_id}`);
    expect(record.duplicate_count).toBe(19);
  });

  test("stays free when nothing was started", async () => {
    const post = () => fixture.stimulus({ source: "late", content: "x", idempotency_key: "k-12" });
    const refused = await post();
    expect([refused.status, refused.body.code]).toEqual([422, "no_router_configured"]);
    await fixture.route({ source: "late", workflow: "keyed" });
    const answer = await post();
    expect(answer.status).toBe(200);
    expect((await post()).body.original_stimulus_id).toBe(answer.body.stimulus_id);
  });

  test("is not the only thing given back then: a person's own rate is too", async () => {
    const token = await fixture.node.token({ username: "patience" }, "svc-consumer");
    const post = () => fixture.stimulus({ source: "late", content: "x" }, { Authorization: `Bearer ${token}` });
    // More than a person may start within a minute.
    for (let i = 0; i < 4; i++) expect((await post()).body.code).toBe("no_router_configured");
    // Nor does it matter that nobody waits.
    const later = { Authorization: `Bearer ${token}`, Prefer: "respond-async" };
    for (let i = 0; i < 4; i++) {
      const taken = async () => (await fixture.stimulus({ source: "late", content: "x" }, later)).status === 202;
      await until(taken, { what: "what was debited to be given back", timeoutMs: 5_000 });
    }
  });

  test("of a stimulus may stand in the body or in either header, and is never replayed", async () => {
    const body = { source: "one", content: { any: "json" } };
    const first = await fixture.stimulus(body, { "Idempotency-Key": "k-13" });
    expect(first.status).toBe(200);
    const { input } = await fixture.record(first.body.workflow_execution_id);
    expect(input).toMatchObject({ stimulus_content: '{"any":"json"}', stimulus_channel: "api", headers: {} });
    const [{ id: route_id }] = (await fixture.ok("GET", "/v1/stimulus-routes?source=one")).routes;
    expect(await fixture.ok("GET", `/v1/stimuli/${first.body.stimulus_id}`)).toMatchObject({ route_id });
    expect((await fixture.stimulus(body, { "Idempotency-Key": "k-13" })).status).toBe(409);
    expect((await fixture.stimulus({ ...body, idempotency_key: "k-13" })).status).toBe(409);
    const preferred = { "Idempotency-Key": "k-13", "X-Idempotency-Key": "k-13-other" };
    expect((await fixture.stimulus(body, preferred)).status).toBe(200);
    expect((await fixture.stimulus({ ...body, idempotency_key: "" })).status).toBe(200);
  });

  test("may be the provider's, or the body's digest", async () => {
    await fixture.route({ source: "hub", workflow: "keyed", signature: "github", secret });
    const headers = { "X-Hub-Signature-256": signed("push"), "X-GitHub-Delivery": "d-1" };
    const send = () => fixture.hook("hub", "push", { signature: null, headers });
    expect([(await send()).status, (await send()).status]).toEqual([200, 409]);
    await fixture.route({ source: "digest", workflow: "keyed", secret, idempotency_fallback: "body_sha256" });
    expect((await fixture.hook("digest", "same")).status).toBe(200);
    expect((await fixture.hook("digest", "same")).status).toBe(409);
    expect((await fixture.hook("digest", "other")).status).toBe(200);
  });

  test("that is signed comes before any header, and equal signed bytes are a repeat", async () => {
    const at = Math.floor(Date.now() / 1000);
    const cases = [
      ["stripe", '{"id":"evt_1"}', sign.stripe],
      ["stripe", '{"no":"id"}', sign.stripe],
      ["slack", '{"event_id":"Ev1"}', sign.slack],
      ["slack", '{"no":"id"}', sign.slack],
      ["standard_webhooks", "{}", sign.standard_webhooks],
      ["github", "{}", sign.github],
      ["svc", "{}", timedSignature],
    ] as const;
    for (const [index, [preset, body, signed]] of cases.entries()) {
      const source = `captured-${index}`;
      await fixture.route({
        source,
        workflow: "keyed",
        signature: preset,
        secret: secrets[preset],
        acknowledge: "routed",
      });
      const headers = signed({ secret: secrets[preset], body, at });
      const send = (more: Record<string, string>) =>
        fixture.hook(source, body, { signature: null, headers: { ...headers, ...more } });
      const first = await send({ "X-Idempotency-Key": "k-1", "X-GitHub-Delivery": "d-1" });
      expect([source, first.status]).toEqual([source, 200]);
      const covered = preset === "standard_webhooks" || body.includes("1");
      for (const more of [{ "X-Idempotency-Key": "k-2" }, { "X-GitHub-Delivery": "d-2" }, {}]) {
        const again = await send(more);
        expect([source, again.status, again.body.code]).toEqual([source, 409, "idempotent_duplicate"]);
        expect(again.body).toMatchObject({
          original_stimulus_id: first.body.stimulus_id,
          workflow_execution_id: first.body.workflow_execution_id,
          status: "classified",
        });
        expect(again.body.reason).toBe(covered ? undefined : "replayed");
      }
      expect(await fixture.stimuliOf(source)).toMatchObject([{ duplicate_count: 3 }]);
    }
  });

  test("cannot be had by sending the signed time as the beginning of the body", async () => {
    await fixture.route({ source: "shifted", workflow: "keyed", secret });
    const at = Math.floor(Date.now() / 1000);
    const headers = timedSignature({ secret, body: "{}", at });
    expect((await fixture.hook("shifted", "{}", { signature: null, headers })).status).toBe(200);
    const { "x-svc-signature": signature = "" } = headers;
    for (const more of [{}, { "X-Idempotency-Key": "k-2" }]) {
      const sent = { signature: null, headers: { "x-svc-signature": signature, ...more } };
      expect((await fixture.hook("shifted", `${at}.{}`, sent)).body.reason).toBe("replayed");
    }
  });

  test("decides alone where equal bodies may be meant", async () => {
    await fixture.route({ source: "plain", workflow: "keyed", secret });
    for (const key of ["k-1", "k-2"]) expect((await fixture.hook("plain", "same", keyed(key))).status).toBe(200);
    await fixture.route({ source: "guarded", workflow: "keyed", secret, replay_guard: true });
    expect((await fixture.hook("guarded", "same", keyed("k-1"))).status).toBe(200);
    expect((await fixture.hook("guarded", "same", keyed("k-2"))).body.reason).toBe("replayed");
    const open = { source: "open", workflow: "keyed", signature: "github", secret, replay_guard: false };
    expect(await fixture.route(open)).toMatchObject({ replay_guard: false, require_timestamp: false });
    const headers = { "X-Hub-Signature-256": signed("same") };
    for (const key of ["d-1", "d-2"]) {
      const sent = { signature: null, headers: { ...headers, "X-GitHub-Delivery": key } };
      expect((await fixture.hook("open", "same", sent)).status).toBe(200);
    }
  });

  test("and its signed bytes are free again when nothing was started", async () => {
    const { id } = await fixture.route({ source: "retried", workflow: "strict", secret, replay_guard: true });
    for (const attempt of [keyed("k-1"), keyed("k-2"), {}]) {
      expect((await fixture.hook("retried", '{"a":1}', attempt)).body.code).toBe("workflow_error");
    }
    const dead = (await fixture.ok("GET", "/v1/stimuli/dead-letters?source=retried")).items;
    await fixture.as("svc-system", "PATCH", `/v1/stimulus-routes/${id}`, { workflow: "keyed" });
    // A replay takes both along.
    expect((await fixture.node.call("POST", `/v1/stimuli/${dead[0].id}/replay`)).status).toBe(200);
    expect((await fixture.hook("retried", '{"a":1}', keyed("k-9"))).body.reason).toBe("replayed");
    expect((await fixture.node.call("POST", `/v1/stimuli/${dead[2].id}/replay`)).body.reason).toBe("replayed");
  });

  test("of a stimulus is acknowledged as its source says, or the request prefers", async () => {
    await fixture.route({ source: "lazy", workflow: "keyed", secret, acknowledge: "received" });
    const post = async (headers: Record<string, string>) =>
      (await fixture.stimulus({ source: "lazy", content: "x" }, headers)).status;
    const deliver = async (headers: Record<string, string>) => (await fixture.hook("lazy", "x", { headers })).status;
    for (const send of [post, deliver]) {
      expect(await send({})).toBe(202);
      expect(await send({ Prefer: "wait=10" })).toBe(200);
      expect(await send({ Prefer: "respond-async, wait=10" })).toBe(202);
    }
  });

  test("of what is only acknowledged counts at once", async () => {
    const headers = { "X-Idempotency-Key": "k-async", Prefer: "respond-async" };
    const first = await fixture.hook("one", "later", { headers });
    expect(first.status).toBe(202);
    const again = await fixture.hook("one", "later", { headers });
    expect(again.status).toBe(409);
    expect(again.body.original_stimulus_id).toBe(first.body.stimulus_id);
  });
});

test("the sample counts what a stimulus brings", async () => {
  await fixture.sample("on-stimulus");
  await fixture.route({ source: "crm", workflow: "on-stimulus" });
  const { body } = await fixture.stimulus({ source: "crm", content: "New lead: Ada's" });
  const run = await fixture.ended(body.workflow_execution_id);
  expect(run.final_output).toEqual({ source: "crm", bytes: "15" });
});

describe("a stimulus that cannot be started", () => {
  test("is a dead letter until a replay goes well", async () => {
    const { id } = await fixture.route({ source: "fussy", workflow: "strict", secret });
    const failed = await fixture.hook("fussy", '{"a":1}', keyed("k-17"));
    expect([failed.status, failed.body.code, failed.body.cause_code]).toEqual([500, "workflow_error", "invalid_input"]);
    const { stimulus_id } = failed.body;
    const dead = async () => (await fixture.ok("GET", "/v1/stimuli/dead-letters?source=fussy")).items;
    expect((await dead()).map((one: { id: string }) => one.id)).toEqual([stimulus_id]);
    await fixture.as("svc-system", "PATCH", `/v1/stimulus-routes/${id}`, { workflow: "keyed" });
    const replayed = await fixture.node.call("POST", `/v1/stimuli/${stimulus_id}/replay`);
    expect(replayed.status).toBe(200);
    expect(replayed.body).toMatchObject({ replay_of: stimulus_id, workflow_name: "keyed" });
    expect(await dead()).toEqual([]);
    const { input } = await fixture.record(replayed.body.workflow_execution_id);
    expect(input).toMatchObject({ stimulus_content: '{"a":1}', stimulus_channel: "replay" });
    const again = await fixture.node.call("POST", `/v1/stimuli/${replayed.body.stimulus_id}/replay`);
    expect([again.status, again.body.code]).toEqual([409, "stimulus_already_routed"]);
    const forced = await fixture.node.call("POST", `/v1/stimuli/${replayed.body.stimulus_id}/replay`, { force: true });
    expect(forced.status).toBe(200);
    expect(forced.body.workflow_execution_id).not.toBe(replayed.body.workflow_execution_id);
    // The key is the replay's now.
    expect((await fixture.hook("fussy", '{"a":1}', keyed("k-17"))).body.original_stimulus_id).toBe(
      replayed.body.stimulus_id,
    );
  });
});

describe("a posted stimulus is refused", () => {
  const cases: readonly [string, object, number, string][] = [
    ["without a source", { content: "x" }, 422, "validation_failed"],
    ["without a content", { source: "one" }, 422, "validation_failed"],
    ["with a blank content", { source: "one", content: " \n" }, 422, "validation_failed"],
    ["with content that is null", { source: "one", content: null }, 422, "validation_failed"],
    ["of a source that is no name", { source: "a b", content: "x" }, 422, "validation_failed"],
    [
      "with a key too long",
      { source: "one", content: "x", idempotency_key: "k".repeat(1025) },
      422,
      "validation_failed",
    ],
    ["with a NUL in its key", { source: "one", content: "x", idempotency_key: "a\u0000" }, 422, "validation_failed"],
    ["with half a character", { source: "one", content: "\ud800" }, 422, "validation_failed"],
    ["with too much", { source: "one", content: "x".repeat(1_048_577) }, 413, "body_too_large"],
  ];
  test.each(cases)("%s", async (_, body, status, code) => {
    const answer = await fixture.stimulus(body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("without a caller, or from one who may only read", async () => {
    const nobody = await fixture.stimulus({ source: "one", content: "x" }, { Authorization: "" });
    expect(nobody.status).toBe(401);
    const head = "POST /v1/stimuli HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n";
    const malformed = await rawRequest(fixture.node.port, [
      `${head}Authorization: Bearer ${await fixture.node.token()}\r\nContent-Type: application/json\r\n\r\n{"a":`,
    ]);
    expect(parseAnswer(malformed)).toMatchObject({ status: 400, body: { code: "malformed_body" } });
  });
});
