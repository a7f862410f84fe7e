/** The route that begins a run at a visit of an earlier one; see docs/reference/workflow-changes.md. */
import { Type } from "@sinclair/typebox";
import { starterOf } from "../../../../../actors/identity/starter.ts";
import { rateUserOf } from "../../../../../actors/policy/rates/limits.ts";
import { maxBlackboardBytes } from "../../../../../actors/workflow/run/blackboard/size.ts";
import { reply } from "../../../../http/answer.ts";
import { idempotent } from "../../../../http/idempotency.ts";
import { defineRoute, jsonBody, type Route, type TellRates, uuidParam } from "../../../../http/route.ts";
import type { Sql } from "../../../../store/postgres/pool.ts";
import { initiatorOf } from "../request.ts";
import { ForkBody, Forked, StartHeaders } from "../schema.ts";
import type { Runs } from "../service.ts";

export interface ForkRouteOptions {
  readonly runs: Pick<Runs, "forkAs" | "newId">;
  readonly sql: Sql;
  /** How a caller stands with starts of runs. */
  readonly rates: TellRates;
}

const prefix = "/v1/workflows/executions";

export function forkRoute({ runs, sql, rates }: ForkRouteOptions): Route {
  return defineRoute({
    method: "POST",
    path: `${prefix}/:id/fork`,
    summary: "Start at a visit of an execution, with the blackboard as it was then",
    scope: "workflow:run",
    rates,
    params: Type.Object({ id: uuidParam("invalid_execution_id", "Invalid execution ID") }),
    headers: StartHeaders,
    body: jsonBody(ForkBody, { limit: maxBlackboardBytes + 256 * 1024 }),
    responses: { 200: Forked },
    refusals: [
      "quota_exceeded",
      "security_context_forbidden",
      "workflow_execution_not_found",
      "not_recorded",
      "unknown_state",
      "invalid_blackboard",
      "reserved_blackboard_key",
      "invalid_volume",
      "secret_not_found",
      "secret_forbidden",
      "secrets_unavailable",
      "credential_not_found",
      "credential_not_granted",
      "decryption_failed",
      "workflow_start_failed",
      "limiter_unavailable",
    ],
    handler: (call) => {
      const { tenant, identity, body, params } = call;
      const request = {
        tenant,
        fromState: body.from_state,
        fromVisit: body.from_visit ?? null,
        patch: body.blackboard_patch ?? null,
        starter: identity,
        startedBy: starterOf(identity),
        countedFor: rateUserOf(identity),
        initiatedBy: initiatorOf(identity),
      };
      return idempotent(
        call,
        sql,
        async (id, fresh) => {
          const { started, headers } = await runs.forkAs(id, fresh, params.id, request);
          const { retry_of: _, ...forked } = started;
          const location = `${prefix}/${forked.execution_id}`;
          return reply(200, { ...forked, forked_from: params.id }, { ...headers, Location: location });
        },
        runs.newId,
      );
    },
  });
}
