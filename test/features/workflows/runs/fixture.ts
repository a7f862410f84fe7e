/** The routes of runs over real stores and the real actors, with callers who are simply believed. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approval } from "../../../../actors/approval/approval.ts";
import { systemTenant } from "../../../../actors/identity/identity.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { usualTerms } from "../../../../actors/policy/quota.ts";
import type { Definition } from "../../../../actors/workflow/definition.ts";
import { workflowRun } from "../../../../actors/workflow/run/run.ts";
import type { ResolvedWorkflow, RunRequest } from "../../../../actors/workflow/run/start/request.ts";
import { approvalsProjection } from "../../../../src/features/approvals/projection.ts";
import { approvalRecords } from "../../../../src/features/approvals/records.ts";
import { createApprovals } from "../../../../src/features/approvals/service.ts";
import { auditFacts } from "../../../../src/features/audit/service.ts";
import { createReferences } from "../../../../src/features/references/references.ts";
import { VolumeLayout } from "../../../../src/features/volumes/layout.ts";
import { openVolumes } from "../../../../src/features/volumes/open.ts";
import { localPlaces } from "../../../../src/features/volumes/places/local/local-places.ts";
import type { Definitions } from "../../../../src/features/workflows/definitions/port.ts";
import { cleanupActivity } from "../../../../src/features/workflows/runs/activities.ts";
import { itemFacts } from "../../../../src/features/workflows/runs/items/facts.ts";
import { itemRecords } from "../../../../src/features/workflows/runs/items/records.ts";
import { mapResultsActivity } from "../../../../src/features/workflows/runs/items/results.ts";
import { itemRoutes } from "../../../../src/features/workflows/runs/items/routes.ts";
import { runLogRoutes } from "../../../../src/features/workflows/runs/log/log-routes.ts";
import { migrating } from "../../../../src/features/workflows/runs/migrating/migrating.ts";
import { migrateRoute } from "../../../../src/features/workflows/runs/migrating/route.ts";
import { runsProjection } from "../../../../src/features/workflows/runs/projection.ts";
import { createRunRecords } from "../../../../src/features/workflows/runs/records.ts";
import { runRoutes } from "../../../../src/features/workflows/runs/routes.ts";
import { createRuns, type Runs } from "../../../../src/features/workflows/runs/service.ts";
import { admissionActivity } from "../../../../src/features/workflows/runs/start/admission.ts";
import { subrunActivity } from "../../../../src/features/workflows/runs/start/subruns.ts";
import { createApp } from "../../../../src/http/app.ts";
import { listen } from "../../../../src/http/listen.ts";
import { createLogger } from "../../../../src/http/operations/log.ts";
import { EventStreams } from "../../../../src/http/streams/sse.ts";
import { believing, caller } from "../../../harness/callers.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { startTestNode } from "../../../harness/runtime/runtime.ts";
import { freshStores } from "../../../harness/stores.ts";
import { until } from "../../../harness/until.ts";
import { contextsOf } from "../../security-contexts/fixture.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: LooseJson;
}

export type Fixture = Awaited<ReturnType<typeof openFixture>>;

export async function openFixture() {
  const stores = await freshStores();
  const dataDir = mkdtempSync(join(tmpdir(), "svc-runs-"));
  const registered: ResolvedWorkflow[] = [];
  const admitted: Pick<RunRequest, "tenant" | "countedFor">[] = [];
  const refunds = { count: 0 };
  let refusal: Problem | null = null;
  const definitions: Definitions = {
    async resolve({ tenant, ref, version }) {
      const found = registered.filter(
        (one) =>
          [tenant, systemTenant].includes(one.owner) &&
          (one.name === ref || one.workflow_id === ref) &&
          (version === null || version === one.version),
      );
      const latest = found.at(-1);
      if (latest === undefined) throw new Problem("workflow_not_found", "Workflow not found");
      return latest;
    },
  };
  const records = createRunRecords(stores.sql);
  const layout = new VolumeLayout(dataDir);
  const volumes = openVolumes({
    sql: stores.sql,
    layout,
    places: localPlaces(stores.sql, layout),
    executions: records.known,
    now: Date.now,
    newId: () => Bun.randomUUIDv7(),
    recordViolation: () => {},
    terms: async (tenant) => usualTerms(tenant),
  });
  const ready = Promise.withResolvers<Runs>();
  const items = itemRecords(stores.sql);
  const node = await startTestNode(stores, {
    actors: [workflowRun, approval],
    facts: [auditFacts({ newId: () => Bun.randomUUIDv7() }), itemFacts],
    projections: [runsProjection, approvalsProjection()],
    activities: [
      cleanupActivity(volumes),
      mapResultsActivity(items),
      subrunActivity({
        runtime: { of: (definition) => node.runtime.of(definition) },
        start: async (id, request) => (await ready.promise).startAs(id, false, request),
      }),
      admissionActivity({
        runtime: { of: (definition) => node.runtime.of(definition) },
        admit: async (id, pending) => (await ready.promise).admitFollower(id, pending),
      }),
    ],
  });
  const { runtime } = node;
  const deploying = {
    contexts: contextsOf(stores.sql),
    starters: { identityOf: async () => null },
    terms: async (tenant: string) => usualTerms(tenant),
  };
  const runs = createRuns({
    runtime,
    records,
    definitions,
    volumes,
    references: createReferences(),
    ...deploying,
    now: Date.now,
    admit: async (request) => {
      if (refusal !== null) throw refusal;
      admitted.push(request);
      return {
        headers: { "RateLimit-Remaining": "7" },
        refund: async () => {
          refunds.count += 1;
        },
      };
    },
  });
  ready.resolve(runs);
  const approvals = createApprovals({
    runtime,
    records: approvalRecords(stores.sql),
    publicUrl: "http://svc.test",
    now: Date.now,
  });

  const app = createApp({
    routes: [
      ...runRoutes({ runs, approvals, sql: stores.sql, rates: async () => ({}) }),
      ...runLogRoutes({ runs, runtime, streams: new EventStreams() }),
      migrateRoute(migrating({ runtime, records, definitions, ...deploying })),
      ...itemRoutes({ runs, runtime, records: items }),
    ],
    authenticator: believing,
    logger: createLogger("silent"),
    metrics: null,
    corsOrigins: [],
  });
  const listening = listen(app, { hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listening.port}`;

  async function call(
    token: string,
    method: string,
    path: string,
    body?: Json,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...type, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
  }

  return {
    stores,
    dataDir,
    runtime,
    records,
    runs,
    volumes,
    url,
    call,
    admitted,
    refunds,
    refuse: (problem: Problem | null) => {
      refusal = problem;
    },
    caller,
    register(owner: string, definition: Definition): ResolvedWorkflow {
      const { name, version } = definition;
      const workflow_id = Bun.randomUUIDv7();
      const resolved = { workflow_id, name, version, owner, definition: { ...definition, workflow_id } };
      registered.push(resolved);
      return resolved;
    },
    /** Starts by name. @returns the id */
    async start(token: string, name: string, body: Json = {}): Promise<string> {
      const answer = await call(token, "POST", `/v1/workflows/${name}/run`, body);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return answer.body.execution_id;
    },
    record: async (token: string, id: string) => (await call(token, "GET", `/v1/workflows/executions/${id}`)).body,
    /** Waits for the end. @returns the record */
    ended: (token: string, id: string) =>
      until(
        async () => {
          const { body } = await call(token, "GET", `/v1/workflows/executions/${id}`);
          return body.ended_at === null ? null : body;
        },
        { what: "the run to end" },
      ),
    /** Waits until it waits for a person. @returns the record */
    waiting: (token: string, id: string) =>
      until(
        async () => {
          const { body } = await call(token, "GET", `/v1/workflows/executions/${id}`);
          return body.waiting_for === null ? null : body;
        },
        { what: "the run to wait" },
      ),
    async dispose() {
      await listening.stop(100);
      await node.stop();
      await stores.dispose();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
