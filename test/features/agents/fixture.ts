/** The agent routes over real stores, with callers who are simply believed. */

import { expect } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import type { Identity } from "../../../actors/identity/identity.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { usualTerms } from "../../../actors/policy/quota.ts";
import { agentEvents } from "../../../src/features/agents/events.ts";
import { agentRoutes, catalogueRoutes } from "../../../src/features/agents/routes.ts";
import { createAgents } from "../../../src/features/agents/service.ts";
import { createAudit } from "../../../src/features/audit/service.ts";
import { createReferences } from "../../../src/features/references/references.ts";
import { createApp } from "../../../src/http/app.ts";
import { createLogger } from "../../../src/http/operations/log.ts";
import { manifest, offer } from "../../actors/agent/offer.ts";
import { caller as believedCaller, believing } from "../../harness/callers.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { freshStores } from "../../harness/stores.ts";
import { contextsOf } from "../security-contexts/fixture.ts";

export const allScopes = ["agent:deploy", "agent:list", "agent:read", "agent:delete", "agent:execute"];

/** A caller who may do with agents whatever there is. */
export const caller = (tenant: string, facts: Partial<Identity> = {}): string =>
  believedCaller(tenant, { scopes: new Set(allScopes), ...facts });

let tenants = 0;

/** A tenant that no other test uses, and a caller in it. */
export function newTenant() {
  tenants += 1;
  const tenant = `team-${tenants}`;
  return { tenant, token: caller(tenant) };
}

/** The id of no agent. */
export const unknownId = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11";

/** A caller who may make agents global. */
export const publisher = () => caller("svc-system", { kind: "operator", role: "operator" });
/** An administrator who acts in that tenant. */
export const switched = (tenant: string) => caller(tenant, { kind: "operator", role: "admin" });

let names = 0;
/** A name no other agent has: global agents are seen by every test. */
export const newName = () => {
  names += 1;
  return `agent-${names}`;
};
/** A manifest of that name; `spec` is laid over the usual one. */
export const named = (name: string, version = "1.0.0", spec: { [key: string]: Json } = {}) => {
  const base = manifest();
  return { ...base, metadata: { name, version }, spec: { ...(base.spec as object), ...spec } };
};

/** Problems a published client could trip over. `date-time` is checked by hand: TypeBox knows no formats. */
export function misfits(schema: Parameters<typeof Value.Errors>[0], value: unknown): string[] {
  return [...Value.Errors(schema, value)]
    .filter((error) => !error.message.includes("format"))
    .map((error) => `${error.path} ${error.message}`);
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: LooseJson;
}

export interface CallOptions {
  readonly method?: string;
  readonly body?: string | Uint8Array | object;
  readonly type?: string | null;
  readonly accept?: string;
}

export async function openFixture() {
  const stores = await freshStores();
  const counts = new Map<string, number>();
  const cancelled: string[] = [];
  const told: string[] = [];
  let failCancel = false;
  const agents = createAgents({
    sql: stores.sql,
    offer,
    terms: async (tenant) => usualTerms(tenant),
    countExecutions: async (tenant, ids) => new Map(ids.map((id) => [id, counts.get(`${tenant} ${id}`) ?? 0] as const)),
    cancelExecutions: async (tenant, id, reason) => {
      if (failCancel) throw new Error("crashed here");
      cancelled.push(`${tenant} ${id} ${reason}`);
    },
    events: agentEvents,
    references: createReferences(),
    contexts: contextsOf(stores.sql),
    audit: createAudit({ now: Date.now, newId: () => Bun.randomUUIDv7() }),
    watchers: [
      async ({ what, tenant, agentId }) => {
        told.push(`${what} ${tenant} ${agentId}`);
      },
    ],
    now: Date.now,
    newId: () => Bun.randomUUIDv7(),
  });
  const models = {
    aliases: () => [{ alias: "default", capabilities: ["tools"], context_window: null, max_output_tokens: 8192 }],
  };
  const app = createApp({
    routes: [...agentRoutes(agents), ...catalogueRoutes(offer.runtimes, models)],
    authenticator: believing,
    logger: createLogger("silent"),
    metrics: null,
    corsOrigins: [],
  });

  async function call(token: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { method = "GET", body, type = "application/json", accept } = options;
    const raw =
      body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    const headers = new Headers({ authorization: `Bearer ${token}` });
    if (raw !== undefined && type !== null) headers.set("content-type", type);
    if (raw !== undefined) headers.set("content-length", String(Buffer.byteLength(raw)));
    if (accept !== undefined) headers.set("accept", accept);
    // A Blob without a type, so that "no Content-Type" means none.
    const payload = raw === undefined ? {} : { body: new Uint8Array(Buffer.from(raw)) };
    const response = await app.handle(new Request(`http://svc.test${path}`, { method, headers, ...payload }));
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
  }

  return {
    agents,
    sql: stores.sql,
    counts,
    cancelled,
    /** Every change the watchers heard of: what, whose, which. */
    told,
    breakCancel: (broken: boolean) => {
      failCancel = broken;
    },
    call,
    deploy: (token: string, body: CallOptions["body"], query = "", type: string | null = "application/json") =>
      call(token, `/v1/agents${query}`, { method: "POST", type, ...(body === undefined ? {} : { body }) }),
    dispose: stores.dispose,
  };
}

/** What tests do with agents that are there. */
export function acting(fixture: Awaited<ReturnType<typeof openFixture>>) {
  const post = (token: string, path: string, body?: CallOptions["body"]) =>
    fixture.call(token, `/v1/agents/${path}`, { method: "POST", ...(body === undefined ? {} : { body }) });
  const patch = (token: string, id: string, body: CallOptions["body"], query = "", type = "application/json") =>
    fixture.call(token, `/v1/agents/${id}${query}`, { method: "PATCH", type, ...(body === undefined ? {} : { body }) });
  const read = async (token: string, id: string) => (await fixture.call(token, `/v1/agents/${id}`)).body;

  /** A deployed agent of a fresh tenant. */
  async function deployed(versions: readonly string[] = ["1.0.0"]) {
    const { tenant, token } = newTenant();
    const name = newName();
    let id = "";
    for (const version of versions) id = (await fixture.deploy(token, named(name, version))).body.id;
    return { tenant, token, name, id };
  }

  /** Everything told about an agent, in order. */
  async function history(id: string) {
    const rows = await fixture.sql<{ sequence: string; tenant: string; type: string; body: { [key: string]: Json } }[]>`
      select sequence, tenant, type, body from agent_events where agent_id = ${id} order by sequence`;
    expect(rows.map((row) => Number(row.sequence))).toEqual(rows.map((_, index) => index + 1));
    return rows;
  }
  const told = async (id: string) => (await history(id)).map((row) => row.type);

  return { post, patch, read, deployed, history, told };
}
