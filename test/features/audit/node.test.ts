/** The audit log of a whole node: every change that callers can make is on record, with who made it from where. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { auditedTenants, verifyChain } from "../../../src/features/audit/port.ts";
import { manifest, say } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { writers } from "./audited-routes.ts";

let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "silent" } });
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

type Headers = Readonly<Record<string, string>>;
const bearer = async (fields: Headers, realm: string) => ({
  Authorization: `Bearer ${await node.token(fields, realm)}`,
  "User-Agent": "audit-test",
});
/** Of the tenant `acme`. */
const ann = () => bearer({ username: "ann", email: "ann@acme.test" }, "tenant-acme");
const operator = () =>
  bearer(
    { grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" },
    "svc-system",
  );

interface Entry {
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly actor: { readonly [member: string]: unknown };
  readonly details: { readonly [member: string]: unknown };
  readonly [member: string]: unknown;
}
async function entries(query: string, headers: Headers): Promise<readonly Entry[]> {
  const { status, body } = await node.call("GET", `/v1/audit?${query}`, undefined, headers);
  expect(status).toBe(200);
  return body.items;
}
async function done(method: string, path: string, body: unknown, headers: Headers) {
  const answer = await node.call(method, path, body, headers);
  expect([method, path, answer.status, answer.body?.code]).toEqual([method, path, expect.any(Number), undefined]);
  return answer.body;
}

const workflow = {
  apiVersion: "svc.dev/v1",
  kind: "Workflow",
  metadata: { name: "sign" },
  spec: {
    initial_state: "ASK",
    states: {
      // Which the first user of the tenant's realm is.
      ASK: {
        kind: "Human",
        prompt: "?",
        timeout: "1h",
        approvers: ["role:owner", "email:bob@example.com"],
        transitions: [{ target: "DONE" }],
      },
      DONE: { kind: "System", command: "noop", transitions: [] },
    },
  },
};

test("of every route that may change something it is decided whether it is audited", async () => {
  const { paths } = (await node.call("GET", "/openapi.json")).body as { paths: Record<string, object> };
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => !["get", "head", "parameters"].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(served.sort()).toEqual(Object.keys(writers).sort());
});

test("definitions, volumes, approvals and deletions are on record", async () => {
  const headers = await ann();
  const agent = manifest({ name: "clerk", script: [say("done")], runtime: { bootstrap_path: undefined } });
  const { agent_id } = await done("POST", "/v1/agents", agent, headers);
  await done("PATCH", `/v1/agents/${agent_id}`, { description: "knows" }, headers);
  await done("POST", `/v1/agents/${agent_id}/pause`, undefined, headers);
  await done("POST", `/v1/agents/${agent_id}/resume`, undefined, headers);
  const started = await done("POST", "/v1/executions?wait_seconds=30", { agent_id, input: "" }, headers);
  await done("DELETE", `/v1/executions/${started.execution_id}`, undefined, headers);
  await done("DELETE", `/v1/agents/${agent_id}`, undefined, headers);

  const { id: volume } = await done("POST", "/v1/volumes", { label: "papers" }, headers);
  await done("PATCH", `/v1/volumes/${volume}`, { label: "letters" }, headers);
  await done("DELETE", `/v1/volumes/${volume}`, undefined, headers);

  await done("POST", "/v1/workflows", workflow, headers);
  const asked = async () => {
    const { execution_id } = await done("POST", "/v1/workflows/sign/run", {}, headers);
    const find = async () =>
      (await node.call("GET", `/v1/human-approvals?execution_id=${execution_id}`, undefined, headers)).body;
    const [{ id }] = await until(async () => {
      const { items } = await find();
      return items.length > 0 && items;
    });
    return { id, run: execution_id };
  };
  const approved = await asked();
  await done("POST", `/v1/human-approvals/${approved.id}/approve`, {}, headers);
  const rejected = await asked();
  await done("POST", `/v1/human-approvals/${rejected.id}/reject`, { reason: "no" }, headers);
  const signalled = await asked();
  await done("POST", `/v1/workflows/executions/${signalled.run}/signal`, { response: "yes" }, headers);
  const linked = await asked();
  const link = await done("POST", `/v1/human-approvals/${linked.id}/links`, { recipient: "bob@example.com" }, headers);
  const { pathname } = new URL(link.url);
  const used = await fetch(node.url + pathname, {
    method: "POST",
    headers: { "Content-Type": "application/json", "User-Agent": "bob" },
    body: JSON.stringify({ decision: "approve" }),
  });
  expect(used.status).toBe(200);
  await done("DELETE", `/v1/workflows/executions/${linked.run}`, undefined, headers);
  await done("DELETE", "/v1/workflows/sign?force=true", undefined, headers);

  const told = [...(await entries("limit=500", headers))].reverse();
  const actions = told.map(({ action, target }) => `${action} ${target.type} ${target.id}`);
  const expected = [
    "tenant.autoprovisioned tenant acme",
    `agent.deployed agent ${agent_id}`,
    `agent.updated agent ${agent_id}`,
    `agent.updated agent ${agent_id}`,
    `agent.updated agent ${agent_id}`,
    `execution.deleted execution ${started.execution_id}`,
    `agent.deleted agent ${agent_id}`,
    `volume.created volume ${volume}`,
    `volume.updated volume ${volume}`,
    `volume.deleted volume ${volume}`,
    expect.stringMatching(/^workflow\.registered workflow /),
    `approval.approved approval ${approved.id}`,
    `approval.rejected approval ${rejected.id}`,
    `approval.approved approval ${signalled.id}`,
    `approval.link_issued approval ${linked.id}`,
    `approval.approved approval ${linked.id}`,
    `execution.deleted workflow_execution ${linked.run}`,
    expect.stringMatching(/^workflow\.deleted workflow /),
  ];
  expect(actions).toEqual(expected);
  for (const entry of told) {
    const isBob = entry.actor.kind === "link";
    expect(entry).toMatchObject({
      tenant_id: "acme",
      actor: isBob
        ? { kind: "link", user_id: null, name: "bob@example.com" }
        : { kind: "tenant_user", realm: "tenant-acme", user_id: expect.any(String), name: "ann@acme.test" },
      outcome: "allowed",
      ip: "127.0.0.1",
      user_agent: isBob ? "bob" : "audit-test",
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  }
  expect(told.find(({ actor }) => actor.kind === "link")?.details).toMatchObject({
    via: "link",
    decides: true,
    link_issued_by: { email: "ann@acme.test" },
  });
});

test("scopes are on record in both tenants that they concern", async () => {
  const headers = await operator();
  const { agent_id } = await done("POST", "/v1/agents", manifest({ name: "shared" }), {
    ...headers,
    "X-Svc-Tenant": "acme",
  });
  await done("POST", `/v1/agents/${agent_id}/scope`, { scope: "global" }, { ...headers, "X-Svc-Tenant": "acme" });
  const query = `action=agent.published&target_id=${agent_id}`;
  for (const of of [await ann(), headers]) {
    expect(await entries(query, of)).toMatchObject([{ details: { previous_scope: "tenant", new_scope: "global" } }]);
  }
});

test("an administrator's way into a tenant is on record there: each write, reads once", async () => {
  const headers = { ...(await operator()), "X-Svc-Tenant": "acme" };
  const switches = async () => entries("action=tenant.switch&limit=500", await ann());
  const before = (await switches()).length;
  for (let round = 0; round < 3; round++) await done("GET", "/v1/agents", undefined, headers);
  await node.call("POST", "/v1/workflows/validate", workflow, headers);
  await node.call("POST", "/v1/workflows/validate", workflow, headers);
  const told = await switches();
  // A five-minute period may have ended in between.
  const reads = told.filter(({ details }) => details.method === "GET").length;
  expect([told.length - before - reads, reads >= 1 && reads <= 2]).toEqual([2, true]);
  expect(told[0]).toMatchObject({
    actor: { kind: "operator", role: "admin" },
    target: { type: "tenant", id: "acme" },
    details: { method: "POST", route: "/v1/workflows/validate" },
  });
  // The own tenant is not entered.
  await done("GET", "/v1/agents", undefined, { ...(await operator()), "X-Svc-Tenant": "svc-system" });
  expect(await entries("action=tenant.switch", await operator())).toEqual([]);
});

test("a hundred equal refusals leave one entry with their count", async () => {
  const member = await bearer({ username: "mia", role: "tenant:member" }, "tenant-acme");
  const refused = () => node.call("POST", "/v1/stimulus-routes", {}, member);
  const failed = () => node.call("GET", "/v1/agents", undefined, { Authorization: "Bearer nonsense" });
  const answers = await Promise.all(Array.from({ length: 100 }, refused));
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.code}`))).toEqual(
    new Set(["403 insufficient_scope"]),
  );
  for (let count = 0; count < 5; count++) expect((await failed()).status).toBe(401);
  const sum = (found: readonly Entry[]) => found.reduce((all, { details }) => all + Number(details.count), 0);
  const denied = async () => entries("action=auth.denied", await ann());
  const unknown = async () => entries("action=auth.failed", await operator());
  await until(async () => sum(await denied()) === 100 && sum(await unknown()) === 5, { what: "the entries" });
  // Two, should a minute have ended in between.
  expect((await denied()).length).toBeLessThanOrEqual(2);
  expect((await denied())[0]).toMatchObject({
    outcome: "denied",
    actor: { kind: "tenant_user", role: "member" },
    target: { type: "route", id: "POST /v1/stimulus-routes" },
    details: { code: "insufficient_scope" },
  });
  expect((await unknown()).length).toBeLessThanOrEqual(2);
  expect((await unknown())[0]).toMatchObject({
    outcome: "failed",
    actor: { kind: "unknown", user_id: null },
    target: { type: "client_address", id: "127.0.0.1" },
    details: { code: "invalid_token" },
  });
});

test("the log is exported as lines, oldest first; not below enterprise", async () => {
  const consumer = await bearer({ username: "cleo", tier: "business" }, "svc-consumer");
  const refused = await node.call("GET", "/v1/audit?format=ndjson", undefined, consumer);
  expect([refused.status, refused.body.code]).toEqual([403, "tier_not_permitted"]);
  await stores.sql`
    insert into audit_entries
    select gen_random_uuid(), now() - n * interval '1 second', 'acme', '{"kind":"x"}', 'many.made', 't', n::text, 'allowed',
      null, null, null, '{}' from generate_series(1, 1300) n`;
  const get = (path: string, headers: Headers) => fetch(node.url + path, { headers: { ...headers } });
  const lines = async (path: string, headers: Headers) => {
    const response = await get(path, headers);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
    const text = await response.text();
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Entry);
  };
  const many = await lines("/v1/audit?format=ndjson&action=many.", await ann());
  expect(many.map(({ target }) => Number(target.id))).toEqual(Array.from({ length: 1300 }, (_, index) => 1300 - index));
  expect(
    await lines("/v1/admin/audit?format=ndjson&tenant_id=acme&action=many.&target_id=7", await operator()),
  ).toHaveLength(1);
  expect(await lines("/v1/audit?format=ndjson&action=none.", await ann())).toEqual([]);
  expect((await get("/v1/audit?format=ndjson&since=yesterday", await ann())).status).toBe(422);
  const exports = await entries("action=audit.exported", await ann());
  expect(exports.map(({ details }) => details)).toEqual([
    { filter: { action: "none." } },
    { filter: { action: "many." } },
  ]);
  expect(await entries("action=audit.exported", await operator())).toMatchObject([{ target: { id: "acme" } }]);
});

test("nothing is done that cannot be put on record", async () => {
  const headers = await ann();
  const switched = { ...(await operator()), "X-Svc-Tenant": "acme" };
  const { id: volume } = await done("POST", "/v1/volumes", { label: "kept" }, headers);
  await done("POST", "/v1/workflows", workflow, headers);
  await done("POST", "/v1/workflows/sign/run", {}, headers);
  const [{ id }] = await until(async () => {
    const { items } = (await node.call("GET", "/v1/human-approvals", undefined, headers)).body;
    return items.length > 0 && items;
  });
  await stores.sql`alter table audit_entries rename to away`;
  for (const [method, path, body, as] of [
    ["POST", "/v1/agents", manifest({ name: "unrecorded" }), headers],
    ["DELETE", `/v1/volumes/${volume}`, undefined, headers],
    ["DELETE", "/v1/workflows/sign?force=true", undefined, headers],
    ["POST", `/v1/human-approvals/${id}/approve`, {}, headers],
    ["POST", "/v1/workflows/validate", workflow, switched],
  ] as const) {
    const answer = await node.call(method, path, body, as);
    expect([path, answer.status >= 500]).toEqual([path, true]);
  }
  await stores.sql`alter table away rename to audit_entries`;
  expect((await node.call("GET", "/v1/agents/lookup/unrecorded", undefined, headers)).status).toBe(404);
  expect((await node.call("GET", `/v1/volumes/${volume}`, undefined, headers)).status).toBe(200);
  expect((await node.call("GET", "/v1/workflows/sign", undefined, headers)).status).toBe(200);
  const { status } = (await node.call("GET", `/v1/human-approvals/${id}/history`, undefined, headers)).body;
  expect(status).toBe("pending");
});

test("after all of this the chains of the tenants are whole", async () => {
  const { sql } = stores;
  const unsealed = () => sql`select 1 from audit_entries where sequence is null and action not like 'auth.%' limit 1`;
  await until(async () => (await unsealed()).length === 0, { what: "the seals" });
  const reports = [];
  for await (const tenant of auditedTenants(sql)) reports.push(await verifyChain(sql, tenant));
  expect(reports.length).toBeGreaterThan(2);
  expect(reports.flatMap(({ tenant, faults }) => faults.map((fault) => `${tenant}: ${fault}`))).toEqual([]);
});
