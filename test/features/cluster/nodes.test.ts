/** Two nodes, one of which dies and one of which loses its database (docs/reference/cluster.md). */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { StoreProxy } from "../../faults/proxy.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

setDefaultTimeout(60_000);

let stores: TestStores;
let proxy: StoreProxy;
let node: NodeProcess;
let other: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  proxy = await StoreProxy.to(stores.databaseUrl);
  const env = { SVC_LOG_LEVEL: "silent", SVC_NODE_TAGS: "eu,blue", SVC_MAX_INSTANCES: "8" };
  node = await startNodeProcess({ ...stores, databaseUrl: proxy.url }, { env });
  other = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "silent" } });
});
afterAll(async () => {
  await node?.dispose();
  await other?.dispose();
  proxy?.close();
  await stores?.dispose();
});

const ask = (path: string, headers = {}) => node.call("GET", path, undefined, headers);
const person = async () => ({ Authorization: `Bearer ${await node.token({ username: "ann" }, "svc-consumer")}` });

test("every node is listed with what it can do, and the cluster is healthy", async () => {
  const { status, body } = await until(
    async () => {
      const answer = await ask("/v1/cluster/status");
      return answer.body.nodes.every(({ version }: { version: string }) => version !== "") ? answer : null;
    },
    { what: "both nodes to say what they are" },
  );
  expect(status).toBe(200);
  expect(body).toMatchObject({
    source: "cluster_repository",
    total_nodes: 2,
    active_nodes: 2,
    draining_nodes: 0,
    unhealthy_nodes: 0,
    cluster_health: "healthy",
    overall_status: "healthy",
  });
  expect(body).not.toHaveProperty("uptime");
  expect(body.controller_node_id).toBe(body.nodes[0].id);
  expect(body.nodes[0]).toMatchObject({
    node_id: body.nodes[0].id,
    role: "hybrid",
    status: "active",
    capacity: { max_executions: 14, running_executions: 0 },
    tags: ["eu", "blue"],
    gpu_count: 0,
    grpc_address: null,
  });
  expect(body.nodes[0].cpu_cores).toBeGreaterThan(0);
  expect(body.nodes[0].available_memory_gb).toBeGreaterThan(0);
  const listed = await ask("/v1/cluster/nodes");
  expect(listed.body).toMatchObject({ source: "cluster_repository", count: 2 });
  expect(listed.body.items).toEqual(listed.body.nodes);
  expect((await ask("/v1/cluster/nodes", await person())).body).toMatchObject({ code: "insufficient_scope" });
});

test("the dashboard, incidents and swarms answer with the caller's own rows alone", async () => {
  const tenant = "acme";
  await stores.sql`
    insert into security_incidents (id, tenant, category, severity, details, count, created_at, last_seen_at)
    values (gen_random_uuid(), ${tenant}, 'egress_blocked', 'medium', '{}', 1, now(), now())`;
  for (const path of ["/v1/security/incidents", "/v1/observability/security-incidents"]) {
    const own = await ask(path);
    expect(own.body).toMatchObject({ items: [], incidents: [], count: 0, next_cursor: null });
    expect((await ask(`${path}?all_tenants=true`, await person())).body).toMatchObject({ code: "operator_required" });
    expect((await ask(path, { "X-Tenant-Id": tenant })).body).toMatchObject({ count: 1 });
  }
  for (const path of ["/v1/dashboard/summary", "/v1/observability/dashboard"]) {
    const { body } = await ask(path, { "X-Tenant-Id": tenant });
    expect(body).toMatchObject({
      window_hours: 24,
      security_incident_count: 1,
      storage_violation_count: 0,
      swarm_count: 0,
      execution_count: 0,
      recent_execution_count: 0,
      executions_by_status: { pending: 0, completed: 0 },
      cluster: { total_nodes: 2 },
    });
    expect(body.cluster).not.toHaveProperty("nodes");
    expect((await ask(path, await person())).body).toMatchObject({ cluster: null, security_incident_count: 0 });
    expect((await ask(`${path}?all_tenants=true`, await person())).body).toMatchObject({ code: "operator_required" });
  }
  expect((await ask(`/v1/swarms/${crypto.randomUUID()}`)).body).toMatchObject({ code: "swarm_not_found" });
  expect((await ask("/v1/swarms")).body).toMatchObject({ items: [], swarms: [], count: 0 });
});

test("a platform operator reads all tenants' incidents, on record", async () => {
  const fields = { grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" };
  const headers = { Authorization: `Bearer ${await node.token(fields, "svc-system")}` };
  const { body } = await ask("/v1/security/incidents?all_tenants=true", headers);
  expect(body).toMatchObject({ count: 1, items: [{ tenant_id: "acme", type: "egress_blocked" }] });
  const none = await ask("/v1/security/incidents?all_tenants=true&tenant_id=other", headers);
  expect(none.body).toMatchObject({ count: 0 });
  const entries = await ask("/v1/audit?action=tenant.all_read", headers);
  expect(entries.body.items.map(({ target }: { target: { id: string } }) => target.id).sort()).toEqual(["*", "other"]);
});

test("one of two nodes that is killed makes the cluster degraded", async () => {
  await other.kill();
  const [{ id }] = (await ask("/v1/cluster/nodes")).body.items.slice(1);
  await stores.sql`update runtime_nodes set heartbeat_at = now() - interval '46 seconds' where id = ${id}`;
  const { body } = await ask("/v1/cluster/status");
  expect(body).toMatchObject({ total_nodes: 2, active_nodes: 1, unhealthy_nodes: 1, cluster_health: "degraded" });
  await stores.sql`update runtime_nodes set heartbeat_at = now() - interval '61 minutes' where id = ${id}`;
  expect((await ask("/v1/cluster/status")).body).toMatchObject({ total_nodes: 1, cluster_health: "healthy" });
});

test("without its database a node tells of itself, is not ready, and runs", async () => {
  const made = await node.call("POST", "/v1/api-keys", { name: "watch", scopes: ["node:read", "node:list"] });
  const key = { Authorization: `Bearer ${made.body.key}` };
  expect((await ask("/v1/cluster/status", key)).status).toBe(200);
  proxy.refuse();
  proxy.cut();
  await until(async () => (await fetch(`${node.url}/health/ready`)).status === 503, { what: "the node to be unready" });
  expect(await (await fetch(`${node.url}/health`)).json()).toEqual({ status: "ok" });
  const status = await ask("/v1/cluster/status");
  expect([status.status, status.body.source, status.body.total_nodes]).toEqual([200, "local_fallback", 1]);
  const nodes = await ask("/v1/cluster/nodes");
  expect([nodes.status, nodes.body.source, nodes.body.items[0].status]).toEqual([200, "local_fallback", "active"]);
  // Only the database knows whether a key was revoked meanwhile.
  const refused = async () => (await ask("/v1/cluster/status", key)).status === 503;
  await until(refused, { what: "the key to be asked after" });
  expect((await ask("/v1/dashboard/summary")).status).toBe(503);
  proxy.accept();
  await until(async () => (await ask("/v1/cluster/status")).body.source === "cluster_repository", {
    what: "the database to be back",
  });
});
