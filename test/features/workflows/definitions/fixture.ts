/** The routes of workflow definitions over real stores; agents and runs are what a test says they are. */

import { createAudit } from "../../../../src/features/audit/service.ts";
import { workflowRoutes } from "../../../../src/features/workflows/definitions/routes.ts";
import { createWorkflows } from "../../../../src/features/workflows/definitions/service.ts";
import { createApp } from "../../../../src/http/app.ts";
import { createLogger } from "../../../../src/http/operations/log.ts";
import { believing } from "../../../harness/callers.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { freshStores } from "../../../harness/stores.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: LooseJson;
}

export async function openFixture() {
  const stores = await freshStores();
  /** `tenant name`, or a name alone for an agent that everybody sees. */
  const agents = new Set<string>();
  const running = new Map<string, string>();
  const cancelled: string[] = [];
  const counts = new Map<string, number>();
  const workflows = createWorkflows({
    audit: createAudit({ now: Date.now, newId: () => Bun.randomUUIDv7() }),
    sql: stores.sql,
    offer: {
      isolations: ["process"],
      defaultIsolation: "process",
      openEgress: true,
      rootAllowed: false,
      email: false,
      imageRegistries: null,
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
