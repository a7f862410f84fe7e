/** The routes of runs; see docs/reference/workflows.md. */

import { Type } from "@sinclair/typebox";
import { maxInputBytes } from "../../../../actors/execution/start/request.ts";
import { starterOf } from "../../../../actors/identity/starter.ts";
import { rateUserOf } from "../../../../actors/policy/rates/limits.ts";
import { maxBlackboardBytes } from "../../../../actors/workflow/run/blackboard/size.ts";
import { RunGraph } from "../../../../actors/workflow/run/record/graph.ts";
import { RunElement, RunRecord } from "../../../../actors/workflow/run/record/record.ts";
import { reply } from "../../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { listSchema, pageOf } from "../../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route, type TellRates, uuidParam } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Approvals } from "../../approvals/port.ts";
import { deciderOf, sourceOf } from "../../approvals/port.ts";
import { auditedBy } from "../../audit/port.ts";
import { initiatorOf, namedWorkflow, readFilter, readReason, readSignal, readStart } from "./request.ts";
import {
  CancelBody,
  CancelRequested,
  NamedStartBody,
  Removed,
  Retried,
  RetryBody,
  RunsFilter,
  SignalAnswer,
  SignalBody,
  StartBody,
  Started,
  StartHeaders,
  StartQuery,
} from "./schema.ts";
import type { Runs } from "./service.ts";
import { signals } from "./signals.ts";
import type { Begun } from "./start/starting.ts";

export interface RunRoutesOptions {
  readonly runs: Runs;
  readonly approvals: Pick<Approvals, "signal" | "lastDecision">;
  readonly sql: Sql;
  /** How a caller stands with starts of runs. */
  readonly rates: TellRates;
}

const prefix = "/v1/workflows/executions";
/** The input's bound and the blackboard's, and room for what stands around them. */
const startLimit = maxInputBytes + maxBlackboardBytes + 256 * 1024;
export const RunId = Type.Object({ id: uuidParam("invalid_execution_id", "Invalid execution ID") });
const Ref = Type.Object({ ref: Type.String({ maxLength: 200 }) });

export function runRoutes(options: RunRoutesOptions): readonly Route[] {
  return [...startRoutes(options), ...readingRoutes(options), ...changingRoutes(options)];
}

/** A start says nothing of retries. */
function startReply({ started: { retry_of: _, ...started }, headers }: Begun) {
  return reply(200, started, { ...headers, Location: `${prefix}/${started.execution_id}` });
}

function retryReply({ started, headers }: Begun, earlierId: string) {
  return reply(200, { ...started, retry_of: earlierId }, { ...headers, Location: `${prefix}/${started.execution_id}` });
}

/** Of a start, whichever path names the workflow. */
const startRefusals = [
  "quota_exceeded",
  "security_context_forbidden",
  "workflow_not_found",
  "unknown_security_context",
  "invalid_attachment",
  "invalid_volume",
  "secret_not_found",
  "secret_forbidden",
  "secrets_unavailable",
  "decryption_failed",
  "depth_exceeded",
  "too_many_descendants",
  "invalid_input",
  "invalid_blackboard",
  "reserved_blackboard_key",
  "credential_not_found",
  "credential_not_granted",
  "workflow_start_failed",
  "limiter_unavailable",
] as const;

function startRoutes({ runs, sql, rates }: RunRoutesOptions): Route[] {
  type StartCall = Call<unknown, StartQuery, StartBody>;
  const start = (call: StartCall, ref: string) => {
    const request = readStart(call, ref, call.body, call.query);
    return idempotent(
      call,
      sql,
      async (id, fresh) => startReply(await runs.beginAs(id, fresh, request, () => call.signal)),
      runs.newId,
    );
  };
  const startOf = (action: "run" | "execute") =>
    defineRoute({
      method: "POST",
      path: `/v1/workflows/:ref/${action}`,
      summary: "Start an execution of this workflow",
      scope: "workflow:run",
      rates,
      params: Ref,
      query: StartQuery,
      headers: StartHeaders,
      body: jsonBody(StartBody, { limit: startLimit, optional: true }),
      responses: { 200: Started },
      refusals: startRefusals,
      handler: (call) => start(call, call.params.ref),
    });
  return [
    startOf("run"),
    startOf("execute"),
    defineRoute({
      method: "POST",
      path: "/v1/workflows/temporal/execute",
      summary: "Start an execution of the workflow that the body names",
      scope: "workflow:run",
      rates,
      query: StartQuery,
      headers: StartHeaders,
      body: jsonBody(NamedStartBody, { limit: startLimit }),
      responses: { 200: Started },
      refusals: startRefusals,
      handler: (call) => start(call, namedWorkflow(call.body)),
    }),
    defineRoute({
      method: "POST",
      path: `${prefix}/:id/retry`,
      summary: "Start anew where a failed, cancelled or timed-out execution ended",
      scope: "workflow:run",
      rates,
      params: RunId,
      headers: StartHeaders,
      body: jsonBody(RetryBody, { optional: true }),
      responses: { 200: Retried },
      refusals: [
        "quota_exceeded",
        "workflow_execution_not_found",
        "invalid_state",
        "nothing_to_retry",
        "unknown_state",
        "secret_not_found",
        "secret_forbidden",
        "secrets_unavailable",
        "credential_not_found",
        "credential_not_granted",
        "decryption_failed",
        "workflow_start_failed",
      ],
      handler: (call) => {
        const { tenant, identity, body, params } = call;
        const fromState = body.from_state ?? null;
        const request = {
          tenant,
          fromState,
          starter: identity,
          startedBy: starterOf(identity),
          countedFor: rateUserOf(identity),
          initiatedBy: initiatorOf(identity),
        };
        return idempotent(
          call,
          sql,
          async (id, fresh) => retryReply(await runs.retryAs(id, fresh, params.id, request), params.id),
          runs.newId,
        );
      },
    }),
  ];
}

function readingRoutes({ runs }: RunRoutesOptions): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: prefix,
      summary: "The tenant's workflow executions, newest first",
      scope: "workflow:list",
      query: RunsFilter,
      responses: { 200: listSchema("executions", RunElement) },
      refusals: ["invalid_id"],
      handler: (call) => runs.list(call.tenant, readFilter(call.query), pageOf(call.query, 2)),
    }),
    defineRoute({
      method: "GET",
      path: `${prefix}/:id`,
      summary: "The record of a workflow execution",
      scope: "workflow:read",
      params: RunId,
      responses: { 200: RunRecord },
      refusals: ["workflow_execution_not_found"],
      handler: (call) => runs.record(call.tenant, call.params.id),
    }),
    defineRoute({
      method: "GET",
      path: `${prefix}/:id/graph`,
      summary: "States, the transitions taken, and when",
      scope: "workflow:read",
      params: RunId,
      responses: { 200: RunGraph },
      refusals: ["workflow_execution_not_found"],
      handler: (call) => runs.graph(call.tenant, call.params.id),
    }),
  ];
}

function changingRoutes({ runs, approvals, sql }: RunRoutesOptions): Route[] {
  const send = signals({ runs, approvals });
  const pausing = (action: "pause" | "resume", summary: string) =>
    defineRoute({
      method: "POST",
      path: `${prefix}/:id/${action}`,
      summary,
      scope: "workflow:cancel",
      params: RunId,
      responses: { 200: RunRecord },
      refusals: ["workflow_execution_not_found", "execution_already_terminal", "invalid_state"],
      handler: async (call) => runs[action](await runs.find(call.tenant, call.params.id)),
    });
  return [
    defineRoute({
      method: "DELETE",
      path: `${prefix}/:id`,
      summary: "Cancel a workflow execution if need be, and remove it with its log",
      scope: "workflow:cancel",
      params: RunId,
      responses: { 200: Removed },
      refusals: ["workflow_execution_not_found"],
      handler: async (call) => runs.erase(await runs.find(call.tenant, call.params.id), auditedBy(call)),
    }),
    defineRoute({
      method: "POST",
      path: `${prefix}/:id/signal`,
      summary: "Tell a workflow execution what it waits for: by a name, or as the answer to an approval",
      scope: "workflow:signal",
      params: RunId,
      body: jsonBody(SignalBody, { optional: true }),
      headers: IdempotencyHeaders,
      responses: { 202: SignalAnswer },
      refusals: [
        "approver_not_allowed",
        "workflow_execution_not_found",
        "execution_already_terminal",
        "approval_already_decided",
        "no_open_approval",
        "signal_buffer_full",
      ],
      handler: (call) => {
        const signal = readSignal(call.body);
        const { tenant, identity, params, request } = call;
        const isRepeatable = request.headers.has("idempotency-key");
        return idempotent(
          call,
          sql,
          async (id) => {
            const signaller = {
              by: deciderOf(identity, tenant),
              source: sourceOf(call),
              workId: isRepeatable ? id : null,
            };
            return reply(202, await send(await runs.find(tenant, params.id), signal, signaller));
          },
          runs.newId,
        );
      },
    }),
    defineRoute({
      method: "POST",
      path: `${prefix}/:id/cancel`,
      summary: "Cancel a workflow execution with everything it has under way",
      scope: "workflow:cancel",
      params: RunId,
      body: jsonBody(CancelBody, { optional: true }),
      responses: { 202: CancelRequested },
      refusals: ["workflow_execution_not_found", "execution_already_terminal"],
      handler: async (call) => {
        const reason = readReason(call.body.reason);
        return reply(202, await runs.cancel(await runs.find(call.tenant, call.params.id), reason));
      },
    }),
    pausing("pause", "Enter no further state until the execution is resumed"),
    pausing("resume", "Let a paused execution go on"),
  ];
}
