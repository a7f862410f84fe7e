/** What a purge leaves behind: a name and a log (docs/reference/tenants.md). */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { features } from "../../../src/node/features.ts";
import { say } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { EdgeFixture } from "../edge/fixture.ts";
import { daemonOf, invoke } from "../edge/link/fixture.ts";
import { type Fixture, type Headers, openFixture } from "./fixture.ts";

let at: Fixture;
beforeAll(async () => {
  at = await openFixture();
});
afterAll(() => at?.dispose());

/** As if the thirty days had passed. */
async function overdue(slug: string): Promise<void> {
  await at.stores.sql`
    update tenants set deleted_at = deleted_at - interval '31 days', purge_at = purge_at - interval '31 days'
    where slug = ${slug}`;
}

const purged = (slug: string) =>
  until(
    async () => (await at.stores.sql`select from tenants where slug = ${slug} and purged_at is not null`).count > 0,
    { timeoutMs: 60_000, what: "the purge" },
  );

/** Tables that hold rows of the tenant, in whichever column a tenant is named. */
async function tablesWith(slug: string): Promise<string[]> {
  const { sql } = at.stores;
  const columns = await sql<{ table_name: string; column_name: string }[]>`
    select table_name, column_name from information_schema.columns
    where table_schema = current_schema() and column_name in ('tenant', 'origin_tenant', 'owner_tenant') order by 1, 2`;
  const found: string[] = [];
  for (const { table_name, column_name } of columns) {
    const { count } = await sql`select from ${sql(table_name)} where ${sql(column_name)} = ${slug} limit 1`;
    if (count > 0) found.push(table_name);
  }
  return [...new Set(found)];
}

const workflow = {
  apiVersion: "svc.dev/v1",
  kind: "Workflow",
  metadata: { name: "sign" },
  spec: {
    initial_state: "ASK",
    states: {
      ASK: {
        kind: "Human",
        prompt: "?",
        timeout: "1h",
        approvers: ["role:owner"],
        transitions: [{ target: "DONE" }],
      },
      DONE: { kind: "System", command: "noop", transitions: [] },
    },
  },
};

test("a purge leaves no row, file or secret of the tenant; its name and its log stay", async () => {
  const slug = await at.newTenant({ owner_email: "ann@purged.test", display_name: "To be purged" });
  const ann = await at.member(slug);
  const { node } = at;
  const done = async (method: string, path: string, body?: unknown) => {
    const answer = await node.call(method, path, body, { ...ann, "Idempotency-Key": crypto.randomUUID() });
    expect([path, answer.status, answer.body?.code]).toEqual([path, expect.any(Number), undefined]);
    return answer.body;
  };
  const quick = await at.deploy(ann, { script: [say("done")] });
  const slow = await at.deploy(ann, { script: [{ content: "late", delay_ms: 30_000 }] });
  const [ran, runs] = [await at.start(ann, quick, { labels: { team: "a" } }), await at.start(ann, slow)];
  expect([ran.status, runs.status]).toEqual([200, 200]);
  await done("POST", "/v1/workflows", workflow);
  await done("POST", "/v1/workflows/sign/run", {});
  const volume = await done("POST", "/v1/volumes", { label: "papers" });
  const put = await fetch(`${node.url}/v1/volumes/${volume.id}/files/upload?path=/a.txt`, {
    method: "POST",
    headers: { ...ann, "Content-Type": "text/plain" },
    body: "kept here",
  });
  expect(put.status).toBe(200);
  const directory = join(node.dataDir, "volumes", volume.id);
  expect(existsSync(directory)).toBe(true);
  await done("POST", "/v1/stimulus-routes", { source: "ci", workflow: "sign" });
  await done("POST", "/v1/stimuli", { source: "ci", content: {} });
  await done("POST", "/v1/api-keys", { name: "ci", scopes: ["agent:list"] });
  const edge = new EdgeFixture(at.stores, node);
  const daemon = await daemonOf(edge, ann);
  await daemon.welcome();
  await invoke(edge, ann, [daemon]);
  daemon.started((await daemon.expect("invoke")).command_id);
  await daemon.settled();
  await done("PUT", "/v1/secrets/ci/token", { value: "s3cret-value-of-the-tenant" });
  await done("POST", "/v1/credentials/api-key", { provider: "openai", api_key: "k-of-the-tenant" });
  const shared = await at.deploy(ann);
  const admin = await at.operator("admin");
  const publish = (scope: string, headers: Headers) =>
    node.call("POST", `/v1/agents/${shared}/scope`, { scope }, headers);
  expect((await publish("global", { ...admin, "X-Svc-Tenant": slug })).status).toBe(200);
  expect((await tablesWith(slug)).length).toBeGreaterThan(12);

  await at.admin("DELETE", `/${slug}`);
  await until(
    async () => (await at.stores.sql`select from executions where tenant = ${slug} and ended_at is null`).count === 0,
    {
      timeoutMs: 40_000,
      what: "the cancellations",
    },
  );
  await daemon.expect("revoked", () => true, 40_000);
  expect((await daemon.end()).code).toBe(4003);
  const hostActors = () => at.stores.sql`select from runtime_actors where tenant = ${slug} and kind = 'edge-host'`;
  expect((await hostActors()).count).toBe(1);
  await overdue(slug);
  await purged(slug);

  expect((await hostActors()).count).toBe(0);
  expect((await tablesWith(slug)).sort()).toEqual(expect.arrayContaining(["audit_entries"]));
  const kept = ["audit_chains", "audit_entries"];
  expect((await tablesWith(slug)).filter((table) => !kept.includes(table))).toEqual([]);
  expect(existsSync(directory)).toBe(false);
  expect(readdirSync(join(node.dataDir, "workspaces")).filter((id) => id === ran.body.execution_id)).toEqual([]);
  const [users] = await at.stores.sql`select count(*)::int as count from users where realm = ${`tenant-${slug}`}`;
  expect(users).toEqual({ count: 0 });
  const left = (await at.admin("GET", `/${slug}`)).body;
  expect(left).toMatchObject({ slug, display_name: slug, status: "deleted", owner_email: null });
  expect((await at.admin("POST", `/${slug}/restore`)).body.code).toBe("tenant_purged");
  expect((await at.admin("POST", "", { slug, display_name: "again" })).body.code).toBe("tenant_exists");
  expect((await node.call("GET", "/v1/agents", undefined, ann)).body.code).toBe("tenant_deleted");
  // Their provider goes on issuing tokens: nothing of what these say is stored, since nothing erases it again.
  expect((await node.call("GET", "/v1/agents", undefined, await at.member(slug, "late"))).body.code).toBe(
    "tenant_deleted",
  );
  expect((await tablesWith(slug)).filter((table) => !kept.includes(table))).toEqual([]);
  const switched = { ...admin, "X-Svc-Tenant": slug };
  expect((await node.call("GET", "/v1/agents", undefined, switched)).body.code).toBe("tenant_deleted");
  const log = (
    await node.call("GET", `/v1/admin/audit?tenant_id=${slug}&action=tenant.`, undefined, await at.operator("admin"))
  ).body.items;
  expect(log.map(({ action }: { action: string }) => action)).toEqual([
    "tenant.purged",
    "tenant.deleted",
    "tenant.switch",
    "tenant.created",
  ]);
  expect(log[0].actor).toMatchObject({ kind: "system", name: "purge" });
  // What it gave to all stays theirs.
  expect((await publish("tenant", admin)).body).toMatchObject({ agent_id: shared, tenant_id: "svc-system" });
  expect((await node.call("DELETE", `/v1/agents/${shared}`, undefined, admin)).status).toBe(200);
});

test("after the purge of a consumer's tenant its user starts anew, empty", async () => {
  const sub = crypto.randomUUID();
  const slug = `u-${sub.replaceAll("-", "")}`;
  const headers = await at.consumer(sub, { tier: "pro" });
  await at.deploy(headers);
  await at.admin("PATCH", `/${slug}`, { tier: "business" });
  await at.admin("DELETE", `/${slug}`);
  await until(async () => (await at.node.call("GET", "/v1/agents", undefined, headers)).status === 403, {
    what: "the deletion",
  });
  await overdue(slug);
  await purged(slug);
  const agents = await until(
    async () => {
      const answer = await at.node.call("GET", "/v1/agents", undefined, headers);
      return answer.status === 200 && answer.body;
    },
    { timeoutMs: 20_000, what: "the new beginning" },
  );
  expect(agents.items).toEqual([]);
  expect((await at.admin("GET", `/${slug}`)).body).toMatchObject({
    status: "active",
    tier: "pro",
    tier_source: "claim",
    deleted_at: null,
    purge_at: null,
  });
});

test("a purge goes on where a step failed, and a restored tenant is not purged", async () => {
  const slug = await at.newTenant();
  await at.deploy(await at.member(slug));
  const { sql } = at.stores;
  const names = features.flatMap(({ tenantTables = [] }) => [...tenantTables]);
  expect(names).toContain("agents");
  // What refuses to be erased once.
  await sql`create table holds_agents (agent_id uuid references agents)`;
  await sql`insert into holds_agents select agent_id from agents where tenant = ${slug}`;
  await at.admin("DELETE", `/${slug}`);
  await overdue(slug);
  const failed = await until(
    async () => {
      const [row] = await sql<{ step: string; last_error: string }[]>`
        select step, last_error from tenant_purges where tenant = ${slug} and last_error is not null`;
      return row ?? null;
    },
    { timeoutMs: 40_000, what: "the failed step" },
  );
  expect(failed.step).toBe("agents");
  expect((await at.admin("POST", `/${slug}/restore`)).body.code).toBe("tenant_purged");
  await sql`drop table holds_agents`;
  await purged(slug);
  expect((await sql`select from tenant_purges where tenant = ${slug}`).count).toBe(0);
  const kept = await at.newTenant();
  const agent = await at.deploy(await at.member(kept));
  await at.admin("DELETE", `/${kept}`);
  await at.admin("POST", `/${kept}/restore`);
  expect((await at.admin("GET", `/${kept}`)).body).toMatchObject({ status: "active", purge_at: null });
  expect((await sql`select from agents where agent_id = ${agent}`).count).toBe(1);
});
