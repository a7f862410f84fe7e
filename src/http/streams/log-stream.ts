/** The `events` log of an actor as a stream: what is stored, then what happens, without gap or repeat. */
import type { AnyActorDefinition } from "../../../actors/kernel/actor.ts";
import { defineLog } from "../../../actors/kernel/effect.ts";
import { AnyJson } from "../../../actors/kernel/json.ts";
import { FairTurns } from "../../lib/fair-turns.ts";
import type { ActorHandle, LogEntry } from "../../runtime/port.ts";
import type { EventStream } from "./sse.ts";

/** Stored events read at once; one may hold a whole result. */
const pageSize = 50;
/** Characters of an event whose writing is work: after one of these the stream waits for its next turn. */
const large = 64 * 1024;
/** Many streams may have large events to write in the same moment; everything else is answered between them. */
const turns = new FairTurns();

export interface LogRequest {
  /** Entries with a higher sequence are sent. */
  readonly after: number;
  /** False: what is stored, then the end. */
  readonly follow: boolean;
}

/** How entries become events. */
export interface LogFormat {
  /** One line; null: the entry is not for this reader. */
  text(entry: LogEntry): string | null;
  /** Whether the stream ends with it. */
  isLast(entry: LogEntry): boolean;
}

/** The part of an actor's handle that a stream needs. */
export type Logged = Pick<ActorHandle<AnyActorDefinition>, "log" | "logPages" | "tail">;
const events = defineLog("events", AnyJson);

/** Writes until the last entry there will be, the end of the backlog, or the reader's leave. */
export async function streamLog(
  actor: Logged,
  request: LogRequest,
  format: LogFormat,
  stream: EventStream,
): Promise<void> {
  let after = request.after;
  for await (const page of actor.logPages(events, after, pageSize)) {
    // One by one: a slow reader must get on with its backlog, however large the events are.
    for (const entry of page) {
      const sent = send(stream, [entry], request, format);
      await stream.drained();
      if (sent > large) await turns.take(stream.tenant);
      if (stream.closed) return;
    }
    after = page.at(-1)?.seq ?? after;
  }
  if (!request.follow) {
    stream.end();
    return;
  }
  // Nothing was sent yet: let the client see that the stream is open.
  stream.comment("open");
  const from = after === request.after ? await knownPoint(actor, after) : after;
  if (stream.closed) return;
  stream.onClose = actor.tail(from, (entries, ended) => {
    send(stream, entries, request, format);
    if (ended) stream.end();
  });
  if (stream.closed) stream.onClose?.();
}

/**
 * The place to follow from. A reader may name an id that was never given: it gets nothing up to that id, but
 * the end must find it.
 */
async function knownPoint(actor: Pick<Logged, "log" | "logPages">, after: number): Promise<number> {
  if (after === 0 || (await actor.log(events, after - 1, 1)).length > 0) return after;
  let last = 0;
  for await (const page of actor.logPages(events, 0, pageSize)) last = page.at(-1)?.seq ?? last;
  return Math.min(last, after);
}

/** @returns characters that were written */
function send(stream: EventStream, entries: readonly LogEntry[], { after }: LogRequest, format: LogFormat): number {
  let characters = 0;
  for (const entry of entries) {
    const text = entry.seq > after ? format.text(entry) : null;
    if (text !== null) stream.send(entry.seq, text);
    characters += text?.length ?? 0;
    if (format.isLast(entry)) {
      stream.end();
      break;
    }
  }
  return characters;
}

/** `Last-Event-ID` as a number; null for none, or for what is none of our ids. */
export function resumePoint(header: string | null): number | null {
  return header !== null && /^\d{1,15}$/.test(header.trim()) ? Number(header) : null;
}
