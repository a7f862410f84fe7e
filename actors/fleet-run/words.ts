/** Words of fleet runs. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../kernel/schema.ts";

const literals = <T extends string>(...words: readonly T[]) => Type.Union(words.map((word) => Type.Literal(word)));

export const terminalStatuses = ["complete", "halted", "cancelled"] as const;
export type TerminalStatus = (typeof terminalStatuses)[number];

export const RunStatus = literals(
  "awaiting_approval",
  "running",
  "paused",
  "halting",
  "cancelling",
  ...terminalStatuses,
);
export type RunStatus = Static<typeof RunStatus>;

export const isTerminal = (status: RunStatus): status is TerminalStatus =>
  terminalStatuses.some((word) => word === status);

/** States of the tenant that keep runs from sending. */
export const Holding = literals("dispatch_disabled", "tenant_suspended");
export type Holding = Static<typeof Holding>;

export const PauseReason = literals("requested", "canary_done", "dispatch_disabled", "tenant_suspended");
export type PauseReason = Static<typeof PauseReason>;

/** Why a run ended as it did, or ends. */
export const EndReason = literals(
  "cancelled",
  "approval_rejected",
  "approval_timed_out",
  "no_targets",
  "min_targets_unmet",
  "failure_threshold",
  "canary_failed",
  "run_deadline",
);
export type EndReason = Static<typeof EndReason>;

/** The way a run was asked for. */
export const RunEntry = literals("api", "seal", "dispatch", "mcp", "workflow");
export type RunEntry = Static<typeof RunEntry>;

export const RequestedBy = Type.Object({
  sub: Text,
  tenant_id: Text,
  entry: RunEntry,
  /** Of the agent or workflow that asked. */
  execution_id: Nullable(Text),
});
export type RequestedBy = Static<typeof RequestedBy>;

export const Summary = Type.Object({
  ok: Type.Integer(),
  err: Type.Integer(),
  timed_out: Type.Integer(),
  cancelled: Type.Integer(),
  refused: Type.Integer(),
  lost: Type.Integer(),
  expired: Type.Integer(),
  not_started: Type.Integer(),
  in_progress: Type.Integer(),
  failed: Type.Integer(),
});
export type Summary = Static<typeof Summary>;
