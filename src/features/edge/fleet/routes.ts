/** The routes of fleet runs; see docs/reference/edge-fleet.md. */
import { Type } from "@sinclair/typebox";
import { eventStream, JsonText, media, reply } from "../../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { listSchema, pageOf } from "../../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route } from "../../../http/route.ts";
import { resumePoint } from "../../../http/streams/log-stream.ts";
import type { EventStreams, StreamFormat } from "../../../http/streams/sse.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { callerOf, type FleetCaller } from "./asking/caller.ts";
import type { FleetReading } from "./reading.ts";
import {
  Accepted,
  CancelBody,
  CancelledRun,
  FleetPreview,
  FleetRun,
  FleetRunDetail,
  FleetSettings,
  FleetSettingsChange,
  InvokeBody,
  PreviewBody,
  RetryBody,
  RunId,
  RunQuery,
  RunStanding,
  RunsQuery,
  StreamHeaders,
  StreamQuery,
} from "./schema.ts";
import type { Begun, Fleet } from "./service.ts";
import type { Settings } from "./settings.ts";
import { FleetRunEvent } from "./stream/event-schema.ts";
import { answerFor, type WriteRun } from "./stream/streaming.ts";

export interface FleetRoutesOptions {
  readonly sql: Sql;
  readonly fleet: Fleet;
  readonly reading: FleetReading;
  readonly settings: Settings;
  readonly streams: EventStreams;
  readonly write: WriteRun;
  /** An id for a run that this node would own. */
  readonly newId: () => string;
}

const base = "/v1/edge/fleet";
const reads = { scope: "aegis.edge.fleet.read" } as const;
const manages = { scope: "aegis.edge.fleet.manage" } as const;
/** Hosts by the thousand are named in a body of this size. */
const bodyLimit = 1024 * 1024;

const streamed = Type.Union([eventStream(FleetRunEvent), media("application/x-ndjson")]);
const startRefusals = [
  "agent_runs_denied",
  "policy_violation",
  "host_not_found",
  "group_not_found",
  "dispatch_disabled",
  "body_too_large",
  "unknown_tool",
  "quota_exceeded",
] as const;

export function fleetRoutes({
  sql,
  fleet,
  reading,
  settings,
  streams,
  write,
  newId,
}: FleetRoutesOptions): readonly Route[] {
  const streamOf = (id: string): string => `${base}/runs/${id}/stream`;

  function open(call: Call, id: string, format: StreamFormat, from: number): Promise<Response> {
    const headers = { "X-Svc-Fleet-Command-Id": id };
    return streams.open(call, call.tenant, (stream) => write(call.tenant, id, from, stream), { format, headers });
  }

  /** Begins a run, and answers as the caller likes it. A repeat gets the run from its first event on. */
  async function begun(call: Call, start: (caller: FleetCaller, id: string) => Promise<Begun>) {
    const accepted = await idempotent(
      call,
      sql,
      async (id) => {
        const { fleet_command_id, status, targets_resolved, targets_skipped } = await start(callerOf(call), id);
        const body = { fleet_command_id, status, targets_resolved, targets_skipped, stream_url: streamOf(id) };
        return reply(202, body, { "X-Svc-Fleet-Command-Id": fleet_command_id });
      },
      newId,
    );
    const format = answerFor(call.request.headers.get("accept"));
    if (format === "accepted") return accepted;
    // What is kept under the key is the text of such a body.
    const { body } = accepted as { readonly body: Accepted | JsonText<Accepted> };
    const { fleet_command_id } = body instanceof JsonText ? (JSON.parse(body.text) as Accepted) : body;
    return open(call, fleet_command_id, format, 0);
  }

  const verb = (name: string): readonly string[] => [`${base}/:id/${name}`, `${base}/runs/:id/${name}`];
  const one = { params: RunId, refusals: ["fleet_run_not_found"] } as const;

  return [
    defineRoute({
      method: "GET",
      path: "/v1/edge/settings",
      summary: "What the tenant has settled about fleet runs",
      ...reads,
      responses: { 200: FleetSettings },
      handler: ({ tenant }) => settings.read(tenant),
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/edge/settings",
      summary: "Change settings of fleet runs; what is absent stays",
      ...manages,
      body: jsonBody(FleetSettingsChange),
      responses: { 200: FleetSettings },
      refusals: ["admin_required"],
      handler: (call) => settings.change(call, call.body),
    }),
    defineRoute({
      method: "POST",
      path: `${base}/preview`,
      summary: "Which hosts a target means now, and in which order they would run; nothing is stored",
      ...reads,
      body: jsonBody(PreviewBody, { limit: bodyLimit }),
      responses: { 200: FleetPreview },
      refusals: ["host_not_found", "group_not_found"],
      handler: (call) => fleet.preview(callerOf(call), call.body),
    }),
    defineRoute({
      method: "POST",
      path: `${base}/invoke`,
      summary: "Run a tool on many hosts; the answer is its events, or its id",
      ...manages,
      body: jsonBody(InvokeBody, { limit: bodyLimit }),
      headers: IdempotencyHeaders,
      responses: { 200: streamed, 202: Accepted },
      refusals: startRefusals,
      handler: (call) => begun(call, (caller, id) => fleet.invoke(caller, id, call.body)),
    }),
    ...verb("retry").map((path) =>
      defineRoute({
        method: "POST",
        path,
        summary: "Run the hosts of an ended run again that failed, or ended as named",
        ...manages,
        params: RunId,
        body: jsonBody(RetryBody, { optional: true }),
        headers: IdempotencyHeaders,
        responses: { 200: streamed, 202: Accepted },
        refusals: [...startRefusals, "fleet_run_not_found", "invalid_state", "nothing_to_retry"],
        handler: (call) => begun(call, (caller, id) => fleet.retry(caller, id, call.params.id, call.body)),
      }),
    ),
    ...verb("cancel").map((path) =>
      defineRoute({
        method: "POST",
        path,
        summary: "Cancel a run: what was sent is cancelled, the rest is not started",
        ...manages,
        ...one,
        body: jsonBody(CancelBody, { optional: true }),
        responses: { 200: CancelledRun },
        handler: async (call) => ({
          fleet_command_id: call.params.id,
          ...(await fleet.cancel(callerOf(call), call.params.id, call.body.reason ?? null)),
        }),
      }),
    ),
    ...(["pause", "resume"] as const).flatMap((name) =>
      verb(name).map((path) =>
        defineRoute({
          method: "POST",
          path,
          summary:
            name === "pause" ? "Start nothing new of a run" : "Go on with a run that a person or its canary paused",
          ...manages,
          params: RunId,
          refusals: [
            "fleet_run_not_found",
            "invalid_state",
            ...(name === "resume" ? (["dispatch_disabled"] as const) : []),
          ],
          responses: { 200: RunStanding },
          handler: async (call) => ({
            fleet_command_id: call.params.id,
            ...(await fleet[name](callerOf(call), call.params.id)),
          }),
        }),
      ),
    ),
    defineRoute({
      method: "GET",
      path: `${base}/runs`,
      summary: "The tenant's runs, the newest first",
      ...reads,
      query: RunsQuery,
      responses: { 200: listSchema("runs", FleetRun) },
      handler: ({ tenant, query }) => {
        const { tool = null, outcome = null, status = null } = query;
        return reading.list(tenant, { tool, outcome, status }, pageOf(query, 2));
      },
    }),
    defineRoute({
      method: "GET",
      path: `${base}/runs/:id`,
      summary: "One run with what became of each of its hosts",
      ...reads,
      ...one,
      query: RunQuery,
      responses: { 200: FleetRunDetail },
      handler: ({ tenant, params, query }) =>
        reading.one(tenant, params.id, query.node_status ?? null, pageOf(query, 1)),
    }),
    ...["stream", "events"].map((name) =>
      defineRoute({
        method: "GET",
        path: `${base}/runs/:id/${name}`,
        summary: "A run's events, stored ones first, then live ones",
        ...reads,
        sse: true,
        ...one,
        query: StreamQuery,
        headers: StreamHeaders,
        responses: { 200: streamed },
        handler: async (call) => {
          const { request, tenant, params, query } = call;
          await fleet.requireRun(tenant, params.id);
          const format = answerFor(request.headers.get("accept"));
          const from = resumePoint(request.headers.get("last-event-id")) ?? query.from ?? 0;
          return open(call, params.id, format === "accepted" ? "sse" : format, from);
        },
      }),
    ),
  ];
}
