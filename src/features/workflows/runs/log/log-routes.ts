/** The routes of a run's log. */
import { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import { isOver } from "../../../../../actors/workflow/run/state.ts";
import { eventStream } from "../../../../http/answer.ts";
import { defineRoute, type Route } from "../../../../http/route.ts";
import { resumePoint } from "../../../../http/streams/log-stream.ts";
import type { EventStreams } from "../../../../http/streams/sse.ts";
import type { Runtime } from "../../../../runtime/port.ts";
import { RunId } from "../routes.ts";
import { LogPage, LogQuery, LogStreamQuery } from "../schema.ts";
import type { Runs } from "../service.ts";
import { streamRun, WireEvent } from "./log.ts";

export interface RunLogRoutesOptions {
  readonly runs: Pick<Runs, "find" | "logs">;
  readonly streams: EventStreams;
  readonly runtime: Pick<Runtime, "of">;
}

const ofRun = "/v1/workflows/executions/:id";

export function runLogRoutes({ runs, streams, runtime }: RunLogRoutesOptions): readonly Route[] {
  const stream = (path: string) =>
    defineRoute({
      method: "GET",
      path,
      summary: "The execution's log, stored events first, then live ones",
      scope: { anyOf: ["workflow:logs", "workflow:read"] },
      sse: true,
      params: RunId,
      query: LogStreamQuery,
      responses: { 200: eventStream(WireEvent) },
      refusals: ["workflow_execution_not_found"],
      handler: async (call) => {
        const { query, request, tenant, params } = call;
        const { at, state } = await runs.find(tenant, params.id);
        const options = {
          after: resumePoint(request.headers.get("last-event-id")) ?? query.from ?? 0,
          follow: query.follow && !isOver(state),
        };
        const run = { executionId: params.id, header: state.header };
        return streams.open(call, tenant, (opened) =>
          streamRun(runtime.of(workflowRun).at(at.tenant, at.key), run, options, opened),
        );
      },
    });
  return [
    defineRoute({
      method: "GET",
      path: `${ofRun}/logs`,
      summary: "A page of the execution's log, oldest first",
      scope: "workflow:read",
      params: RunId,
      query: LogQuery,
      responses: { 200: LogPage },
      refusals: ["workflow_execution_not_found"],
      handler: async ({ tenant, params, query }) =>
        runs.logs(await runs.find(tenant, params.id), query.limit, query.offset),
    }),
    stream(`${ofRun}/logs/stream`),
    stream(`${ofRun}/stream`),
    stream(`${ofRun}/events`),
  ];
}
