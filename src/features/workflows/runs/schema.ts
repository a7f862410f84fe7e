/** The wire shapes of runs. The record itself is defined in `actors/workflow/run/record/record.ts`. */

import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../../../actors/kernel/json.ts";
import { Text, Time } from "../../../../actors/kernel/schema.ts";
import { RunGraph, RunGraphEdge, RunGraphNode, RunGraphStep } from "../../../../actors/workflow/run/record/graph.ts";
import { RunElement, RunRecord, ShownCompensation, WaitingFor } from "../../../../actors/workflow/run/record/record.ts";
import { RunStatus } from "../../../../actors/workflow/run/state.ts";
import { pagingQuery } from "../../../http/paging.ts";
import { ItemElement } from "./items/schema.ts";
import { WireEvent } from "./log/log.ts";
import { MigrateBody, Migrated } from "./migrating/schema.ts";

/** Thirty days: of a whole run. */
const maxSeconds = 2_592_000;
const Version = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));
const Seconds = Type.Optional(Type.Integer({ minimum: 1, maximum: maxSeconds }));

const start = {
  input: Type.Optional(AnyJson),
  blackboard: Type.Optional(AnyJson),
  context_overrides: Type.Optional(AnyJson),
  intent: Type.Optional(Text),
  attachments: Type.Optional(Type.Array(AnyJson)),
  version: Version,
  timeout: Seconds,
  timeout_seconds: Seconds,
  security_context_name: Type.Optional(Type.String({ maxLength: 256 })),
};
export const StartBody = Type.Object(start, { examples: [{ input: { topic: "the week" }, timeout_seconds: 3600 }] });
export type StartBody = Static<typeof StartBody>;

/** Of the path that names no workflow. */
export const NamedStartBody = Type.Object(
  {
    ...start,
    workflow_id: Type.Optional(Type.String({ maxLength: 256 })),
    workflow_name: Type.Optional(Type.String({ maxLength: 256 })),
  },
  { examples: [{ workflow_name: "release-notes", input: { topic: "the week" } }] },
);
export type NamedStartBody = Static<typeof NamedStartBody>;

export const StartQuery = Type.Object({ version: Version });
export type StartQuery = Static<typeof StartQuery>;

export const StartHeaders = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({ maxLength: 255, description: "Repeats under the same key are one run, for 24 hours" }),
  ),
});

/** Of a start, whichever path names the workflow. */
export const startRefusals = [
  "quota_exceeded",
  "security_context_forbidden",
  "workflow_not_found",
  "unknown_security_context",
  "invalid_attachment",
  "invalid_volume",
  "secret_not_found",
  "secret_forbidden",
  "secrets_unavailable",
  "decryption_failed",
  "depth_exceeded",
  "too_many_descendants",
  "invalid_input",
  "invalid_blackboard",
  "reserved_blackboard_key",
  "credential_not_found",
  "credential_not_granted",
  "workflow_start_failed",
  "limiter_unavailable",
] as const;

const started = {
  execution_id: Text,
  id: Text,
  workflow_id: Text,
  workflow_name: Text,
  version: Text,
  status: RunStatus,
  started_at: Time,
  temporal_workflow_id: Text,
  temporal_run_id: Text,
};
export const Started = Type.Object(started);
export const Retried = Type.Object({ ...started, retry_of: Text });

export const RetryBody = Type.Object(
  {
    from_state: Type.Optional(Type.String({ maxLength: 256, description: "The last state entered when absent" })),
  },
  { examples: [{ from_state: "REVIEW" }] },
);

export const Forked = Type.Object({ ...started, forked_from: Text });

export const ForkBody = Type.Object(
  {
    from_state: Type.String({ maxLength: 256 }),
    from_visit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "The last one when absent" })),
    blackboard_patch: Type.Optional(AnyJson),
  },
  { examples: [{ from_state: "REVIEW", from_visit: 1, blackboard_patch: { amount: 12 } }] },
);

export const RunsFilter = Type.Object({
  ...pagingQuery,
  workflow_name: Type.Optional(Type.String({ maxLength: 256 })),
  workflow_id: Type.Optional(Type.String({ maxLength: 256, description: "A UUID" })),
  status: Type.Optional(Type.String({ maxLength: 200, description: "One or several, comma-separated" })),
  parent_execution_id: Type.Optional(Type.String({ format: "uuid" })),
  schedule_id: Type.Optional(Type.String({ format: "uuid" })),
  started_after: Type.Optional(Type.String({ maxLength: 64 })),
  started_before: Type.Optional(Type.String({ maxLength: 64 })),
});
export type RunsFilter = Static<typeof RunsFilter>;

export const LogQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 }),
});

export const LogPage = Type.Object({
  execution_id: Text,
  events: Type.Array(WireEvent),
  count: Type.Integer({ description: "Of this page" }),
  limit: Type.Integer(),
  offset: Type.Integer(),
  total: Type.Integer(),
});

export const LogStreamQuery = Type.Object({
  from: Type.Optional(Type.Integer({ minimum: 0, description: "Events with a higher sequence" })),
  follow: Type.Boolean({ default: true }),
  token: Type.Optional(Text),
});

export const CancelBody = Type.Object(
  {
    reason: Type.Optional(Text),
    compensate: Type.Optional(
      Type.Boolean({ description: "Undo what was done, also where `compensate_on` does not list it" }),
    ),
  },
  { examples: [{ reason: "No longer needed" }] },
);
export const CancelRequested = Type.Object({ status: Type.Literal("cancel_requested"), execution_id: Text });

export const SignalBody = Type.Object(
  {
    response: Type.Optional(Text),
    signal_name: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    payload: Type.Optional(AnyJson),
  },
  { examples: [{ response: "approved" }] },
);
export type SignalBody = Static<typeof SignalBody>;

export const SignalAnswer = Type.Object({
  /** `buffered`: a Wait that is entered within a day takes it. */
  status: Type.Union([Type.Literal("signal_sent"), Type.Literal("buffered")]),
  execution_id: Text,
  /** The approval that it answered; absent: a Wait took it, or none waited yet. */
  approval_id: Type.Optional(Text),
});
export type SignalAnswer = Static<typeof SignalAnswer>;

export const Removed = Type.Object({
  status: Type.Literal("removed"),
  execution_id: Text,
  success: Type.Literal(true),
});

/** By the names that the API document gives them. */
export const named = {
  StartWorkflow: StartBody,
  StartNamedWorkflow: NamedStartBody,
  WorkflowStarted: Started,
  WorkflowRetried: Retried,
  RetryWorkflow: RetryBody,
  ForkWorkflow: ForkBody,
  WorkflowForked: Forked,
  MigrateWorkflows: MigrateBody,
  WorkflowsMigrated: Migrated,
  WorkflowRun: RunElement,
  WorkflowRunRecord: RunRecord,
  WorkflowRunGraph: RunGraph,
  WorkflowRunNode: RunGraphNode,
  WorkflowRunEdge: RunGraphEdge,
  WorkflowRunStep: RunGraphStep,
  WorkflowRunWait: WaitingFor,
  WorkflowRunCompensation: ShownCompensation,
  RunItem: ItemElement,
  WorkflowLog: LogPage,
  WorkflowEvent: WireEvent,
  SignalWorkflow: SignalBody,
  WorkflowSignalled: SignalAnswer,
  WorkflowCancelRequested: CancelRequested,
  WorkflowRunRemoved: Removed,
};
