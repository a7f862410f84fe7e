/** The routes of stimuli that were taken in; see docs/reference/stimuli.md. */
import { Type } from "@sinclair/typebox";
import { StimulusElement, StimulusRecord } from "../../../../actors/stimulus/record.ts";
import { reply } from "../../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { listSchema, pageOf } from "../../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route, type TellRates, uuidParam } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { auditedBy } from "../../audit/port.ts";
import { type History, readReason } from "./history.ts";
import { type Actor, type Replays, readReplay, replayTimeoutSeconds } from "./replay.ts";
import {
  BulkReplayBody,
  BulkReplayed,
  DeadLettersQuery,
  DiscardBody,
  ReplayBody,
  ReplayReceived,
  ReplayRouted,
  StimuliQuery,
  StimulusDetail,
} from "./schema.ts";

export interface HistoryRouteOptions {
  readonly history: History;
  readonly replays: Replays;
  readonly sql: Sql;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
  /** How a caller stands with starts of runs. */
  readonly rates: TellRates;
}

const StimulusId = Type.Object({ id: uuidParam("invalid_id", "Invalid stimulus ID") });

const actorOf = (call: Call): Actor => ({ tenant: call.tenant, identity: call.identity, by: auditedBy(call) });

export function historyRoutes({ history, replays, sql, newId, rates }: HistoryRouteOptions): readonly Route[] {
  return [...readingRoutes(history), ...changingRoutes(history, replays, sql, newId, rates)];
}

function readingRoutes(history: History): Route[] {
  const list = listSchema("stimuli", StimulusElement);
  return [
    defineRoute({
      method: "GET",
      path: "/v1/stimuli",
      summary: "The tenant's stimuli, newest first",
      scope: "stimulus:list",
      query: StimuliQuery,
      responses: { 200: list },
      handler: (call) => history.list(call.tenant, call.query, pageOf(call.query, 1)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/stimuli/dead-letters",
      summary: "Stimuli that started nothing, oldest first",
      scope: "stimulus:list",
      query: DeadLettersQuery,
      responses: { 200: list },
      handler: (call) => history.deadLetters(call.tenant, call.query, pageOf(call.query, 1)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/stimuli/:id",
      summary: "The record of a stimulus",
      scope: "stimulus:read",
      params: StimulusId,
      responses: { 200: StimulusDetail },
      refusals: ["stimulus_not_found"],
      handler: async (call) => {
        const stimulus = await history.record(call.tenant, call.params.id);
        return { ...stimulus, stimulus };
      },
    }),
  ];
}

function changingRoutes(history: History, replays: Replays, sql: Sql, newId: () => string, rates: TellRates): Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/stimuli/dead-letters/replay",
      summary: "Take in several stimuli once more, each as a new one",
      scope: "stimulus:manage",
      body: jsonBody(BulkReplayBody),
      headers: IdempotencyHeaders,
      responses: { 200: BulkReplayed },
      timeoutSeconds: replayTimeoutSeconds,
      handler: (call) =>
        idempotent(call, sql, async () => reply(200, await replays.replayMany(actorOf(call), call.body.ids)), newId),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/stimuli/:id/replay",
      summary: "Take in a stimulus once more, as a new one",
      scope: "stimulus:manage",
      rates,
      params: StimulusId,
      body: jsonBody(ReplayBody, { optional: true }),
      headers: IdempotencyHeaders,
      responses: { 200: ReplayRouted, 202: ReplayReceived },
      timeoutSeconds: replayTimeoutSeconds,
      refusals: [
        "stimulus_not_found",
        "idempotent_duplicate",
        "stimulus_in_progress",
        "stimulus_already_routed",
        "stimulus_discarded",
        "unknown_workflow",
        "no_router_configured",
        "workflow_error",
        "stimulus_service_unavailable",
        "limiter_unavailable",
      ],
      handler: (call) => {
        const request = readReplay(call.body);
        return idempotent(
          call,
          sql,
          async (stimulusId, fresh) => {
            const replayed = await replays.replayAs(stimulusId, fresh, actorOf(call), call.params.id, request);
            const { answer, replayOf: replay_of } = replayed;
            return answer.status === 200
              ? reply(200, { ...answer.body, replay_of }, answer.headers)
              : reply(202, { ...answer.body, replay_of }, answer.headers);
          },
          newId,
        );
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/stimuli/:id/discard",
      summary: "Give up a stimulus that started nothing",
      scope: "stimulus:manage",
      params: StimulusId,
      body: jsonBody(DiscardBody, { optional: true }),
      responses: { 200: StimulusRecord },
      refusals: ["stimulus_not_found", "not_a_dead_letter"],
      handler: (call) => history.discard(actorOf(call), call.params.id, readReason(call.body.reason)),
    }),
  ];
}
