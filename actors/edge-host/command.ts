/** What runs and hosts tell each other of commands, and what is put on record of each. */
import { type Static, Type } from "@sinclair/typebox";
import { Trace } from "../edge/frames.ts";
import { defineFact } from "../kernel/effect.ts";
import { AnyJson } from "../kernel/json.ts";
import { message } from "../kernel/message.ts";
import { Milliseconds, Nullable, Text } from "../kernel/schema.ts";

const literals = <T extends string>(...words: readonly T[]) => Type.Union(words.map((word) => Type.Literal(word)));

/** How a command ended. `not_started`: it was never sent. */
export const CommandEnd = literals("ok", "err", "timed_out", "cancelled", "refused", "lost", "expired", "not_started");
export type CommandEnd = Static<typeof CommandEnd>;

/** As its row has it. */
export const CommandStatus = Type.Union([literals("pending", "dispatched", "running"), ...CommandEnd.anyOf]);
export type CommandStatus = Static<typeof CommandStatus>;

const ends: ReadonlySet<string> = new Set(CommandEnd.anyOf.map((word) => word.const));
export const isEnd = (status: CommandStatus | undefined): status is CommandEnd =>
  status !== undefined && ends.has(status);

/** Kinds of errors that the service states; all others are the daemon's. */
export const serviceErrorKinds = [
  "edge_disconnected",
  "no_response",
  "journal_lost",
  "offline_ttl",
  "revoked",
] as const;

/** The reason of commands of a host that was revoked meanwhile. */
export const revokedReason = "RevokedDuringDispatch";

const Place = {
  /** Of the target within its run. */
  idx: Type.Integer({ minimum: 0 }),
  /** Round of retries, from 1. */
  attempt: Type.Integer({ minimum: 1 }),
};

/** A command could start now: the run answers with `go` once it wants that. Told again where it could not after all. */
export const CommandReady = Type.Object(Place);
export type CommandReady = Static<typeof CommandReady>;

/** A command has ended; told once for each. Tails and results are in its row. */
export const CommandEnded = Type.Object({
  ...Place,
  command_id: Text,
  status: CommandEnd,
  error_kind: Nullable(Text),
  exit_code: Nullable(Type.Integer()),
  duration_ms: Nullable(Milliseconds),
  reason: Nullable(Text),
});
export type CommandEnded = Static<typeof CommandEnded>;

/** What an actor `fleet-run` takes from hosts. */
export const runMessages = {
  command_ready: message({ body: CommandReady }),
  command_ended: message({ body: CommandEnded }),
};

/** Runs, as far as hosts tell them anything. */
export const fleetRuns = { kind: "fleet-run", messages: runMessages } as const;

/** What a daemon reported of an ended command, as its row keeps it. Times are Unix milliseconds. */
export const CommandResult = Type.Object({
  exit_code: Nullable(Type.Integer()),
  duration_ms: Nullable(Milliseconds),
  started_at: Nullable(Milliseconds),
  stdout_tail: Text,
  stderr_tail: Text,
  stdout_bytes: Milliseconds,
  stderr_bytes: Milliseconds,
  truncated: Type.Boolean(),
  structured: AnyJson,
  error_kind: Nullable(Text),
  error_message: Nullable(Text),
});
export type CommandResult = Static<typeof CommandResult>;

/** What becomes of a command; what is absent stays. Several of one command in one commit count as one. */
export const commandFact = defineFact(
  "edge_command",
  Type.Union([
    Type.Object({
      id: Text,
      run_id: Text,
      ...Place,
      host_id: Text,
      tool: Text,
      status: CommandStatus,
      epoch: Type.Optional(Type.Integer()),
      dispatched_at: Type.Optional(Milliseconds),
      started_at: Type.Optional(Milliseconds),
      ended_at: Type.Optional(Milliseconds),
      error_kind: Type.Optional(Nullable(Text)),
      reason: Type.Optional(Nullable(Text)),
      result: Type.Optional(CommandResult),
    }),
    /** A result of a command that the host has no more: it fills what is empty where the service had lost it. */
    Type.Object({ id: Text, host_id: Text, late: CommandResult }),
  ]),
);
export type CommandFact = Static<typeof commandFact.fact>;

/** A frame to be sent over the link of this epoch, or all frames of earlier ones, which are void. */
export const frameFact = defineFact(
  "edge_frame",
  Type.Union([
    Type.Object({
      host_id: Text,
      epoch: Type.Integer(),
      /** The owner. */
      node: Text,
      kind: Type.Literal("invoke"),
      command_id: Text,
      run_id: Text,
      attempt: Type.Integer(),
      not_after: Milliseconds,
      timeout_ms: Milliseconds,
      max_output_bytes: Milliseconds,
    }),
    Type.Object({
      host_id: Text,
      epoch: Type.Integer(),
      node: Text,
      kind: Type.Literal("cancel"),
      command_id: Text,
      reason: Text,
    }),
    Type.Object({ host_id: Text, kind: Type.Literal("void"), before_epoch: Type.Integer() }),
  ]),
);
export type FrameFact = Static<typeof frameFact.fact>;

/** What the invoke frames of a run have in common; stated by the turn that starts the run. */
export const runArgsFact = defineFact(
  "edge_run_args",
  Type.Object({
    run_id: Text,
    tool: Text,
    /** JSON of an object. */
    args: Text,
    security_context: Nullable(Text),
    requested_by: Type.Object({ sub: Text, tenant_id: Text }),
    trace: Nullable(Trace),
  }),
);
export type RunArgsFact = Static<typeof runArgsFact.fact>;
