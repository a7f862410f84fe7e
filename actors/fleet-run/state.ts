/** What a fleet run is made of between two turns. */
import { type Static, Type } from "@sinclair/typebox";
import { batchOf, concurrency, Policy } from "../edge/policy.ts";
import { sharesOf } from "../edge/written.ts";
import { Milliseconds, Nullable, Text } from "../kernel/schema.ts";
import { Sender, type Standing, type StartReply } from "./messages.ts";
import { EndReason, isTerminal, PauseReason, RequestedBy, RunStatus } from "./words.ts";

const Count = Type.Integer({ minimum: 0 });
const Indices = Type.Array(Count);

export const FleetRunState = Type.Object({
  tool: Text,
  security_context_name: Nullable(Text),
  policy: Policy,
  requested_by: RequestedBy,
  retry_of: Nullable(Text),
  approval_id: Nullable(Text),
  created_at: Milliseconds,
  started_at: Nullable(Milliseconds),
  ended_at: Nullable(Milliseconds),
  status: RunStatus,
  /** Why it ends; null: it does not, or it is complete. */
  reason: Nullable(EndReason),
  /** The oldest first. */
  pause_reasons: Type.Array(PauseReason),

  /** Which of the stored resolutions its places are of. */
  resolution: Count,
  eligible: Count,
  queued: Count,
  skipped: Count,
  /** See targets.ts. */
  targets: Text,
  in_flight: Count,
  /** Rounds of retries that have begun; a command's attempt is one more. */
  round: Count,
  wave: Count,
  waves: Count,
  /** Of the wave: hosts that are to begin still, and those that have begun and not ended. */
  to_open: Count,
  live: Count,
  canary: Type.Union((["none", "due", "open", "over"] as const).map((word) => Type.Literal(word))),
  /** Nothing new begins before: behind the canary, or before a round of retries. */
  wake_at: Nullable(Milliseconds),

  /** Pieces of work so far, for their ids. */
  works: Count,
  /** Those that hand commands over or let them start. */
  handing: Type.Array(Type.Object({ id: Text, go: Type.Boolean(), held: Type.Boolean(), indices: Indices })),
  /** To be handed over again. */
  full: Indices,
  /** How commands are taken back, once the run ends early. */
  stopping: Nullable(
    Type.Object({ kind: Type.Union([Type.Literal("withdraw"), Type.Literal("cancel")]), reason: Text }),
  ),
  stops: Type.Array(Type.Object({ id: Text, indices: Indices })),
  unstopped: Indices,
  /** When what failed is tried again. */
  again_at: Nullable(Milliseconds),
  /** The target is being resolved anew. */
  resolving: Nullable(Text),
  approved: Type.Boolean(),
  /** Told of people and of the end; absent: none is. */
  sender: Type.Optional(Sender),
  /** Of a tool call's run that people are asked about: until when it waits for its call; null: they have not approved. */
  claim: Type.Optional(Type.Object({ until: Nullable(Milliseconds) })),
  /** Callers that wait until nothing starts any more. */
  pausing: Type.Array(Type.Object({ node: Text, call: Text, until: Milliseconds })),
});
export type FleetRunState = Static<typeof FleetRunState>;

export const resolvedOf = ({ eligible, queued }: Pick<FleetRunState, "eligible" | "queued">): number =>
  eligible + queued;

/** Commands in flight at once. */
export const placesIn = (state: FleetRunState): number => concurrency(state.policy, resolvedOf(state));

/** Hosts of the canary: the first in order, among those that are waited for only if there are no others. */
export function canarySize({
  policy,
  eligible,
  queued,
}: Pick<FleetRunState, "policy" | "eligible" | "queued">): number {
  if (policy.canary === null) return 0;
  const among = eligible > 0 ? eligible : queued;
  return Math.min(among, sharesOf(policy.canary, eligible + queued));
}

/** Hosts of a wave that is no canary. */
export const waveSize = (state: Pick<FleetRunState, "policy" | "eligible" | "queued">): number =>
  batchOf(state.policy.mode, resolvedOf(state));

/**
 * How many hosts of those that can be reached begin together, wave by wave, as long as nothing fails.
 */
export function wavesOf(run: Pick<FleetRunState, "policy" | "eligible" | "queued">): number[] {
  const { eligible } = run;
  const first = eligible > 0 ? canarySize(run) : 0;
  const size = waveSize(run);
  const sizes = first > 0 ? [first] : [];
  for (let left = eligible - first; left > 0; left -= size) sizes.push(Math.min(size, left));
  return sizes;
}

/** Whether a place is one of the canary's. */
export const isCanary = (state: FleetRunState, place: number): boolean =>
  state.canary === "open" && state.round === 0 && place < canarySize(state);

/** Whether a place belongs to waves; all others are waited for. */
export const isInWaves = (state: FleetRunState, place: number): boolean =>
  state.round > 0 || place < state.eligible || (state.eligible === 0 && place < canarySize(state));

/** Of a run that has ended its end, else the oldest reason it is paused for, else why it ends. */
export const shownReason = ({ status, reason, pause_reasons }: FleetRunState): string | null =>
  status === "paused" ? (pause_reasons[0] ?? null) : reason;

export const standingOf = ({ status, pause_reasons }: FleetRunState): Standing => ({
  status,
  pause_reasons: [...pause_reasons],
});

export const startedOf = (state: FleetRunState): StartReply => ({
  status: state.status,
  approval_id: state.approval_id,
  targets_resolved: resolvedOf(state),
  targets_skipped: state.skipped,
});

export const isOver = ({ status }: FleetRunState): boolean => isTerminal(status);
