/** The routes of executions. */

import { Type } from "@sinclair/typebox";
import { execution } from "../../../actors/execution/execution.ts";
import { IterationRecord } from "../../../actors/execution/record/iteration-record.ts";
import { ExecutionElement, ExecutionRecord } from "../../../actors/execution/record/record.ts";
import { ExecutionEvent } from "../../../actors/execution/record/wire-events.ts";
import { maxInputBytes, type StartRequest } from "../../../actors/execution/start/request.ts";
import { isOver } from "../../../actors/execution/state.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { eventStream, reply } from "../../http/answer.ts";
import { idempotent } from "../../http/idempotency.ts";
import { listSchema, pageOf } from "../../http/paging.ts";
import { preferredWait } from "../../http/preferences.ts";
import { type Call, defineRoute, jsonBody, type Route, type TellRates, uuidParam } from "../../http/route.ts";
import { resumePoint } from "../../http/streams/log-stream.ts";
import type { EventStreams } from "../../http/streams/sse.ts";
import type { Runtime } from "../../runtime/port.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { auditedBy } from "../audit/port.ts";
import {
  CancelBody,
  Cancelled,
  Deleted,
  ExecutionFilter,
  maxOverridesBytes,
  maxWaitSeconds,
  NamedStartBody,
  RecordQuery,
  Retried,
  RetryBody,
  StartBody,
  Started,
  StartHeaders,
  StartQuery,
  StreamQuery,
} from "./schema.ts";
import type { Executions } from "./service.ts";
import { agentIdOf, readRetry, readStart } from "./start/request.ts";
import { streamExecution } from "./stream.ts";

export interface ExecutionRoutesOptions {
  readonly executions: Executions;
  readonly streams: EventStreams;
  readonly runtime: Pick<Runtime, "of">;
  readonly sql: Sql;
  /** How a caller stands with starts. */
  readonly rates: TellRates;
}

/** The input's bound, and room for what stands around it. */
const startLimit = { limit: maxInputBytes + maxOverridesBytes + 128 * 1024 };
const startBody = jsonBody(StartBody, startLimit);
const namedStartBody = jsonBody(NamedStartBody, startLimit);
const ExecutionId = Type.Object({ id: uuidParam("invalid_execution_id", "Invalid execution ID") });
const IterationId = Type.Object({
  id: uuidParam("invalid_execution_id", "Invalid execution ID"),
  number: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
});
const IterationList = Type.Object({ items: Type.Array(IterationRecord), count: Type.Integer() });
/** Of a start, whichever path names the agent. */
const startRefusals = [
  "quota_exceeded",
  "security_context_forbidden",
  "agent_not_found",
  "agent_version_not_found",
  "agent_paused",
  "agent_archived",
  "open_egress_forbidden",
  "input_validation_failed",
  "unknown_model_alias",
  "unknown_tool",
  "runtime_unavailable",
  "unknown_security_context",
  "invalid_attachment",
  "attachments_not_declared",
  "invalid_volume",
  "image_not_allowed",
  "volume_type_forbidden",
  "judge_not_found",
  "secret_not_found",
  "secret_forbidden",
  "credential_not_found",
  "credential_not_granted",
  "secrets_unavailable",
  "decryption_failed",
  "reserved_override_key",
  "template_error",
  "depth_exceeded",
  "execution_start_failed",
  "limiter_unavailable",
] as const;
/** Seconds to answer in beyond what a caller asks to wait. */
const margin = 30;

export function executionRoutes({
  executions,
  streams,
  runtime,
  sql,
  rates,
}: ExecutionRoutesOptions): readonly Route[] {
  type StartCall = Call<unknown, typeof StartQuery.static, typeof StartBody.static>;

  const start = (call: StartCall, agentId: string) => {
    const { body, query } = call;
    const request = readStart(call, agentId, body, query);
    return begin(
      call,
      query.wait_seconds ?? body.wait_seconds,
      async () => request,
      (started) => started,
    );
  };

  /**
   * @param named  seconds that the request asks to wait for the end
   * @param answer shapes the answer that is sent, and kept for a repeat
   */
  async function begin<Answer>(
    call: Call,
    named: number | null = null,
    request: () => Promise<StartRequest>,
    answer: (started: Started) => Answer,
  ) {
    const { tenant, signal } = call;
    const preferred = named === null ? preferredWait(call.request.headers, maxWaitSeconds) : null;
    const seconds = named ?? preferred ?? 0;
    const preference: Record<string, string> = preferred === null ? {} : { "Preference-Applied": `wait=${preferred}` };
    return idempotent(
      call,
      sql,
      async (executionId, fresh) => {
        const asked = await request();
        const { started, headers: standing } = await executions.beginAs(executionId, fresh, asked, () => call.signal);
        const headers = { ...preference, ...standing };
        if (seconds === 0) return reply(200, answer(started), headers);
        const settled = await executions.settled(started, tenant, seconds, signal);
        // The caller is gone; the answer that is kept for a repeat must not be one of a moment in between.
        return reply(200, answer(signal.aborted ? started : settled), headers);
      },
      executions.newId,
    );
  }

  type RetryCall = Call<{ readonly id: string }, typeof StartQuery.static, typeof RetryBody.static>;

  function retry(call: RetryCall) {
    const { tenant, params, body, query } = call;
    const request = async () => {
      const found = await executions.find(tenant, params.id);
      return readRetry(
        call,
        { id: found.at.key, state: found.state, plan: await executions.planOf(found) },
        body,
        query,
      );
    };
    return begin(call, query.wait_seconds, request, (started) => ({ ...started, retry_of: params.id }));
  }

  const stream = (path: string) =>
    defineRoute({
      method: "GET",
      path,
      summary: "The execution's events, stored ones first, then live ones",
      scope: "execution:stream",
      sse: true,
      params: ExecutionId,
      query: StreamQuery,
      responses: { 200: eventStream(ExecutionEvent) },
      refusals: ["execution_not_found"],
      handler: async (call) => {
        const { query, request, identity, tenant } = call;
        const { at, state } = await executions.find(tenant, call.params.id);
        const names = query.events?.split(",").map((name) => name.trim()) ?? null;
        const options = {
          after: resumePoint(request.headers.get("last-event-id")) ?? query.from ?? 0,
          follow: query.follow && !isOver(state),
          names: names === null ? null : new Set(names),
          prompts: query.verbose && identity.scopes.has("execution:logs"),
          flat: query.format === "flat",
        };
        return streams.open(call, tenant, (stream) =>
          streamExecution(runtime.of(execution).at(at.tenant, at.key), options, stream),
        );
      },
    });

  return [
    defineRoute({
      method: "POST",
      path: "/v1/executions",
      summary: "Start an execution of an agent",
      scope: "agent:execute",
      rates,
      query: StartQuery,
      headers: StartHeaders,
      body: namedStartBody,
      responses: { 200: Started },
      timeoutSeconds: maxWaitSeconds + margin,
      refusals: [...startRefusals, "invalid_agent_id"],
      handler: (call) => start(call, agentIdOf(call.body)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/agents/:id/execute",
      summary: "Start an execution of this agent",
      scope: "agent:execute",
      rates,
      params: Type.Object({ id: uuidParam("invalid_agent_id", "Invalid agent ID") }),
      query: StartQuery,
      headers: StartHeaders,
      body: startBody,
      responses: { 200: Started },
      timeoutSeconds: maxWaitSeconds + margin,
      refusals: startRefusals,
      handler: (call) => start(call, call.params.id),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/executions",
      summary: "The tenant's executions, newest first",
      scope: "execution:list",
      query: ExecutionFilter,
      responses: { 200: listSchema("executions", ExecutionElement) },
      handler: (call) => executions.list(call.tenant, call.query, pageOf(call.query, 2)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/executions/:id",
      summary: "The record of an execution",
      scope: "execution:read",
      params: ExecutionId,
      query: RecordQuery,
      responses: { 200: ExecutionRecord },
      timeoutSeconds: maxWaitSeconds + margin,
      refusals: ["execution_not_found"],
      handler: async (call) => {
        const found = await executions.find(call.tenant, call.params.id);
        return executions.record(found, includesPrompts(call), call.query.wait_seconds ?? 0, call.signal);
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/executions/:id/iterations",
      summary: "The iterations of an execution",
      scope: "execution:read",
      params: ExecutionId,
      query: RecordQuery,
      responses: { 200: IterationList },
      refusals: ["execution_not_found"],
      handler: async (call) => {
        const found = await executions.find(call.tenant, call.params.id);
        const items = await executions.iterations(found, includesPrompts(call));
        return { items, count: items.length };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/executions/:id/iterations/:number",
      summary: "One iteration of an execution",
      scope: "execution:read",
      params: IterationId,
      query: RecordQuery,
      responses: { 200: IterationRecord },
      refusals: ["execution_not_found", "iteration_not_found"],
      handler: async (call) => {
        const found = await executions.find(call.tenant, call.params.id);
        const iterations = await executions.iterations(found, includesPrompts(call));
        const iteration = iterations.find(({ number }) => number === call.params.number);
        if (!iteration) throw new Problem("iteration_not_found", "Iteration not found");
        return iteration;
      },
    }),
    stream("/v1/executions/:id/stream"),
    stream("/v1/executions/:id/events"),
    defineRoute({
      method: "POST",
      path: "/v1/executions/:id/cancel",
      summary: "Cancel an execution",
      scope: "execution:cancel",
      params: ExecutionId,
      body: jsonBody(CancelBody, { optional: true }),
      responses: { 200: Cancelled },
      refusals: ["execution_not_found", "execution_already_terminal"],
      handler: async (call) => {
        const found = await executions.find(call.tenant, call.params.id);
        return executions.cancel(found, call.body.reason ?? null);
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/executions/:id/retry",
      summary: "Start an execution that has ended once more, as a new one",
      scope: "agent:execute",
      rates,
      params: ExecutionId,
      query: StartQuery,
      headers: StartHeaders,
      body: jsonBody(RetryBody, { optional: true, limit: maxInputBytes + 128 * 1024 }),
      responses: { 200: Retried },
      timeoutSeconds: maxWaitSeconds + margin,
      refusals: [...startRefusals, "execution_not_found", "invalid_state"],
      handler: retry,
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/executions/:id",
      summary: "Cancel an execution if need be, and remove it with its events and files",
      scope: "execution:remove",
      params: ExecutionId,
      responses: { 200: Deleted },
      refusals: ["execution_not_found"],
      handler: async (call) => executions.erase(await executions.find(call.tenant, call.params.id), auditedBy(call)),
    }),
  ];
}

/** Prompts and responses are shown to who asks for them and may see them; to others they are null. */
function includesPrompts({ query, identity }: Call<unknown, typeof RecordQuery.static>): boolean {
  const isRequested = query.include?.split(",").some((part) => part.trim() === "llm") ?? false;
  return isRequested && identity.scopes.has("execution:logs");
}
