/** Source routes over real stores; workflows and agents are what a test says they are. */

import { expect } from "bun:test";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { createAudit } from "../../../../src/features/audit/service.ts";
import { createEncryption } from "../../../../src/features/encryption/encryption.ts";
import { masterKeyOf } from "../../../../src/features/encryption/envelope.ts";
import { createReferences } from "../../../../src/features/references/references.ts";
import { createSources } from "../../../../src/features/stimuli/sources/lookup.ts";
import { createRouters } from "../../../../src/features/stimuli/sources/routers/service.ts";
import { sourceRoutes } from "../../../../src/features/stimuli/sources/routes.ts";
import { createSourceService } from "../../../../src/features/stimuli/sources/service.ts";
import { environmentSecrets } from "../../../../src/features/stimuli/sources/verification/environment.ts";
import type { Definitions } from "../../../../src/features/workflows/definitions/port.ts";
import { createApp } from "../../../../src/http/app.ts";
import { createLogger } from "../../../../src/http/operations/log.ts";
import { Secret } from "../../../../src/lib/secret.ts";
import { believing, caller } from "../../../harness/callers.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { freshStores } from "../../../harness/stores.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: LooseJson;
}

export async function openFixture(environment: Readonly<Record<string, string>> = {}) {
  const stores = await freshStores();
  /** `tenant name`, or a name alone for what everybody sees. */
  const workflows = new Set<string>();
  /** The same → the agent's id. */
  const agents = new Map<string, string>();
  const log: string[] = [];
  /** What secrets hold, by `tenant reference`; every reading of one. */
  const values = new Map<string, string>();
  const asked: string[] = [];
  const away = { is: false };
  const references = createReferences();
  references.from({
    kind: "secret",
    refused: async ({ scopes }, _tenant, placed) =>
      new Map(
        scopes.has("secret:read")
          ? []
          : placed.map(({ text }) => [text, { code: "secret_forbidden" as const, message: "no secret:read" }]),
      ),
    resolve: async () => new Map(),
    used: async () => {},
  });
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const newId = () => Bun.randomUUIDv7();
  const incidents: string[] = [];
  const encryption = createEncryption({
    current: masterKeyOf(Buffer.alloc(32, 1).toString("base64")),
    previous: null,
    incidents: { report: ({ category, tenant }) => void incidents.push(`${category} ${tenant}`) },
  });
  const audit = createAudit({ now, newId });
  const definitions: Pick<Definitions, "resolve"> = {
    async resolve({ tenant, ref }) {
      if (!workflows.has(ref) && !workflows.has(`${tenant} ${ref}`)) throw new Problem("workflow_not_found", "No");
      return { workflow_id: newId(), name: ref, version: "1.0.0", owner: tenant, definition: null as never };
    },
  };
  const findAgent = async (tenant: string, ref: string) => agents.get(`${tenant} ${ref}`) ?? agents.get(ref) ?? null;
  const secrets = environmentSecrets(environment);

  /** A node of its own: what it remembers is its own as well. */
  function openNode() {
    const sources = createSources({
      sql: stores.sql,
      encryption,
      environment: secrets,
      secrets: {
        async meaning(tenant, { text }) {
          asked.push(`${tenant} ${text}`);
          if (away.is) throw new Problem("secrets_unavailable", "Away");
          const value = values.get(`${tenant} ${text}`);
          if (value === undefined) return { code: "secret_not_found", message: "there is no such secret" };
          return { value: new Secret(value), hidden: [], changedAt: 0 };
        },
      },
      findAgent,
      report: (event) => void log.push(event),
      now,
    });
    const parts = { sql: stores.sql, encryption, audit, definitions: definitions as Definitions, now, newId };
    const service = createSourceService({
      ...parts,
      environment: secrets,
      references,
      publicUrl: "https://svc.test",
      changed: sources.forgetSource,
    });
    const routers = createRouters({ ...parts, findAgent, changed: sources.forgetRouter });
    const app = createApp({
      routes: sourceRoutes({ sources: service, routers }),
      authenticator: believing,
      logger: createLogger("info", { write: (line) => void log.push(line) }),
      metrics: null,
      corsOrigins: [],
    });
    async function call(token: string, method: string, path: string, body?: string | object): Promise<Answer> {
      const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
      const response = await app.handle(
        new Request(`http://svc.test/v1/stimulus-routes${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          ...(text === undefined ? {} : { body: text }),
        }),
      );
      const answer = await response.text();
      return { status: response.status, headers: response.headers, text: answer, body: JSON.parse(answer) };
    }
    return { sources, call };
  }
  const node = openNode();

  return {
    ...node,
    openNode,
    sql: stores.sql,
    encryption,
    audit,
    workflows,
    agents,
    incidents,
    values,
    asked,
    away,
    /** Lines of the log. */
    log,
    now,
    newId,
    /** Sets the clock of everything here ahead. */
    advance: (ms: number) => {
      ahead += ms;
    },
    /** What the audit log tells of a tenant, oldest first. */
    audited: (tenant: string) =>
      stores.sql<{ action: string; target_id: string; details: Record<string, unknown> }[]>`
        select action, target_id, details from audit_entries where tenant = ${tenant} order by id`,
    dispose: async () => {
      await node.sources.close();
      await stores.dispose();
    },
  };
}

let tenants = 0;

/** Makes callers, each in a tenant of its own. */
export const newcomers = (fixture: Awaited<ReturnType<typeof openFixture>>) => () => {
  const tenant = `tenant-${++tenants}`;
  const token = caller(tenant);
  const call = (method: string, path: string, body?: string | object) => fixture.call(token, method, path, body);
  const create = async (fields: object) => {
    const answer = await call("POST", "", fields);
    expect(answer.status).toBe(201);
    return answer.body;
  };
  return { tenant, token, call, create };
};
