/** Following work to its end: Ctrl-C detaches, and the work goes on. */
import type { Client } from "../../client/client.ts";
import { follow, type StreamedEvent } from "../../client/events.ts";
import { say } from "../output/inert.ts";
import type { Context } from "./context.ts";

export interface Following<R> {
  /** Of the stream. */
  readonly path: string;
  /** Called for each event; what it returns, unless undefined, is the end. */
  readonly told: (event: StreamedEvent) => R | undefined | Promise<R | undefined>;
  /** Said after Ctrl-C: how to come back. */
  readonly detached: string;
  /** Events up to this one are known. */
  readonly after?: string;
}

/** @returns what the last event led to; null: detached, or the stream ended without one */
export async function followed<R>(context: Context, client: Client, following: Following<R>): Promise<R | null> {
  const { out, io } = context;
  const interrupted = io.interruption();
  // The stream ends with the last event, whichever way it is left.
  const over = new AbortController();
  let isLost = false;
  const stream = follow(client, following.path, {
    signal: AbortSignal.any([interrupted, over.signal]),
    after: following.after ?? null,
    connection(state) {
      if (state === "lost" && !isLost && !over.signal.aborted)
        out.note(say`${out.noteColours.dim("… the connection is lost; trying again")}`);
      if (state === "open" && isLost) out.note(say`${out.noteColours.dim("… connected again")}`);
      isLost = state === "lost";
    },
  });
  try {
    for await (const event of stream) {
      const end = await following.told(event);
      if (end !== undefined) return end;
    }
  } finally {
    over.abort();
  }
  if (interrupted.aborted) out.note(say`${following.detached}`);
  return null;
}
