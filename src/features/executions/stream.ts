/** An execution's events as a stream: what is stored, then what happens, without gap or repeat. */

import { eventName, isTerminal, wireEvent } from "../../../actors/execution/events.ts";
import { iso } from "../../../actors/kernel/time.ts";
import { type Logged, type LogRequest, streamLog } from "../../http/streams/log-stream.ts";
import type { EventStream } from "../../http/streams/sse.ts";
import type { LogEntry } from "../../runtime/port.ts";

export interface StreamOptions extends LogRequest {
  /** Names to send; terminal events always pass. Null = all. */
  readonly names: ReadonlySet<string> | null;
  /** Whether the reader may see prompts and responses. */
  readonly prompts: boolean;
  readonly flat: boolean;
}

/** Writes an execution's events until the terminal one, the end of the backlog, or the reader's leave. */
export function streamExecution(actor: Logged, options: StreamOptions, stream: EventStream): Promise<void> {
  const { names } = options;
  const isSelected = ({ entry }: LogEntry) => names === null || isTerminal(entry) || names.has(eventName(entry));
  const telling = {
    text: (entry: LogEntry) => (isSelected(entry) ? eventText(entry, options) : null),
    isLast: ({ entry }: LogEntry) => isTerminal(entry),
  };
  return streamLog(actor, options, telling, stream);
}

/** The text of an entry in its usual form, shared by all who follow the same execution. */
const usual = new WeakMap<LogEntry, string>();

/** An event as one line of a stream; `seq` is its id. */
export function eventText(entry: LogEntry, { prompts, flat }: Pick<StreamOptions, "prompts" | "flat">): string {
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
  return { ...data, type: name, event_type: name, sequence: seq, timestamp: iso(at), data };
}
