/**
 * The events of runs as readers get them: numbered 1, 2, 3… over all of a run, whichever node they come from.
 *
 * Redis gives the numbers out. A reader puts those of entries of the run's log on record before it shows them, so that
 * they are the same after Redis has lost everything; then the stream is filled again with what was shown, and new numbers
 * are far above all that were given out. Progress lives in Redis alone.
 */

import { type RunEvent, runEvents } from "../../../../actors/fleet-run/events.ts";
import { fleetRun } from "../../../../actors/fleet-run/fleet-run.ts";
import type { LogEntry, News, Runtime } from "../../../runtime/port.ts";
import type { Notices } from "../../../store/redis/notices.ts";
import { createDecoding, type Progress, type RunProgress } from "./progress.ts";
import type { StreamRecords } from "./records.ts";
import type { NumberedProgress, StreamStore } from "./stream-store.ts";

export interface RunStreamsOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: StreamRecords;
  readonly store: StreamStore;
  readonly notices: Pick<Notices, "tell" | "on">;
  readonly now: () => number;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** An event as it may be shown: an entry of the run's log, or progress. */
export type ShownEvent = { readonly number: number } & ({ readonly seq: number } | { readonly text: string });

export interface ShownPage {
  readonly events: readonly ShownEvent[];
  /** Behind what the page was read from; the next page begins there. */
  readonly next: number;
  readonly more: boolean;
}

/** The streams of runs; `progress` of port.ts is the part that links use. */
export interface RunStreams extends RunProgress {
  /**
   * Events behind a place. @param entries the run's log has by now
   * @throws where a store is away
   */
  page(tenant: string, runId: string, after: number, entries: number): Promise<ShownPage>;
  /** Calls when a run may have news. @returns a function that ends it */
  follow(runId: string, news: () => void): () => void;
  /** What this node commits to the logs of runs. */
  announced(news: readonly News[]): void;
  redisLost(): void;
  /** What is kept of these runs in Redis. */
  erase(runIds: readonly string[]): Promise<void>;
  /** Runs with progress that is to be appended. */
  waiting(): number;
}

/** How long a reader counts as one that follows, ms. */
const followsMs = 10_000;
/** A filling that is so young has just made up for the loss, ms. */
const justFilledMs = 3000;
/** Characters of one run's progress that wait to be appended; further progress is dropped. */
const maxWaiting = 1_048_576;
const appendedAtOnce = 200;
const firstId = "00000000-0000-0000-0000-000000000000";
const openAtOnce = 200;
const settledAtOnce = 1000;

interface Outgoing {
  readonly tenant: string;
  texts: string[];
  size: number;
  /** Ends when all that was there has been appended. */
  sending: Promise<void> | null;
}

export function createRunStreams(options: RunStreamsOptions): RunStreams {
  const { runtime, records, store, notices, now, warn } = options;
  const runs = runtime.of(fleetRun);
  const decoding = createDecoding();
  const outgoing = new Map<string, Outgoing>();
  const followers = new Map<string, Set<() => void>>();

  function heard(runId: string | null): void {
    if (runId !== null) for (const news of followers.get(runId) ?? []) news();
    else for (const all of followers.values()) for (const news of all) news();
  }
  notices.on("edge_run", heard);

  function tellNews(runId: string, followedUntil: number): void {
    if (followedUntil > now()) notices.tell("edge_run", runId);
    else heard(runId);
  }

  /** Begins a stream that is not there, or stands behind what is on record. @param anew where it may lack its last events */
  async function fill(tenant: string, runId: string, anew = false): Promise<void> {
    const filled = await records.fill(tenant, runId, async (latest) => {
      if (anew) return latest === null || latest.ageMs > justFilledMs;
      const there = await store.filling(runId);
      return there === null || (latest !== null && there < latest.filling);
    });
    if (filled !== null) await store.begin(runId, filled);
  }

  /** @param entries of the log, which all have numbers afterwards; null: all there are */
  async function append(
    tenant: string,
    runId: string,
    entries: number | null,
    texts: readonly string[],
  ): Promise<void> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const done = await store.append(runId, entries ?? 0, texts);
      if (done !== null) {
        tellNews(runId, done.followedUntil);
        return;
      }
      await fill(tenant, runId);
      const length = entries ?? (await runs.at(tenant, runId).logLength(runEvents));
      // Progress of a run that is no more, or that no turn knows yet.
      if (length === 0) return;
      if ((await store.append(runId, length, [])) === null) continue;
      if (texts.length === 0) return;
    }
  }

  /** The run has ended: its numbers stay as they are, and what is in Redis goes in a day. */
  async function settle(tenant: string, runId: string, entries: number): Promise<void> {
    for (let after = 0; ; ) {
      const read = await store.entries(runId, after, settledAtOnce);
      if (read === null || (await records.show(tenant, runId, read.filling, read.entries)) === null) break;
      after = read.entries.at(-1)?.number ?? after;
      if (read.entries.length < settledAtOnce) break;
    }
    await store.append(runId, entries, [], true);
  }

  function send(runId: string, out: Outgoing): Promise<void> {
    out.sending ??= (async () => {
      try {
        while (out.texts.length > 0) {
          const some = out.texts.slice(0, appendedAtOnce);
          out.texts = out.texts.slice(some.length);
          out.size = out.texts.reduce((sum, text) => sum + text.length, 0);
          await append(out.tenant, runId, null, some);
        }
      } catch (error) {
        warn("edge_run_progress", { run_id: runId, error: String(error) });
      } finally {
        out.sending = null;
        if (out.texts.length === 0) outgoing.delete(runId);
      }
    })();
    return out.sending;
  }

  function put(tenant: string, runId: string, all: readonly Progress[]): Outgoing | null {
    if (all.length === 0) return outgoing.get(runId) ?? null;
    const out = outgoing.get(runId) ?? { tenant, texts: [], size: 0, sending: null };
    outgoing.set(runId, out);
    for (const one of all) {
      const text = JSON.stringify(one);
      if (out.size + text.length > maxWaiting) break;
      out.texts.push(text);
      out.size += text.length;
    }
    // What comes in one moment goes together.
    if (out.sending === null) queueMicrotask(() => void send(runId, out));
    return out;
  }

  return {
    output(tenant, runId, output) {
      const progress = decoding.decode(output);
      if (progress !== null) put(tenant, runId, [progress]);
    },
    step(tenant, runId, { node_id, command_id, status }) {
      put(tenant, runId, [{ node_id, command_id, chunk: { status } }]);
    },
    async ended(tenant, runId, nodeId, commandId) {
      const out = put(tenant, runId, decoding.end(nodeId, commandId));
      if (out !== null) await send(runId, out);
    },

    async page(tenant, runId, after, entries) {
      for (let attempt = 0; attempt < 5; attempt++) {
        const read = await store.read(runId, after, now() + followsMs);
        if (read === null) {
          await fill(tenant, runId);
          await store.append(runId, entries, []);
          continue;
        }
        if (read.entries < entries) {
          await store.append(runId, entries, []);
          continue;
        }
        const ofLog = read.events.filter((event) => "seq" in event);
        const shown = await records.show(tenant, runId, read.filling, ofLog);
        if (shown === null) {
          await fill(tenant, runId);
          continue;
        }
        const events = read.events.map((event) =>
          isProgress(event) ? event : { seq: event.seq, number: shown.get(event.seq) ?? event.number },
        );
        return { events, next: read.events.at(-1)?.number ?? after, more: read.more };
      }
      return { events: [], next: after, more: false };
    },

    follow(runId, news) {
      const all = followers.get(runId) ?? new Set();
      followers.set(runId, all.add(news));
      return () => {
        all.delete(news);
        if (all.size === 0 && followers.get(runId) === all) followers.delete(runId);
      };
    },

    announced(news) {
      for (const { kind, key, tenant, entries } of news) {
        const last = entries.at(-1);
        if (kind !== fleetRun.kind || last === undefined) continue;
        const appended = append(tenant, key, last.seq, []);
        const work = isLast(last) ? appended.then(() => settle(tenant, key, last.seq)) : appended;
        // Readers append what is missing.
        work.catch((error: unknown) => warn("edge_run_stream", { run_id: key, error: String(error) }));
      }
    },

    redisLost() {
      void (async () => {
        for (let after = firstId; ; ) {
          const rows = await records.open(after, openAtOnce);
          for (const { id, tenant } of rows) {
            if (!runs.isHere(id)) continue;
            await fill(tenant, id, true);
            await append(tenant, id, await runs.at(tenant, id).logLength(runEvents), []);
          }
          const last = rows.at(-1)?.id;
          if (last === undefined || rows.length < openAtOnce) return;
          after = last;
        }
      })().catch((error: unknown) => warn("edge_run_stream", { error: String(error) }));
    },

    erase: (runIds) => store.erase(runIds),
    waiting: () => outgoing.size,
  };
}

const isProgress = (event: ShownEvent): event is NumberedProgress => "text" in event;
const isLast = ({ entry }: LogEntry): boolean => (entry as RunEvent).type === "ended";
