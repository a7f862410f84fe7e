/** Who may have signed a delivery, and where it goes (docs/reference/stimuli.md). */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import type { Candidate } from "../../../../src/features/stimuli/sources/port.ts";
import { caller } from "../../../harness/callers.ts";
import { until } from "../../../harness/until.ts";
import { type GivenRow, putRow } from "../rows.ts";
import { openFixture } from "./fixture.ts";

const fixture = await openFixture({
  SVC_WEBHOOK_SECRET_CI: "ci-of-the-system",
  SVC_WEBHOOK_SECRET_CI_PREVIOUS: "ci-before",
  SVC_WEBHOOK_SECRET_MY_CI_X: "my-ci-x",
  SVC_WEBHOOK_SECRET_SHOP: "shop-of-acme",
  SVC_WEBHOOK_TENANT_SHOP: "acme",
  SVC_WEBHOOK_SECRET_ACME__SHOP: "shop-of-acme-itself",
  SVC_WEBHOOK_SECRET_BETA__SHOP: "shop-of-beta",
  SVC_WEBHOOK_SECRET_HOOKS: "no base64, surely",
});
const { sources } = fixture;
afterAll(() => fixture.dispose());
afterEach(async () => {
  await fixture.sql`delete from stimulus_sources`;
  await fixture.sql`delete from stimulus_routers`;
  fixture.advance(3000);
});

const call = (tenant: string, method: string, path: string, body?: object) =>
  fixture.call(caller(tenant), method, path, body);
async function create(tenant: string, fields: object): Promise<{ id: string; secret: string }> {
  const { status, body } = await call(tenant, "POST", "", fields);
  expect(status).toBe(201);
  return body;
}

const textsOf = (candidate: Candidate | null | undefined) =>
  candidate?.secrets.map((secret) => Buffer.from(secret).toString());
/** `tenant: secrets`, in the order the candidates come. */
const shown = async (source: string) =>
  (await sources.candidates(source)).map((one) => `${one.tenant}: ${textsOf(one)?.join(" ")}`);

describe("candidates", () => {
  test("a variable alone makes one: preset svc, no route", async () => {
    expect(await sources.candidates("ci")).toEqual([
      {
        tenant: "svc-system",
        source: "ci",
        registered: null,
        preset: "svc",
        toleranceSeconds: 300,
        requireTimestamp: false,
        secrets: [Buffer.from("ci-of-the-system"), Buffer.from("ci-before")].map((text) => new Uint8Array(text)),
      },
    ]);
  });

  test("sources are told apart by neither case nor, in variables, by punctuation", async () => {
    expect(await shown("CI")).toEqual(["svc-system: ci-of-the-system ci-before"]);
    expect(await shown("my-ci.x")).toEqual(["svc-system: my-ci-x"]);
    expect(await shown("unheard-of")).toEqual([]);
    for (const nonsense of ["", "a b", "a\0", "a/b", "x".repeat(200), "ci%00"]) {
      expect(await shown(nonsense)).toEqual([]);
      expect(await sources.candidate(nonsense, crypto.randomUUID())).toBeNull();
      expect(await sources.sourceOf("acme", nonsense)).toBeNull();
    }
  });

  test("a tenant's own variable comes before the source's", async () => {
    expect(await shown("shop")).toEqual(["acme: shop-of-acme-itself", "beta: shop-of-beta"]);
  });

  test("a stored secret makes the variables of its tenant inert, and theirs only", async () => {
    await create("acme", { source: "shop", secret: "stored-by-acme-itself" });
    expect(await shown("shop")).toEqual(["acme: stored-by-acme-itself", "beta: shop-of-beta"]);
    await create("beta", { source: "shop" });
    expect(await shown("shop")).toEqual(["acme: stored-by-acme-itself", "beta: shop-of-beta"]);
  });

  test("registering a name gains nothing of a variable bound to another tenant", async () => {
    await create("intruder", { source: "ci" });
    expect(await shown("ci")).toEqual(["intruder: ", "svc-system: ci-of-the-system ci-before"]);
  });

  test("a variable that is no secret of the route's preset is none", async () => {
    expect(await shown("hooks")).toEqual(["svc-system: no base64, surely"]);
    const { id } = await create("svc-system", { source: "hooks", signature: "standard_webhooks" });
    expect(await shown("hooks")).toEqual(["svc-system: "]);
    expect((await call("svc-system", "GET", `/${id}`)).body.secret_source).toBe("none");
  });

  test("a route says how its deliveries are signed and handled", async () => {
    const { id } = await create("acme", {
      source: "pay",
      signature: { preset: "stripe", tolerance_seconds: 60 },
      secret: "0123456789abcdef",
      idempotency_fallback: "body_sha256",
      forward_headers: ["x-a"],
    });
    const route = {
      id,
      tenant: "acme",
      source: "pay",
      workflow: null,
      workflowVersion: null,
      enabled: true,
      preset: "stripe",
      toleranceSeconds: 60,
      replayGuard: null,
      requireTimestamp: false,
      acknowledge: "routed",
      idempotencyFallback: "body_sha256",
      forwardHeaders: ["x-a"],
      ratePerMinute: null,
    } as const;
    const [candidate] = await sources.candidates("pay");
    expect(candidate).toMatchObject({ tenant: "acme", preset: "stripe", toleranceSeconds: 60, registered: route });
    expect(await sources.sourceOf("acme", "PAY")).toMatchObject({ ...route, creator: { sub: "user-of-acme" } });
    expect(await sources.sourceOf("beta", "pay")).toBeNull();
  });

  test("the bare URL has the oldest twenty and bound ones; the others their own URL", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 22; n++) {
      const tenant = n === 20 ? "beta" : `t-${n}`;
      ids.push((await create(tenant, { source: "shop", ...(n === 20 ? {} : { generate_secret: true }) })).id);
      fixture.advance(1);
    }
    const tenants = (await sources.candidates("shop")).map(({ tenant }) => tenant);
    expect(tenants).toEqual([...Array.from({ length: 20 }, (_, n) => `t-${n}`), "beta", "acme"]);
    expect((await sources.candidate("shop", ids[21] ?? ""))?.tenant).toBe("t-21");
    expect((await call("beta", "GET", `/${ids[20]}`)).body.bare_url).toBe(true);
    expect((await call("t-21", "GET", `/${ids[21]}`)).body.bare_url).toBe(false);
    const { body } = await call("beta", "PATCH", `/${ids[20]}`, { generate_secret: true });
    expect(body.bare_url).toBe(false);
    expect((await sources.candidates("shop")).some(({ tenant }) => tenant === "beta")).toBe(false);
  });

  test("an own URL is a pair of source and id", async () => {
    const { id } = await create("acme", { source: "mine", secret: "0123456789abcdef" });
    expect(textsOf(await sources.candidate("Mine", id.toUpperCase()))).toEqual(["0123456789abcdef"]);
    expect(await sources.candidate("yours", id)).toBeNull();
    expect(await sources.candidate("mine", crypto.randomUUID())).toBeNull();
    expect(await sources.candidate("mine", "x' or 1=1")).toBeNull();
  });
});

describe("rotation", () => {
  const rotate = (id: string, body: object) => call("acme", "POST", `/${id}/rotate-secret`, body);

  test("the one before counts until its moment, exactly", async () => {
    const { id } = await create("acme", { source: "s", secret: "first-secret-1111" });
    const { body } = await rotate(id, { secret: "second-secret-222", previous_valid_seconds: 100 });
    const left = () => Date.parse(body.previous_secret_expires_at) - fixture.now();
    expect(await shown("s")).toEqual(["acme: second-secret-222 first-secret-1111"]);
    fixture.advance(left() - 100);
    // Asked just before, so that the answer is still fresh when the moment comes.
    expect(textsOf(await sources.candidate("s", id))).toEqual(["second-secret-222", "first-secret-1111"]);
    expect(await shown("s")).toEqual(["acme: second-secret-222 first-secret-1111"]);
    fixture.advance(left());
    expect(textsOf(await sources.candidate("s", id))).toEqual(["second-secret-222"]);
    expect(await shown("s")).toEqual(["acme: second-secret-222"]);
    expect((await call("acme", "GET", `/${id}`)).body.previous_secret_expires_at).toBeNull();
  });

  test("two count at most, and none of them after null", async () => {
    const { id } = await create("acme", { source: "s", secret: "first-secret-1111" });
    await rotate(id, { secret: "second-secret-222" });
    await rotate(id, { secret: "third-secret-3333" });
    expect(await shown("s")).toEqual(["acme: third-secret-3333 second-secret-222"]);
    await rotate(id, { secret: "fourth-secret-444", previous_valid_seconds: 0 });
    expect(await shown("s")).toEqual(["acme: fourth-secret-444"]);
    await rotate(id, { secret: "fifth-secret-5555" });
    await call("acme", "PATCH", `/${id}`, { secret: null });
    expect(await shown("s")).toEqual(["acme: "]);
    await rotate(id, { secret: "sixth-secret-6666" });
    expect(await shown("s")).toEqual(["acme: sixth-secret-6666"]);
  });

  test("a secret set in place of another voids that one at once", async () => {
    const { id } = await create("acme", { source: "s", secret: "first-secret-1111" });
    await rotate(id, { secret: "second-secret-222" });
    await call("acme", "PATCH", `/${id}`, { secret: "third-secret-3333" });
    expect(await shown("s")).toEqual(["acme: third-secret-3333"]);
  });

  test("the one before may be the environment's", async () => {
    const { id } = await create("acme", { source: "shop" });
    await rotate(id, { secret: "stored-by-acme-itself" });
    expect((await shown("shop"))[0]).toBe("acme: stored-by-acme-itself shop-of-acme-itself");
  });
});

describe("freshness", () => {
  test("a change is felt here at once, on another node within 3 s", async () => {
    const other = fixture.openNode();
    expect(await shown("new")).toEqual([]);
    expect(await other.sources.candidates("new")).toEqual([]);
    expect(await sources.sourceOf("acme", "new")).toBeNull();
    const { id } = await create("acme", { source: "new", secret: "0123456789abcdef" });
    expect(await shown("new")).toEqual(["acme: 0123456789abcdef"]);
    expect((await sources.sourceOf("acme", "new"))?.id).toBe(id);
    expect(await other.sources.candidates("new")).toEqual([]);
    fixture.advance(3000);
    expect((await other.sources.candidates("new")).length).toBe(1);
    await call("acme", "PATCH", `/${id}`, { enabled: false });
    expect((await sources.candidate("new", id))?.registered?.enabled).toBe(false);
    expect((await other.sources.candidates("new"))[0]?.registered?.enabled).toBe(true);
    await call("acme", "DELETE", `/${id}`);
    expect(await sources.candidate("new", id)).toBeNull();
    expect(await shown("new")).toEqual([]);
    await other.sources.close();
  });

  test("the router is found the same way", async () => {
    fixture.agents.set("router", "0198b000-0000-7000-8000-000000000001");
    expect(await sources.routerOf("acme")).toBeNull();
    await call("acme", "PUT", "/router", { router_agent: "router", allowed_workflows: [] });
    expect(await sources.routerOf("acme")).toEqual({
      tenant: "acme",
      agentId: "0198b000-0000-7000-8000-000000000001",
      confidenceThreshold: 0.7,
      timeoutSeconds: 30,
      allowedWorkflows: [],
    });
    expect(await sources.routerOf("beta")).toBeNull();
    await call("acme", "DELETE", "/router");
    expect(await sources.routerOf("acme")).toBeNull();
  });
});

describe("a secret that does not open", () => {
  async function spoil(id: string): Promise<void> {
    await fixture.sql`update stimulus_sources set secret = 'nonsense' where id = ${id}`;
    fixture.advance(3000);
  }
  test("refuses its own deliveries, with one warning, and no other's", async () => {
    const { id } = await create("acme", { source: "s", secret: "0123456789abcdef" });
    await spoil(id);
    fixture.incidents.length = 0;
    for (const _ of [1, 2, 3]) {
      expect(await sources.candidates("s")).toMatchObject([{ secrets: [], fault: { code: "decryption_failed" } }]);
    }
    expect(fixture.incidents).toEqual(["decryption_failed acme"]);
    expect(await sources.candidate("s", id)).toMatchObject({ fault: { code: "decryption_failed" } });
    await create("beta", { source: "s", secret: "fedcba9876543210" });
    expect(await shown("s")).toEqual(["acme: ", "beta: fedcba9876543210"]);
    // The configuration can be mended.
    expect((await call("acme", "PATCH", `/${id}`, { secret: "0123456789abcdef" })).status).toBe(200);
    expect(await shown("s")).toEqual(["acme: 0123456789abcdef", "beta: fedcba9876543210"]);
  });
});

test("when deliveries came in last is known right after a crash", async () => {
  const { id } = await create("acme", { source: "crashed" });
  const received = async () => (await call("acme", "GET", `/${id}`)).body.last_received_at;
  const put = (facts: GivenRow) =>
    putRow(fixture.sql, { tenant: "acme", source: "crashed", status: "classified", source_id: id, ...facts });
  const at = fixture.now() + 5_000;
  await put({ received_at: new Date(at) });
  // Nothing was noted: the node that took it in is gone.
  expect(await received()).toBe(new Date(at).toISOString());
  await put({ received_at: new Date(at + 1_000), channel: "replay" });
  await put({ received_at: new Date(at + 2_000), source_id: null });
  await put({ received_at: new Date(at + 3_000), tenant: "beta" });
  expect(await received()).toBe(new Date(at).toISOString());
  const { items } = (await call("acme", "GET", "?source=crashed")).body;
  expect(items).toMatchObject([{ last_received_at: new Date(at).toISOString() }]);
});

test("when deliveries came in last is written down, the latest", async () => {
  const { id } = await create("acme", { source: "s" });
  const node = fixture.openNode();
  const route = await node.sources.sourceOf("acme", "s");
  if (route === null) throw new Error("there is none");
  const at = fixture.now();
  for (const ms of [0, 2000, 1000]) node.sources.received(route, at + ms);
  await node.sources.close();
  const received = async () => (await call("acme", "GET", `/${id}`)).body.last_received_at;
  expect(await received()).toBe(new Date(at + 2000).toISOString());
  const later = fixture.openNode();
  later.sources.received(route, at + 1000);
  later.sources.received({ ...route, id: crypto.randomUUID() }, at);
  await later.sources.close();
  expect(await until(received)).toBe(new Date(at + 2000).toISOString());
});
