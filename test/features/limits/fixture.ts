import { expect } from "bun:test";
import { manifest } from "../../harness/manifests.ts";
import type { NodeProcess } from "../../harness/node/node-process.ts";
import type { TestStores } from "../../harness/stores.ts";

/** A consumer of the tier free in a tenant of their own, which may have many executions at once. */
export async function openConsumer(stores: TestStores, node: NodeProcess, script: unknown) {
  const sub = crypto.randomUUID();
  const tenant = `u-${sub.replaceAll("-", "")}`;
  await stores.sql`
    insert into tenants (slug, kind, display_name, max_concurrent_executions) values (${tenant}, 'consumer', ${tenant}, 50)`;
  const bearer = await node.token({ username: sub, sub }, "svc-consumer");
  const headers = { Authorization: `Bearer ${bearer}` };
  const call = (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    node.call(method, path, body, { ...headers, ...more });
  const deployed = await call("POST", "/v1/agents", manifest({ script }));
  expect(deployed.status).toBe(200);
  const agent_id: string = deployed.body.agent_id;
  const start = (body: object = {}, more = {}) =>
    call("POST", "/v1/executions", { agent_id, input: "", ...body }, more);
  const used = async (name: string, scope = "user") => {
    const { body } = await call("GET", "/v1/user/rate-limits/usage");
    return body.items.find((one: Row) => one.bucket_name === name && one.scope_type === scope);
  };
  return { sub, tenant, agent_id, call, start, used };
}
export interface Row {
  readonly [member: string]: unknown;
}
