/** The routes of workflow definitions over real stores; agents and runs are what a test says they are. */

import { usualTerms } from "../../../../actors/policy/quota.ts";
import { createAudit } from "../../../../src/features/audit/service.ts";
import { createReferences } from "../../../../src/features/references/references.ts";
import { workflowRoutes } from "../../../../src/features/workflows/definitions/routes.ts";
import { createWorkflows } from "../../../../src/features/workflows/definitions/service.ts";
import { createApp } from "../../../../src/http/app.ts";
import { createLogger } from "../../../../src/http/operations/log.ts";
import { believing, caller } from "../../../harness/callers.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { freshStores } from "../../../harness/stores.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: LooseJson;
}

let tenants = 0;

/** A tenant that no other test uses, and a caller in it. */
export function newTenant() {
  tenants += 1;
  return { tenant: `team-${tenants}`, token: caller(`team-${tenants}`) };
}

/** A caller who may make workflows global. */
export const publisher = () => caller("svc-system");

/** A state that ends the workflow. */
export const done = { kind: "System", command: "noop", transitions: [] };

/** A workflow of one state. */
export function manifest(name: string, version = "1.0.0", more: { metadata?: object; spec?: object } = {}) {
  return {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name, version, ...more.metadata },
    spec: { initial_state: "DONE", states: { DONE: done }, ...more.spec },
  };
}

export async function openFixture() {
  const stores = await freshStores();
  /** `tenant name`, or a name alone for an agent that everybody sees. */
  const agents = new Set<string>();
  const running = new Map<string, string>();
  const cancelled: string[] = [];
  const counts = new Map<string, number>();
  const workflows = createWorkflows({
    follower: { changed: async () => {}, committed: async () => {} },
    audit: createAudit({ now: Date.now, newId: () => Bun.randomUUIDv7() }),
    references: createReferences(),
    contexts: {
      exists: async (_, name) => name !== "unknown",
      mayUse: async (_, name) => name !== "barred",
    },
    terms: async (tenant) => usualTerms(tenant),
    sql: stores.sql,
    offer: {
      isolations: ["process"],
      defaultIsolation: "process",
      openEgress: true,
      rootAllowed: false,
      email: false,
      imageRegistries: null,
      localImages: null,
    },
    visibleAgents: async (tenant, refs) =>
      new Set(refs.filter((one) => agents.has(one) || agents.has(`${tenant} ${one}`))),
    countRuns: async () => counts,
    unfinishedRuns: async (ids) => [...running].filter(([, workflow]) => ids.includes(workflow)).map(([id]) => id),
    cancelRuns: async (ids, reason) => {
      for (const [id, workflow] of running) if (ids.includes(workflow)) cancelled.push(`${id} ${reason}`);
    },
    now: Date.now,
    newId: () => Bun.randomUUIDv7(),
  });
  const app = createApp({
    routes: workflowRoutes(workflows),
    authenticator: believing,
    logger: createLogger("silent"),
    metrics: null,
    corsOrigins: [],
  });

  async function call(
    token: string,
    method: string,
    path: string,
    body?: string | object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const request = new Request(`http://svc.test${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(typeof body === "object" ? { "content-type": "application/json" } : {}),
        ...(text === undefined ? {} : { "content-length": String(Buffer.byteLength(text)) }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const response = await app.handle(request);
    const answer = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      body: isJson ? JSON.parse(answer) : null,
    };
  }

  return {
    /** @throws Error for any answer but 200 */
    async register(token: string, document: object | string, query = "") {
      const answer = await call(token, "POST", `/v1/workflows${query}`, document);
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body;
    },
    sql: stores.sql,
    workflows,
    agents,
    /** Execution id → workflow id. */
    running,
    cancelled,
    counts,
    call,
    dispose: () => stores.dispose(),
  };
}
