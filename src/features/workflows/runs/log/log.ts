/** A run's log as clients read it: the same object in `/logs` and in the stream. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { AnyJson } from "../../../../../actors/kernel/json.ts";
import { Text } from "../../../../../actors/kernel/schema.ts";
import { iso } from "../../../../../actors/kernel/time.ts";
import type { EventBody, EventType } from "../../../../../actors/workflow/run/record/events.ts";
import type { RunHeader } from "../../../../../actors/workflow/run/state.ts";
import { type Logged, type LogRequest, streamLog } from "../../../../http/streams/log-stream.ts";
import type { EventStream } from "../../../../http/streams/sse.ts";
import type { LogEntry } from "../../../../runtime/port.ts";

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);

export const WireEvent = Type.Object({
  /** From 1, without gaps. */
  sequence: Type.Integer({ minimum: 1 }),
  type: Text,
  event_type: Text,
  execution_id: Text,
  workflow_id: Text,
  workflow_name: Text,
  message: Text,
  state_name: optional(Text),
  iteration_number: optional(Type.Integer()),
  timestamp: Type.String({ format: "date-time" }),
  details: Type.Record(Text, AnyJson),
  temporal_workflow_id: Text,
  temporal_run_id: Text,
});

export type WireEvent = Static<typeof WireEvent>;

/** What names the run in each of its events. */
export interface LoggedRun {
  readonly executionId: string;
  readonly header: Pick<RunHeader, "workflow_id" | "workflow_name">;
}

/** An entry as `eventOf` makes it. */
type Stored = EventBody & { readonly type: EventType };

export function wireEvent({ executionId, header }: LoggedRun, { seq, at, entry }: LogEntry): WireEvent {
  // Written by the run's actor with `eventOf`.
  const { type, message, details, ...place } = entry as unknown as Stored;
  return {
    sequence: seq,
    type,
    event_type: type,
    execution_id: executionId,
    workflow_id: header.workflow_id,
    workflow_name: header.workflow_name,
    message,
    ...place,
    timestamp: iso(at),
    details: { ...details, execution_id: executionId },
    temporal_workflow_id: executionId,
    temporal_run_id: executionId,
  };
}

const terminal = new Set([
  "WorkflowExecutionCompleted",
  "WorkflowExecutionFailed",
  "WorkflowExecutionCancelled",
  "WorkflowExecutionTimedOut",
]);

/** Whether the run is over with this entry: nothing comes after it. */
export const isTerminal = ({ entry }: LogEntry): boolean =>
  terminal.has(String((entry as { readonly type?: unknown }).type));

/** The text of an entry, shared by all who follow the same run. */
const texts = new WeakMap<LogEntry, string>();

function textOf(run: LoggedRun, entry: LogEntry): string {
  let text = texts.get(entry);
  if (text === undefined) {
    text = JSON.stringify(wireEvent(run, entry));
    texts.set(entry, text);
  }
  return text;
}

/** Writes a run's log until the terminal event, the end of the backlog, or the reader's leave. */
export function streamRun(actor: Logged, run: LoggedRun, options: LogRequest, stream: EventStream): Promise<void> {
  return streamLog(actor, options, { text: (entry) => textOf(run, entry), isLast: isTerminal }, stream);
}
