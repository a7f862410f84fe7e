/** The streams of runs' events in Redis: a run's events by their numbers, entries of its log apart from progress. */
import { openRedis, type RedisServers } from "../../../store/redis/connections.ts";
import { scriptCommand } from "../../../store/redis/script.ts";
import type { Filling, NumberedEntry } from "./records.ts";
import { perFilling } from "./records.ts";

/** Progress of one run that is kept: events, and bytes of their texts. */
const keptProgress = { events: 20_000, bytes: 64 * 1024 * 1024 };
/** How long a stream is kept that nothing is added to, and that of a run that has ended, seconds. */
const keptSeconds = 30 * 86_400;
const endedSeconds = 86_400;
/** Events of each kind that are read at once. */
const pageSize = 200;

export interface NumberedProgress {
  readonly number: number;
  /** JSON of the event's data. */
  readonly text: string;
}

export interface StreamPage {
  readonly filling: number;
  /** Entries of the run's log that have numbers. */
  readonly entries: number;
  /** Ascending; no event between the first and the last is missing but progress that was dropped. */
  readonly events: readonly (NumberedEntry | NumberedProgress)[];
  /** Whether there may be more behind them. */
  readonly more: boolean;
}

export type StreamStore = ReturnType<typeof openStreamStore>;

/** @param prefix of every key */
export function openStreamStore(redisServers: RedisServers, prefix: string, mostKept = keptProgress) {
  const redis = openRedis(redisServers);
  const opening = scriptCommand(redis, "run-stream-open");
  const appending = scriptCommand(redis, "run-stream-append");
  const reading = scriptCommand(redis, "run-stream-read");
  const keysOf = (runId: string) => {
    const key = `${prefix}:{edge-run-${runId}}`;
    return [`${key}:known`, `${key}:entries`, key];
  };

  return {
    async begin(runId: string, { filling, shown }: Filling): Promise<void> {
      // Where nothing was shown the numbers begin with 1, whichever node comes first.
      const above = shown.length === 0 ? 0 : filling * perFilling;
      const known = shown.flatMap(({ seq, number }) => [seq, number]);
      await opening(keysOf(runId), [filling, above, keptSeconds, ...known]);
    },

    /**
     * @param entries of the run's log up to which there are numbers; 0: those there are
     * @returns null: there is no stream; else whether a reader on some node follows the run
     */
    async append(
      runId: string,
      entries: number,
      progress: readonly string[],
      isEnded = false,
    ): Promise<{ readonly followedUntil: number } | null> {
      const kept = isEnded ? endedSeconds : keptSeconds;
      const answer = await appending(keysOf(runId), [entries, kept, mostKept.events, mostKept.bytes, ...progress]);
      const [isThere, followed] = answer as [number, string];
      return isThere === 1 ? { followedUntil: Number(followed) } : null;
    },

    /** Null: there is no stream. @param followedUntil Unix ms; until then appenders tell of what they append */
    async read(runId: string, after: number, followedUntil: number): Promise<StreamPage | null> {
      const answer = (await reading(keysOf(runId), [after, pageSize, followedUntil])) as unknown[];
      if (answer.length === 0) return null;
      const [filling, entries, ofLog, ofProgress] = answer as [string, string, Row[], Row[]];
      // Where one list is cut off, what the other has behind it waits for the next page.
      const ends = [ofLog, ofProgress].filter((rows) => rows.length === pageSize).map((rows) => numberOf(rows.at(-1)));
      const end = Math.min(...ends);
      const all = [
        ...ofLog.map((row) => ({ seq: Number(row[1][1]), number: numberOf(row) })),
        ...ofProgress.map((row) => ({ text: row[1][1], number: numberOf(row) })),
      ].filter(({ number }) => number <= end);
      all.sort((one, other) => one.number - other.number);
      return { filling: Number(filling), entries: Number(entries), events: all, more: ends.length > 0 };
    },

    /** Entries of the log behind a number, without the progress between them; null: there is no stream. */
    async entries(
      runId: string,
      after: number,
      limit: number,
    ): Promise<{ readonly filling: number; readonly entries: readonly NumberedEntry[] } | null> {
      const [known = "", ofLog = ""] = keysOf(runId);
      const filling = await redis.hget(known, "filling");
      if (filling === null) return null;
      const rows = (await redis.xrange(ofLog, `(${after}-0`, "+", "COUNT", limit)) as unknown as Row[];
      return {
        filling: Number(filling),
        entries: rows.map((row) => ({ seq: Number(row[1][1]), number: numberOf(row) })),
      };
    },

    async filling(runId: string): Promise<number | null> {
      const [known = ""] = keysOf(runId);
      const filling = await redis.hget(known, "filling");
      return filling === null ? null : Number(filling);
    },

    async erase(runIds: readonly string[]): Promise<void> {
      await Promise.all(runIds.map((runId) => redis.del(...keysOf(runId))));
    },

    close: (): void => redis.disconnect(),
  };
}

/** Of a stream: its id, and a name with a value. */
type Row = readonly [id: string, fields: readonly [string, string]];

const numberOf = (row: Row | undefined): number => Number.parseInt(row?.[0] ?? "0", 10);
