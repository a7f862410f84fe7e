/** An execution's events as a stream: what is stored, then what happens, without gap or repeat. */
import { eventName, isTerminal, wireEvent } from "../../actors/execution/events.ts";
import type { EventStream } from "../http/sse.ts";
import type { Address, LogEntry, Runtime } from "../runtime/port.ts";

/** Stored events read at once. */
const pageSize = 200;

export interface StreamWishes {
  /** Events with a higher id are sent. */
  readonly after: number;
  /** False: what is stored, then the end. */
  readonly follow: boolean;
  /** Names to send; terminal events always pass. Null = all. */
  readonly names: ReadonlySet<string> | null;
  /** Whether the reader may see prompts and responses. */
  readonly prompts: boolean;
  readonly flat: boolean;
}

/** Writes an execution's events until the terminal one, the end of the backlog, or the reader's leave. */
export async function streamExecution(
  runtime: Pick<Runtime, "log" | "tail">,
  execution: Address,
  wishes: StreamWishes,
  stream: EventStream,
): Promise<void> {
  let after = wishes.after;
  for (;;) {
    const page = await runtime.log(execution, "events", after, pageSize);
    // One by one: a slow reader must get on with its backlog, however large the events are.
    for (const entry of page) {
      send(stream, [entry], wishes);
      await stream.drained();
      if (stream.closed) return;
    }
    after = page.at(-1)?.seq ?? after;
    if (page.length < pageSize) break;
  }
  if (!wishes.follow) {
    stream.end();
    return;
  }
  // Nothing was sent yet: let the client see that the stream is open.
  stream.comment("open");
  const from = after === wishes.after ? await knownPoint(runtime, execution, after) : after;
  if (stream.closed) return;
  stream.onClose = runtime.tail(execution, from, (entries, ended) => {
    send(stream, entries, wishes);
    if (ended) stream.end();
  });
  if (stream.closed) stream.onClose?.();
}

/**
 * The place to follow from. A reader may name an id that was never given: it gets nothing up to that id, but
 * the end must find it.
 */
async function knownPoint(runtime: Pick<Runtime, "log">, execution: Address, after: number): Promise<number> {
  if (after === 0 || (await runtime.log(execution, "events", after - 1, 1)).length > 0) return after;
  let last = 0;
  for (;;) {
    const page = await runtime.log(execution, "events", last, pageSize);
    last = page.at(-1)?.seq ?? last;
    if (page.length < pageSize) return Math.min(last, after);
  }
}

function send(stream: EventStream, entries: readonly LogEntry[], wishes: StreamWishes): void {
  for (const entry of entries) {
    const last = isTerminal(entry.entry);
    const wished = last || wishes.names === null || wishes.names.has(eventName(entry.entry));
    if (wished && entry.seq > wishes.after) {
      stream.send(entry.seq, eventText(entry, wishes));
    }
    if (last) {
      stream.end();
      return;
    }
  }
}

/** The text of an entry in its usual form, shared by all who follow the same execution. */
const usual = new WeakMap<LogEntry, string>();

/** An event as one line of a stream; `seq` is its id. */
export function eventText(entry: LogEntry, { prompts, flat }: Pick<StreamWishes, "prompts" | "flat">): string {
  if (prompts || flat) return JSON.stringify(flat ? flatEvent(entry, prompts) : wireEvent(entry.entry, prompts));
  let text = usual.get(entry);
  if (text === undefined) {
    text = JSON.stringify(wireEvent(entry.entry, false));
    usual.set(entry, text);
  }
  return text;
}

/** For clients that read `type`. */
function flatEvent({ seq, at, entry }: LogEntry, prompts: boolean): Record<string, unknown> {
  const name = eventName(entry);
  const data = (wireEvent(entry, prompts) as Record<string, Record<string, unknown>>)[name];
  return { ...data, type: name, event_type: name, sequence: seq, timestamp: new Date(at).toISOString(), data };
}
