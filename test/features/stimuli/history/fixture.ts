/** The routes of past stimuli over real stores; how a replay is routed is what a test says. */

import { Problem, type ProblemCode } from "../../../../actors/kernel/problem.ts";
import { failedStatusOf } from "../../../../actors/stimulus/statuses.ts";
import type { Arrival, ClassificationDetail, Settlement } from "../../../../actors/stimulus/stimulus.ts";
import type { Audit } from "../../../../src/features/audit/port.ts";
import { createAudit } from "../../../../src/features/audit/service.ts";
import { createHistory } from "../../../../src/features/stimuli/history/history.ts";
import { historyRecords } from "../../../../src/features/stimuli/history/records.ts";
import { createReplays } from "../../../../src/features/stimuli/history/replay.ts";
import { historyRoutes } from "../../../../src/features/stimuli/history/routes.ts";
import { createAcceptance } from "../../../../src/features/stimuli/intake/acceptance.ts";
import type { Intake } from "../../../../src/features/stimuli/intake/intake.ts";
import { stimulusRecords } from "../../../../src/features/stimuli/intake/records.ts";
import { createApp } from "../../../../src/http/app.ts";
import { createLogger } from "../../../../src/http/operations/log.ts";
import { emptyAudit } from "../../../harness/audit.ts";
import { believing } from "../../../harness/callers.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { freshStores } from "../../../harness/stores.ts";
import { type GivenRow, putRow } from "../rows.ts";

const detail: ClassificationDetail = {
  routing_mode: "deterministic",
  workflow_id: null,
  workflow_name: "on-push",
  confidence: 1,
  threshold: null,
  reasoning: null,
  router_agent_id: null,
  router_execution_id: null,
};

/** What routing comes to: null is a run, a text the code of a failure. */
export type Outcome = string | null;

export async function openFixture() {
  const stores = await freshStores();
  const { sql } = stores;
  const records = stimulusRecords(sql, Date.now);
  const newId = () => Bun.randomUUIDv7();
  const acceptance = createAcceptance({ sql, now: Date.now, newId, newRunId: newId });
  const arrivals: Arrival[] = [];
  const reports: string[] = [];
  let outcome: () => Outcome | Promise<Outcome> = () => null;
  let auditWorks = true;

  const intake: Intake = async (arrival, { force, id } = { force: false, id: null }) => {
    arrivals.push(arrival);
    const first = await acceptance.accept(arrival, { id });
    if ("duplicateOf" in first && !force) throw new Problem("idempotent_duplicate", "This key was already processed");
    const stored = "accepted" in first ? first : await acceptance.accept(arrival, { claims: false, id });
    if (!("accepted" in stored)) throw new Error("nothing is claimed");
    const { accepted } = stored;
    const code = await outcome();
    const settlement =
      code === null
        ? { status: "classified", started: {}, detail }
        : { status: failedStatusOf(code), code, message: "why", extras: {}, detail: null };
    await records.settle(accepted, settlement as Settlement);
    if (code !== null) throw new Problem(code as ProblemCode, "why", { stimulus_id: accepted.id });
    return {
      status: 200,
      body: {
        stimulus_id: accepted.id,
        workflow_execution_id: accepted.executionId,
        status: "classified",
        workflow_id: accepted.executionId,
        workflow_name: "flow",
        routing_mode: "deterministic",
        confidence: 1,
        taken_by: [],
      },
      headers: { Location: `/v1/workflows/executions/${accepted.executionId}` },
    };
  };

  const writing = createAudit({ now: Date.now, newId });
  const audit: Audit = {
    ...writing,
    append: (...entry) => (auditWorks ? writing.append(...entry) : Promise.reject(new Error("the log is full"))),
  };
  const report = (event: string) => void reports.push(event);
  const parts = { sql, records: historyRecords(sql), audit, report, now: Date.now };
  const history = createHistory(parts);
  const replays = createReplays({
    concluded: async () => {},
    ...parts,
    intake,
    sources: { sourceOf: async () => null },
  });
  const app = createApp({
    routes: historyRoutes({ history, replays, sql, newId: Bun.randomUUIDv7, rates: async () => ({}) }),
    authenticator: believing,
    logger: createLogger("silent"),
    metrics: null,
    corsOrigins: [],
  });

  return {
    sql,
    /** What was handed to the intake, in order. */
    arrivals,
    reports,
    route(next: () => Outcome | Promise<Outcome>) {
      outcome = next;
    },
    breakAudit(broken: boolean) {
      auditWorks = !broken;
    },
    put: (given: GivenRow = {}) => putRow(sql, given),
    dead: (given: GivenRow = {}) =>
      putRow(sql, { status: "rejected", dead_letter: true, error_code: "no_router_configured", ...given }),
    async audited(): Promise<{ action: string; target_id: string; details: Record<string, unknown> }[]> {
      return sql`select action, target_id, details from audit_entries order by id`;
    },
    async call(
      token: string,
      method: string,
      path: string,
      body?: object | string,
      headers: Readonly<Record<string, string>> = {},
    ) {
      const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
      const response = await app.handle(
        new Request(`http://svc.test${path}`, {
          method,
          headers: {
            ...headers,
            authorization: `Bearer ${token}`,
            ...(text === undefined
              ? {}
              : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
          },
          ...(text === undefined ? {} : { body: text }),
        }),
      );
      return { status: response.status, headers: response.headers, body: (await response.json()) as LooseJson };
    },
    async reset() {
      await sql`truncate stimuli, stimulus_keys, workflow_runs, idempotency_keys`;
      await emptyAudit(sql);
      arrivals.length = 0;
      reports.length = 0;
      outcome = () => null;
      auditWorks = true;
    },
    dispose: () => stores.dispose(),
  };
}

export type Fixture = Awaited<ReturnType<typeof openFixture>>;
