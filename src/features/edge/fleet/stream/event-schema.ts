/** The data of the events of a run's stream. */
import { Type } from "@sinclair/typebox";
import { PauseReason, RunStatus, Summary } from "../../../../../actors/fleet-run/words.ts";
import { AnyJson } from "../../../../../actors/kernel/json.ts";
import { Nullable, Text, Time } from "../../../../../actors/kernel/schema.ts";
import { NamedHost, RunDocument, SkippedHost, StandingHost } from "../schema.ts";

const { outcome, targets_resolved, targets_skipped } = RunDocument.properties;
const of = { fleet_command_id: Text };
const totals = { targets_resolved, targets_skipped };

const Started = Type.Object({
  ...of,
  status: RunStatus,
  tool: Text,
  ...totals,
  resolved: Type.Array(StandingHost),
  queued: Type.Array(NamedHost),
  skipped: Type.Array(SkippedHost),
  started_at: Nullable(Time),
});

const Status = Type.Object({
  ...of,
  status: RunStatus,
  reason: Nullable(Text),
  pause_reasons: Type.Array(PauseReason),
  approval_id: Nullable(Text),
  wave: Type.Integer(),
  waves: Type.Integer(),
});

const Progress = Type.Object({
  node_id: Text,
  command_id: Text,
  chunk: Type.Union([
    Type.Object({ stdout: Text }),
    Type.Object({ stderr: Text }),
    Type.Object({
      status: Type.Union((["dispatched", "running", "cancelling"] as const).map((word) => Type.Literal(word))),
    }),
  ]),
  offset: Type.Optional(Type.Integer()),
  gap_bytes: Type.Optional(Type.Integer()),
});

const Result = Type.Object({
  node_id: Text,
  name: Text,
  command_id: Text,
  attempt: Type.Integer(),
  status: Text,
  result: Type.Union([
    Type.Object({ ok: Type.Object({ exit_code: Nullable(Type.Integer()), duration_ms: Nullable(Type.Number()) }) }),
    Type.Object({ err: Type.Object({ code: Text, message: Text, exit_code: Nullable(Type.Integer()) }) }),
    Type.Object({ timed_out: Type.Object({ deadline: Nullable(Time) }) }),
    Type.Object({ cancelled: Type.Object({ reason: Text }) }),
  ]),
  stdout_tail: Text,
  stderr_tail: Text,
  structured: AnyJson,
});

const Failure = Type.Object({ ...of, reason: Text, code: Text, message: Text });

const End = Type.Object({ ...of, status: RunStatus, outcome, reason: Nullable(Text), ...totals, summary: Summary });

/** By the names that streams carry them under. */
export const fleetEvents = {
  fleet_started: Started,
  fleet_status: Status,
  command_progress: Progress,
  command_result: Result,
  error: Failure,
  fleet_result: End,
};

export const FleetRunEvent = Type.Union([Started, Status, Progress, Result, Failure, End]);
