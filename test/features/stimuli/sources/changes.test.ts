/** Changes of sources and of their secrets by the API (docs/reference/stimuli.md). */
import { afterAll, describe, expect, test } from "bun:test";
import { newcomers, openFixture } from "./fixture.ts";

const fixture = await openFixture({ SVC_WEBHOOK_SECRET_CI: "environment-secret-of-ci" });
afterAll(() => fixture.dispose());
fixture.workflows.add("on-push");
const newcomer = newcomers(fixture);

const issuePaths = (body: { issues: { path: string }[] }) => body.issues.map(({ path }) => path);

describe("changes", () => {
  test("PATCH leaves what it does not name", async () => {
    const { call, create } = newcomer();
    const route = await create({ source: "s", workflow: "on-push", workflow_version: "1.0.0", description: "d" });
    const { body } = await call("PATCH", `/${route.id}`, { enabled: false, source: "S" });
    expect(body).toEqual({ ...route, enabled: false, updated_at: expect.any(String) });
    expect((await call("PATCH", `/${route.id}`, { workflow: null })).body).toMatchObject({
      workflow: null,
      workflow_version: null,
      description: "d",
    });
  });

  test("PUT sets what it does not name to its default; the secret stays", async () => {
    const { call, create } = newcomer();
    const route = await create({ source: "s", workflow: "on-push", description: "d", secret: "0123456789abcdef" });
    const { body } = await call("PUT", `/${route.id}`, { enabled: false });
    expect(body).toMatchObject({ workflow: null, description: "", enabled: false, secret_source: "stored" });
  });

  test("null removes the secret", async () => {
    const { call, create } = newcomer();
    const { id } = await create({ source: "s", secret: "0123456789abcdef" });
    expect((await call("PATCH", `/${id}`, { secret: null })).body.secret_source).toBe("none");
  });

  test("the source stays what it is", async () => {
    const { call, create } = newcomer();
    const { id } = await create({ source: "s" });
    for (const method of ["PATCH", "PUT"]) {
      expect(await call(method, `/${id}`, { source: "t" })).toMatchObject({
        status: 422,
        body: { code: "immutable_field" },
      });
    }
    expect((await call("PATCH", `/${id}`, { tenant_id: "t" })).body.code).toBe("validation_failed");
    expect((await call("PATCH", `/${id}`, { workflow: "gone" })).body.code).toBe("unknown_workflow");
  });

  test("a workflow that is gone does not stand in the way of another change", async () => {
    const { call, create } = newcomer();
    fixture.workflows.add("brief");
    const { id } = await create({ source: "s", workflow: "brief" });
    fixture.workflows.delete("brief");
    expect((await call("PATCH", `/${id}`, { enabled: false })).status).toBe(200);
  });

  test("another preset has to be able to read the stored secret", async () => {
    const { call, create } = newcomer();
    const { id } = await create({ source: "s", secret: "no base64, surely" });
    const refused = await call("PATCH", `/${id}`, { signature: "standard_webhooks" });
    expect(refused.status).toBe(422);
    expect(issuePaths(refused.body)).toEqual(["signature"]);
    const both = { signature: "standard_webhooks", generate_secret: true };
    expect((await call("PATCH", `/${id}`, both)).body.secret).toStartWith("whsec_");
  });

  test("those that come at once all come through", async () => {
    const { call, create } = newcomer();
    const { id } = await create({ source: "s" });
    await Promise.all([
      call("PATCH", `/${id}`, { enabled: false }),
      call("PATCH", `/${id}`, { description: "both" }),
      call("PATCH", `/${id}`, { acknowledge: "received" }),
    ]);
    const expected = { enabled: false, description: "both", acknowledge: "received" };
    expect((await call("GET", `/${id}`)).body).toMatchObject(expected);
  });

  test("a deleted route is gone, its source free", async () => {
    const { call, create } = newcomer();
    const { id } = await create({ source: "s" });
    expect((await call("DELETE", `/${id}`)).body).toEqual({ status: "deleted", success: true, id });
    expect((await call("DELETE", `/${id}`)).status).toBe(404);
    await create({ source: "s" });
  });
});

describe("secrets", () => {
  test.each(["svc", "github", "stripe", "slack", "standard_webhooks"])(
    "%s has one minted, told once",
    async (preset) => {
      const { call, create } = newcomer();
      const { id, secret } = await create({ source: "s", signature: preset, generate_secret: true });
      expect(secret.length).toBeWithin(16, 257);
      expect((await call("GET", `/${id}`)).body.secret).toBeUndefined();
      expect((await call("GET", "")).text).not.toContain(secret);
      expect((await call("PATCH", `/${id}`, { description: "x" })).text).not.toContain(secret);
      const rotated = (await call("POST", `/${id}/rotate-secret`)).body;
      expect(rotated).toEqual({ id, secret: expect.any(String), previous_secret_expires_at: expect.any(String) });
      expect(rotated.secret).not.toBe(secret);
      // What was told is accepted again as a secret of that preset.
      expect((await call("PATCH", `/${id}`, { secret: rotated.secret })).status).toBe(200);
    },
  );

  test("a rotation says how long the former secret counts, its own only when minted", async () => {
    const { call, create } = newcomer();
    const { id } = await create({ source: "s", secret: "0123456789abcdef" });
    const { body } = await call("POST", `/${id}/rotate-secret`, { secret: "fedcba9876543210" });
    expect(body).toEqual({ id, previous_secret_expires_at: expect.any(String) });
    expect(Date.parse(body.previous_secret_expires_at) - fixture.now()).toBeWithin(86_390_000, 86_400_001);
    expect((await call("GET", `/${id}`)).body.previous_secret_expires_at).toBe(body.previous_secret_expires_at);
    const at_once = await call("POST", `/${id}/rotate-secret`, { previous_valid_seconds: 0 });
    expect(at_once.body.previous_secret_expires_at).toBeNull();
    for (const wrong of [{ secret: "short" }, { previous_valid_seconds: -1 }, { previous_valid_seconds: 2_592_001 }]) {
      expect((await call("POST", `/${id}/rotate-secret`, wrong)).status).toBe(422);
    }
  });

  test("are nowhere but sealed: not in tables, audit or log", async () => {
    const { tenant, call, create } = newcomer();
    const given = "a-secret-nobody-may-see";
    const { id, secret } = await create({ source: "s", generate_secret: true });
    await call("PATCH", `/${id}`, { secret: given });
    const rotated = (await call("POST", `/${id}/rotate-secret`)).body.secret;
    await call("POST", "", { source: "s", secret: given });
    const rows = await fixture.sql`select * from stimulus_sources where tenant = ${tenant}`;
    const told = JSON.stringify([rows, await fixture.audited(tenant), fixture.log]);
    for (const text of [secret, given, rotated]) expect(told).not.toContain(text);
  });
});
