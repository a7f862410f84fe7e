/** A run's events as a stream, on any node: what was, then what happens. A reader never holds up the run. */
import { runEvents } from "../../../../../actors/fleet-run/events.ts";
import { fleetRun } from "../../../../../actors/fleet-run/fleet-run.ts";
import type { EventStream, StreamFormat } from "../../../../http/streams/sse.ts";
import type { Runtime } from "../../../../runtime/port.ts";
import type { RunStreams, ShownPage } from "../../run-stream/port.ts";
import { type Composer, isLastEntry } from "./composing.ts";

export interface StreamingOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly streams: RunStreams;
  readonly composer: Composer;
}

/** What another node appended is looked for after so long where no notice came, ms. */
const lookEveryMs = 1000;
/** Events put together at once: a result has 150 KiB at most. */
const composedAtOnce = 32;

export type WriteRun = ReturnType<typeof runWriter>;

export function runWriter({ runtime, streams, composer }: StreamingOptions) {
  /** Shows some events. @returns whether the run's last event was among them */
  async function showSome(
    stream: EventStream,
    { tenant, id, from }: Reader,
    events: ShownPage["events"],
  ): Promise<boolean> {
    const seqs = events.flatMap((event) => ("seq" in event ? [event.seq] : []));
    const composed = await composer.compose(tenant, id, seqs);
    for (const event of events) {
      if (event.number <= from) continue;
      const entry = "seq" in event ? composed.get(event.seq) : null;
      if (entry === null && "text" in event) stream.send(event.number, event.text, "command_progress");
      if (entry) stream.send(event.number, JSON.stringify(entry.data), entry.event);
      if (entry?.isLast) return true;
      // Results are large: a burst of them must not make a reader too slow that takes them as they come.
      await stream.drained();
    }
    return false;
  }

  /** Shows a page, a portion of it in memory at once. @returns whether the run's last event was among it */
  async function show(stream: EventStream, reader: Reader, events: ShownPage["events"]): Promise<boolean> {
    for (let at = 0; at < events.length && !stream.closed; at += composedAtOnce)
      if (await showSome(stream, reader, events.slice(at, at + composedAtOnce))) return true;
    return false;
  }

  /** What is known of the run's log by now, and when there is more of it. */
  async function watch({ tenant, id }: Reader, stream: EventStream) {
    const run = runtime.of(fleetRun).at(tenant, id);
    const length = await run.logLength(runEvents);
    const known = {
      entries: length,
      isOver: await composer.isOver(tenant, id, length),
      wake: Promise.withResolvers<void>(),
    };
    const news = () => known.wake.resolve();
    const stops = [
      run.tail(length, (added, ended) => {
        known.entries = Math.max(known.entries, added.at(-1)?.seq ?? 0);
        known.isOver ||= ended || added.some(isLastEntry);
        news();
      }),
      streams.follow(id, news),
    ];
    stream.onClose = () => {
      for (const stop of stops) stop();
      news();
    };
    if (stream.closed) stream.onClose();
    return known;
  }

  /** Writes until the run's last event, or the reader's leave. @param from events behind this id */
  return async (tenant: string, id: string, from: number, stream: EventStream): Promise<void> => {
    const reader = { tenant, id, from };
    const known = await watch(reader, stream);
    stream.comment("open");
    for (let after = from; !stream.closed; ) {
      known.wake = Promise.withResolvers<void>();
      const { isOver } = known;
      const { events, next, more } = await streams.page(tenant, id, after, known.entries);
      const isLast = await show(stream, reader, events);
      if (isLast || (events.length === 0 && isOver && !more)) break;
      await stream.drained();
      after = next;
      if (events.length === 0) await Promise.race([known.wake.promise, Bun.sleep(lookEveryMs)]);
    }
    stream.end();
  };
}

/** Who reads which run, from where on. */
interface Reader {
  readonly tenant: string;
  readonly id: string;
  readonly from: number;
}

/** What a reader takes, by its `Accept`; `q` is not read. `accepted`: no stream, but the run's id. */
export function answerFor(accept: string | null): StreamFormat | "accepted" {
  const types = (accept ?? "").split(",").map((type) => type.split(";")[0]?.trim().toLowerCase() ?? "");
  const lists = (type: string): boolean => types.includes(type);
  if (lists("text/event-stream")) return "sse";
  if (lists("application/x-ndjson")) return "ndjson";
  return lists("application/json") ? "accepted" : "sse";
}
