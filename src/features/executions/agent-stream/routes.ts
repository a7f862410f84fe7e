/** An agent's events as a stream: its own, and those of its executions in the caller's tenant. */
import { Type } from "@sinclair/typebox";
import { eventName, isTerminal } from "../../../../actors/execution/events.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { eventStream } from "../../../http/answer.ts";
import { defineRoute, type Route, uuidParam } from "../../../http/route.ts";
import { resumePoint } from "../../../http/streams/log-stream.ts";
import type { EventStream, EventStreams } from "../../../http/streams/sse.ts";
import type { LogEntry } from "../../../runtime/port.ts";
import { AgentStreamEvent, StreamQuery } from "../schema.ts";
import { eventText, type StreamOptions } from "../stream.ts";
import type { AgentFeeds, Feed } from "./feeds.ts";
import type { StreamKey } from "./numbering.ts";

const AgentStreamQuery = Type.Composite([
  StreamQuery,
  Type.Object({
    backlog: Type.Integer({
      minimum: 0,
      maximum: 1000,
      default: 200,
      description: "How many of the latest events come first, where nothing says what to resume from",
    }),
  }),
]);
const AgentId = Type.Object({ id: uuidParam("invalid_agent_id", "Invalid agent ID") });

export interface AgentStreamOptions {
  readonly feeds: AgentFeeds;
  readonly isVisible: (tenant: string, agentId: string) => Promise<boolean>;
  readonly streams: EventStreams;
}

export function agentStreamRoutes({ feeds, isVisible, streams }: AgentStreamOptions): readonly Route[] {
  const stream = (path: string) =>
    defineRoute({
      method: "GET",
      path,
      summary:
        "The events of an agent and of its executions, stored ones first, then live ones; erased executions leave gaps",
      scope: "agent:logs",
      sse: true,
      params: AgentId,
      query: AgentStreamQuery,
      responses: { 200: eventStream(AgentStreamEvent) },
      refusals: ["agent_not_found"],
      handler: async (call) => {
        const { query, request, identity, tenant } = call;
        const key = { tenant, agentId: call.params.id.toLowerCase() };
        if (!(await isVisible(tenant, key.agentId))) throw new Problem("agent_not_found", "Agent not found");
        const names = query.events?.split(",").map((name) => name.trim()) ?? null;
        const options = {
          follow: query.follow,
          names: names === null ? null : new Set(names),
          prompts: query.verbose && identity.scopes.has("execution:logs"),
          flat: query.format === "flat",
        };
        const resume = resumePoint(request.headers.get("last-event-id")) ?? query.from ?? null;
        return streams.open(call, tenant, async (stream) => {
          const last = await feeds.settle(key);
          const after = resume ?? Math.max(0, last - query.backlog);
          await streamAgent(feeds, key, { ...options, after }, stream);
        });
      },
    });
  return [stream("/v1/agents/:id/events"), stream("/v1/agents/:id/stream")];
}

/** Writes events until the agent is removed, the backlog is through, or the reader leaves. */
async function streamAgent(
  feeds: AgentFeeds,
  key: StreamKey,
  options: StreamOptions,
  stream: EventStream,
): Promise<void> {
  if (!options.follow) {
    await sendAll((after) => feeds.read(key, after), options.after, options, stream);
    stream.end();
    return;
  }
  const signal = new Signal();
  const { feed, leave } = feeds.follow(key, () => signal.set());
  stream.onClose = () => {
    leave();
    signal.set();
  };
  if (stream.closed) return leave();
  stream.comment("open");
  await followFeed(feeds, feed, options, stream, signal);
}

async function followFeed(
  feeds: AgentFeeds,
  feed: Feed,
  options: StreamOptions,
  stream: EventStream,
  signal: Signal,
): Promise<void> {
  let { after } = options;
  while (!stream.closed) {
    // Events that are numbered from here on wake it again.
    signal.reset();
    const { isOver } = feed;
    after = await sendAll((at) => feeds.readShared(feed, at), after, options, stream);
    if (isOver) stream.end();
    if (!stream.closed) await signal.wait();
  }
}

/** @returns the id of the last event looked at */
async function sendAll(
  read: (after: number) => ReturnType<AgentFeeds["read"]>,
  from: number,
  options: StreamOptions,
  stream: EventStream,
): Promise<number> {
  for (let after = from; ; ) {
    const page = await read(after);
    // One by one: what a slow reader has not taken must not pile up here.
    for (const entry of page.entries) {
      if (isSelected(entry, options)) stream.send(entry.seq, eventText(entry, options));
      await stream.drained();
      if (isRemoval(entry)) stream.end();
      if (stream.closed) return entry.seq;
    }
    after = page.last;
    if (!page.isFull) return after;
  }
}

/** The ends of executions and of the agent always pass. */
function isSelected({ entry }: LogEntry, { names }: StreamOptions): boolean {
  return names === null || names.has(eventName(entry)) || isTerminal(entry) || eventName(entry) === "agent_removed";
}

function isRemoval({ entry }: LogEntry): boolean {
  return eventName(entry) === "agent_removed";
}

/** Remembers that it was set until it is reset. */
class Signal {
  #whenSet = Promise.withResolvers<void>();

  set(): void {
    this.#whenSet.resolve();
  }
  reset(): void {
    this.#whenSet = Promise.withResolvers<void>();
  }
  wait(): Promise<void> {
    return this.#whenSet.promise;
  }
}
