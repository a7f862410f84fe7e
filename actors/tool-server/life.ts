/**
 * The life of a tool server's process or connection on one node (docs/reference/tool-servers.md), decided and nothing
 * else: the node does what `act` says and tells what became of it.
 */

export type ServerStatus = "stopped" | "starting" | "running" | "unhealthy" | "failed";

export interface Life {
  readonly status: ServerStatus;
  /** In a row, since it last ran 300 s without one. */
  readonly faults: number;
  /** Health checks that failed in a row. */
  readonly missed: number;
  readonly restarts: number;
  readonly lastError: string | null;
}

export type LifeEvent =
  /** Enabled, called for the first time, or restarted by a person. */
  | { readonly type: "wanted" }
  /** Definition or credentials changed, or a restart was asked for: a new connection takes the place of the old one. */
  | { readonly type: "renewed" }
  | { readonly type: "ready" }
  | { readonly type: "lost"; readonly error: string }
  /** Nothing on this node can hold it. */
  | { readonly type: "no_sandbox"; readonly error: string }
  | { readonly type: "health"; readonly error: string | null }
  /** It ran 300 s without a fault. */
  | { readonly type: "calm" }
  | { readonly type: "unwanted" };

export type Act =
  | { readonly do: "nothing" }
  | { readonly do: "start"; readonly afterMs: number }
  /** Starts beside what runs, which is drained once the new one is ready. */
  | { readonly do: "replace" }
  | { readonly do: "stop" }
  /** Ends what is left of it, and tells people. */
  | { readonly do: "give_up" };

export const bornStopped: Life = { status: "stopped", faults: 0, missed: 0, restarts: 0, lastError: null };

/** Faults in a row that end the attempts. */
export const mostFaults = 10;
/** A server that ran so long without a fault begins to count anew, ms. */
export const calmMs = 300_000;
/** A start may take so long, every page of `tools/list` included, ms. */
export const startWithinMs = 30_000;
/** A call to a starting server waits so long, ms. */
export const callWaitMs = 5_000;
/** What is under way when a connection is replaced may go on so long, ms. */
export const drainMs = 30_000;
/** Between SIGTERM and SIGKILL, ms. */
export const graceMs = 5_000;

const firstBackoffMs = 1_000;
const longestBackoffMs = 60_000;
const missedUntilUnhealthy = 2;
const startsNow: Act = { do: "start", afterMs: 0 };
const nothing: Act = { do: "nothing" };

/** @param jitter from 0 to 1, drawn anew for each event */
export function next(life: Life, event: LifeEvent, jitter: number): readonly [Life, Act] {
  const { status } = life;
  switch (event.type) {
    case "wanted":
      if (status === "stopped") return [{ ...bornStopped, status: "starting", restarts: life.restarts }, startsNow];
      return [life, nothing];
    case "renewed":
      if (status === "stopped") return [life, nothing];
      if (status === "running") return [life, { do: "replace" }];
      return [{ ...bornStopped, status: "starting", restarts: life.restarts + 1 }, startsNow];
    case "ready":
      return [{ ...life, status: "running", missed: 0, lastError: life.faults === 0 ? null : life.lastError }, nothing];
    case "lost":
      return status === "starting" || status === "running" || status === "unhealthy"
        ? afterFault(life, event.error, jitter)
        : [life, nothing];
    case "no_sandbox":
      return status === "starting"
        ? [{ ...life, status: "failed", lastError: event.error }, { do: "give_up" }]
        : [life, nothing];
    case "health":
      return status === "running" ? afterHealth(life, event.error, jitter) : [life, nothing];
    case "calm":
      return [status === "running" ? { ...life, faults: 0, lastError: null } : life, nothing];
    case "unwanted":
      return [{ ...bornStopped, restarts: life.restarts }, { do: "stop" }];
  }
}

function afterFault(life: Life, lastError: string, jitter: number): readonly [Life, Act] {
  const faults = life.faults + 1;
  const failing = { ...life, faults, missed: 0, lastError };
  if (faults >= mostFaults) return [{ ...failing, status: "failed" }, { do: "give_up" }];
  const afterMs = backoffMs(faults, jitter);
  return [
    { ...failing, status: "starting", restarts: life.restarts + 1 },
    { do: "start", afterMs },
  ];
}

function afterHealth(life: Life, error: string | null, jitter: number): readonly [Life, Act] {
  if (error === null) return [{ ...life, missed: 0 }, nothing];
  const missed = life.missed + 1;
  if (missed < missedUntilUnhealthy) return [{ ...life, missed, lastError: error }, nothing];
  const [after, act] = afterFault(life, error, jitter);
  return [after.status === "starting" ? { ...after, status: "unhealthy" } : after, act];
}

/** 1 s doubling to 60 s, of which the jitter takes away up to a half. @param faults in a row, from 1 on */
export function backoffMs(faults: number, jitter: number): number {
  const full = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (faults - 1));
  return Math.round(full * (1 - jitter / 2));
}
