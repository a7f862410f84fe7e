/** When a command that nothing more is heard of ends, and how. */
import type { CommandEnd, serviceErrorKinds } from "./command.ts";
import { type HostCommand, type HostState, isEligible, isInFlight, isLinked } from "./state.ts";

/** A command may start for so long after it was sent. */
export const startWithinMs = 30_000;
/** Silence after a limit, or after a cancel, by which a command of a connected host is lost. */
const silentMs = 30_000;
/**
 * A daemon that says nothing for so long of a command that it was told to cancel holds up nothing that comes behind it:
 * should its slot be taken still, it refuses, and each of these commands ends.
 */
export const strayMs = 60_000;
/** Added to every grace where the service is to blame. */
const longerMs = 60_000;

export interface Overdue {
  /** Unix ms. */
  readonly at: number;
  readonly status: Extract<CommandEnd, "lost" | "expired">;
  readonly error_kind: (typeof serviceErrorKinds)[number];
}

/** What ends the command if nothing happens; null: as the host is, nothing does. */
export function overdue(state: HostState, command: HostCommand): Overdue | null {
  return isInFlight(command) ? lostAt(state, command) : expiresAt(state, command);
}

function lostAt(state: HostState, command: HostCommand): Overdue {
  if (!isLinked(state)) return { at: graceEnd(state, command), status: "lost", error_kind: "edge_disconnected" };
  const { status, cancelled, not_after, started_at, timeout_ms } = command;
  const limit = status === "running" ? (started_at ?? 0) + timeout_ms : (not_after ?? 0);
  // What the daemon has to say of a limit that passed while it was away comes behind its hello.
  const heard = Math.max(limit, state.link?.since ?? 0);
  const at = Math.min(heard, cancelled?.at ?? Number.POSITIVE_INFINITY) + silentMs;
  return { at, status: "lost", error_kind: "no_response" };
}

function expiresAt(state: HostState, command: HostCommand): Overdue | null {
  if (isEligible(state)) return null;
  const { queue_until } = command;
  if (queue_until !== null) return { at: queue_until, status: "expired", error_kind: "offline_ttl" };
  return { at: graceEnd(state, command), status: "expired", error_kind: "edge_disconnected" };
}

/** From when the host was no more to be had; for one that was not sent, from its turn, should that be later. */
function graceEnd({ idle_since, longer, since, status }: HostState, command: HostCommand): number {
  const away = isInFlight(command) && status === "disconnected" ? since : (idle_since ?? since);
  const from = isInFlight(command) ? away : Math.max(away, command.turn_at);
  return from + command.grace_ms + (longer ? longerMs : 0);
}

/** The first moment at which something is to be done; null: none is known. Both are Unix ms. */
export function nextDue(state: HostState, now: number): number | null {
  const ends = state.commands.flatMap((command) => overdue(state, command)?.at ?? []);
  // A slot that comes free by time alone is news for those that wait for it.
  const isAwaited = isEligible(state) && state.commands.some((command) => !isInFlight(command) && !command.asked);
  const frees = isAwaited ? state.strays.flatMap(({ until }) => (until > now ? [until] : [])) : [];
  const first = [...ends, ...frees].reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  return Number.isFinite(first) ? first : null;
}
