/**
 * The life of a stimulus (docs/reference/stimuli.md): what each message may do in each state. Rows change only by
 * statements that look at the state once more; what they are to do is decided here.
 */
import { type Static, Type } from "@sinclair/typebox";

export const StimulusStatus = Type.Union([
  Type.Literal("received"),
  Type.Literal("classified"),
  Type.Literal("rejected"),
  Type.Literal("classification_failed"),
  Type.Literal("start_failed"),
  Type.Literal("discarded"),
]);
export type StimulusStatus = Static<typeof StimulusStatus>;

/** Ended without a run. */
export type FailedStatus = "rejected" | "classification_failed" | "start_failed";

/** Whether it ended without a run and was not given up. */
export const isFailed = (status: StimulusStatus): status is FailedStatus =>
  status === "rejected" || status === "classification_failed" || status === "start_failed";

const failedStatuses: Readonly<Record<string, FailedStatus>> = {
  classification_failed: "rejected",
  no_router_configured: "rejected",
  unknown_workflow: "classification_failed",
  classification_parse_error: "classification_failed",
  router_agent_failed: "classification_failed",
};

/** How a stimulus ends that failed with this code: every code that is none of the routing's is a fault of the start. */
export function failedStatusOf(code: string): FailedStatus {
  return Object.hasOwn(failedStatuses, code) ? (failedStatuses[code] ?? "start_failed") : "start_failed";
}

/** Failed attempts after which a stimulus that is processed in the background ends. */
export const maxAttempts = 5;
const firstPauseMs = 10_000;

/** An attempt that failed. */
export interface FailedAttempt {
  readonly acknowledge: "routed" | "received";
  /** Attempts that failed before it: those that an outage or the end of a node cut off are none. */
  readonly failures: number;
  readonly code: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * When it is tried again; null: it ends with this failure. Only a stimulus that no caller waits for is tried again, and only after
 * faults that may pass: the router agent's, the start's, a rate that was used up.
 */
export function retryAt({ acknowledge, failures, code, now }: FailedAttempt): number | null {
  const mayPass = code === "router_agent_failed" || failedStatusOf(code) === "start_failed";
  if (acknowledge !== "received" || failures + 1 >= maxAttempts || !mayPass) return null;
  return now + firstPauseMs * 2 ** failures;
}

/** A stimulus that is to be replayed. */
export interface Replayable {
  readonly status: StimulusStatus;
  /** A replay of it started a run. */
  readonly replayed: boolean;
  /** Whether it came with an idempotency key: who holds that decides then whether it went through already. */
  readonly keyed: boolean;
  /** Another replay of it is under way. */
  readonly replaying: boolean;
}

export type ReplayRefusal = "stimulus_in_progress" | "stimulus_already_routed" | "stimulus_discarded";

/** Why it may not be replayed; null: it may, unless its key is held. */
export function replayRefusal(stimulus: Replayable, force: boolean): ReplayRefusal | null {
  if (stimulus.status === "received") return "stimulus_in_progress";
  if (force) return null;
  if (stimulus.status === "discarded") return "stimulus_discarded";
  if (stimulus.status === "classified" || (stimulus.replayed && !stimulus.keyed)) return "stimulus_already_routed";
  return stimulus.replaying ? "stimulus_in_progress" : null;
}

/** What discarding comes to: `nothing` where that was done before. */
export function discardOf({ status, deadLetter }: { readonly status: StimulusStatus; readonly deadLetter: boolean }) {
  if (status === "discarded") return "nothing";
  return deadLetter ? "discard" : "not_a_dead_letter";
}
