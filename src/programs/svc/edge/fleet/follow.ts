/** Follows the events of a run to its end, through cut connections and restarts of the service. */
import { Failure } from "../command/exit.ts";
import type { Service, StreamAnswer } from "../service/client.ts";
import { eventsOf, type StreamedEvent } from "../service/event-stream.ts";

export interface FollowOptions {
  readonly service: Pick<Service, "stream">;
  /** What opens the stream the first time; null: the stream of the run from its first event. */
  readonly begin: ((signal: AbortSignal) => Promise<StreamAnswer>) | null;
  /** Known beforehand, else told by the first answer. */
  readonly runId: string | null;
  /** Called once, as soon as the id is known. */
  readonly named: (runId: string) => void;
  readonly tell: (event: StreamedEvent) => void;
  /** The service was lost, or is back. */
  readonly note: (text: string) => void;
  /** Ends following; the run goes on. */
  readonly interrupted: AbortSignal;
  readonly timing?: Partial<Timing>;
}

interface Timing {
  /** Something comes at least every 15 s: a stream silent for longer than this is dead. */
  readonly silenceMs: number;
  /** First pause before connecting anew; doubled each time. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** How long the service may be away: before the run has an id, and from then on. */
  readonly firstPatienceMs: number;
  readonly patienceMs: number;
}
const usual: Timing = {
  silenceMs: 45_000,
  pauseMs: 250,
  longestPauseMs: 2000,
  firstPatienceMs: 10_000,
  patienceMs: 300_000,
};

export type Followed = { readonly end: Readonly<Record<string, unknown>> } | "interrupted";

/**
 * Each event is told once, in the order of the ids.
 * @returns the data of `fleet_result`
 * @throws Failure by what the service refuses, `unavailable` when it stays away
 */
export async function followRun(options: FollowOptions): Promise<Followed> {
  const { interrupted, named } = options;
  const timing = { ...usual, ...options.timing };
  const progress: Progress = { runId: options.runId, last: 0, end: null };
  if (progress.runId !== null) named(progress.runId);
  const absence = new Absence(options.note);
  while (progress.end === null && !interrupted.aborted) {
    const before = progress.last;
    try {
      await connection(options, progress, timing, () => absence.over());
    } catch (error) {
      if (!interrupted.aborted)
        absence.failed(error, progress.runId === null ? timing.firstPatienceMs : timing.patienceMs);
    }
    // A stream that ended without the last event, or brought nothing new, is asked for again a little later.
    if (progress.end === null && progress.last === before) await pause(timing, absence.failures, interrupted);
  }
  return progress.end === null ? "interrupted" : { end: progress.end };
}

/** How long the service has been away. */
class Absence {
  failures = 0;
  #since = 0;

  constructor(private readonly note: (text: string) => void) {}

  over(): void {
    if (this.failures > 0) this.note("the service is back");
    this.failures = 0;
  }

  /** @throws what is no absence, and what lasts longer than there is patience */
  failed(error: unknown, patienceMs: number): void {
    const isAway = !(error instanceof Failure) || error.exit === "unavailable";
    if (!isAway) throw error;
    if (this.failures === 0) {
      this.#since = performance.now();
      this.note("the service cannot be reached; waiting for it");
    }
    this.failures += 1;
    if (performance.now() - this.#since > patienceMs)
      throw error instanceof Failure ? error : new Failure("unavailable", "the service stays away", "unreachable");
  }
}

interface Progress {
  runId: string | null;
  last: number;
  end: Readonly<Record<string, unknown>> | null;
}

/** Tells what one connection brings; returns or throws when it is over. */
async function connection(options: FollowOptions, progress: Progress, timing: Timing, opened: () => void) {
  const { service, begin, named, tell, interrupted } = options;
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), timing.silenceMs);
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), timing.silenceMs);
  };
  const signal = AbortSignal.any([silent.signal, interrupted]);
  try {
    const { runId } = progress;
    const stream =
      runId === null && begin !== null
        ? await begin(signal)
        : await service.stream("GET", `/v1/edge/fleet/runs/${runId}/stream`, { signal, after: progress.last });
    opened();
    if (progress.runId === null && stream.runId !== null) {
      progress.runId = stream.runId;
      named(stream.runId);
    }
    for await (const event of eventsOf(stream.body, heard)) {
      // A stream that is begun anew may repeat what was told.
      if (event.id <= progress.last) continue;
      progress.last = event.id;
      tell(event);
      if (event.name === "fleet_result") {
        progress.end = event.data;
        return;
      }
    }
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
}

async function pause({ pauseMs, longestPauseMs }: Timing, failures: number, interrupted: AbortSignal): Promise<void> {
  const milliseconds = Math.min(longestPauseMs, pauseMs * 2 ** Math.min(failures, 10));
  await new Promise<void>((done) => {
    const end = () => {
      clearTimeout(timer);
      interrupted.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, milliseconds);
    interrupted.addEventListener("abort", end);
  });
}
