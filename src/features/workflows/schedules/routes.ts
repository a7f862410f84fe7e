/** The routes of workflows' schedules; see docs/reference/workflow-schedules.md. */
import { Type } from "@sinclair/typebox";
import { maxInputBytes } from "../../../../actors/execution/start/request.ts";
import { reply } from "../../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { defineRoute, jsonBody, type Route, type TellRates, uuidParam } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { Started, StartHeaders, startRefusals } from "../runs/schema.ts";
import { BackfillBody, Backfilled, RunBody, WorkflowSchedule, WorkflowSchedules } from "./schema.ts";
import type { ScheduleService } from "./service.ts";

export interface ScheduleRoutesOptions {
  readonly schedules: ScheduleService;
  readonly sql: Sql;
  /** How a caller stands with starts of runs. */
  readonly rates: TellRates;
  /** The id of a new run. */
  readonly newRunId: () => string;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

const ref = Type.String({ maxLength: 200 });
const prefix = "/v1/workflows/:ref/schedules";
const params = Type.Object({ ref, id: uuidParam() });
const unknown = ["workflow_not_found", "schedule_not_found"] as const;

export function scheduleRoutes({ schedules, sql, rates, newRunId, newId }: ScheduleRoutesOptions): readonly Route[] {
  const setPaused = (action: "pause" | "resume") =>
    defineRoute({
      method: "POST",
      path: `${prefix}/:id/${action}`,
      summary: action === "pause" ? "Start nothing more by this schedule" : "Start runs by this schedule again",
      scope: "workflow:deploy",
      params,
      responses: { 200: WorkflowSchedule },
      refusals: [...unknown, "global_scope_forbidden"],
      handler: (call) => schedules.setPaused(call, call.params, action === "pause"),
    });
  return [
    defineRoute({
      method: "GET",
      path: prefix,
      summary: "The schedules of a workflow's latest version",
      scope: "workflow:read",
      params: Type.Object({ ref }),
      responses: { 200: WorkflowSchedules },
      refusals: ["workflow_not_found"],
      handler: (call) => schedules.list(call.tenant, call.params.ref),
    }),
    defineRoute({
      method: "GET",
      path: `${prefix}/:id`,
      summary: "One schedule of a workflow",
      scope: "workflow:read",
      params,
      responses: { 200: WorkflowSchedule },
      refusals: unknown,
      handler: (call) => schedules.detail(call.tenant, call.params),
    }),
    setPaused("pause"),
    setPaused("resume"),
    defineRoute({
      method: "POST",
      path: `${prefix}/:id/run`,
      summary: "Start a run of a schedule now",
      scope: "workflow:run",
      rates,
      params,
      headers: StartHeaders,
      body: jsonBody(RunBody, { limit: maxInputBytes + 64 * 1024, optional: true }),
      responses: { 200: Started },
      refusals: [...startRefusals, "schedule_not_found"],
      handler: (call) =>
        idempotent(
          call,
          sql,
          async (id, fresh) => {
            const { started, headers } = await schedules.run(call, call.params, call.body.input, id, fresh);
            const { retry_of: _, forked_from: __, ...body } = started;
            return reply(200, body, { ...headers, Location: `/v1/workflows/executions/${body.execution_id}` });
          },
          newRunId,
        ),
    }),
    defineRoute({
      method: "POST",
      path: `${prefix}/:id/backfill`,
      summary: "Start runs for a schedule's times of a span",
      scope: "workflow:run",
      params,
      headers: IdempotencyHeaders,
      body: jsonBody(BackfillBody),
      responses: { 200: Backfilled },
      refusals: unknown,
      handler: (call) =>
        idempotent(
          call,
          sql,
          async (id) => reply(200, await schedules.backfill(call, call.params, call.body, id)),
          newId,
        ),
    }),
  ];
}
