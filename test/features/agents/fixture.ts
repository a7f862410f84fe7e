/** The agent routes over real stores, with callers who are simply believed. */

import type { Identity } from "../../../actors/identity/identity.ts";
import { agentQuota } from "../../../actors/policy/quota.ts";
import { agentEvents } from "../../../src/features/agents/events.ts";
import { agentRoutes, catalogueRoutes } from "../../../src/features/agents/routes.ts";
import { createAgents } from "../../../src/features/agents/service.ts";
import { createAudit } from "../../../src/features/audit/service.ts";
import { createApp } from "../../../src/http/app.ts";
import { createLogger } from "../../../src/http/operations/log.ts";
import { offer } from "../../actors/agent/offer.ts";
import { caller as believedCaller, believing } from "../../harness/callers.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { freshStores } from "../../harness/stores.ts";

export const allScopes = ["agent:deploy", "agent:list", "agent:read", "agent:delete", "agent:execute"];

/** A caller who may do with agents whatever there is. */
export const caller = (tenant: string, facts: Partial<Identity> = {}): string =>
  believedCaller(tenant, { scopes: new Set(allScopes), ...facts });

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
    quota: agentQuota,
    countExecutions: async (tenant, ids) => new Map(ids.map((id) => [id, counts.get(`${tenant} ${id}`) ?? 0] as const)),
    cancelExecutions: async (tenant, id, reason) => {
      if (failCancel) throw new Error("crashed here");
      cancelled.push(`${tenant} ${id} ${reason}`);
    },
    events: agentEvents,
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
