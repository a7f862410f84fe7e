/** The wire shapes of executions. The record itself is defined beside its fold, in `actors/execution/record/record.ts`. */

import { type Static, Type } from "@sinclair/typebox";
import { AgentLifecycleEvent } from "../../../actors/agent/lifecycle.ts";
import { Status } from "../../../actors/execution/messages.ts";
import { IterationSummary } from "../../../actors/execution/record/history.ts";
import { IterationRecord } from "../../../actors/execution/record/iteration-record.ts";
import { ExecutionElement, ExecutionRecord } from "../../../actors/execution/record/record.ts";
import { ExecutionEvent } from "../../../actors/execution/record/wire-events.ts";
import { ShownStarter } from "../../../actors/identity/starter.ts";
import { AnyJson, type Json } from "../../../actors/kernel/json.ts";
import { Nullable, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";

export const maxOverridesBytes = 256 * 1024;
/** The longest a request may wait for an execution's end. */
export const maxWaitSeconds = 60;

const WaitSeconds = Type.Optional(Type.Integer({ minimum: 0, maximum: maxWaitSeconds }));
const Version = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }));

const start = {
  /** Null is refused by the start itself. */
  input: Type.Unsafe<Json>({ ...AnyJson, description: "Any JSON but null" }),
  intent: Type.Optional(Type.String({ maxLength: 10_000 })),
  version: Version,
  timeout_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
  max_iterations: Type.Optional(Type.Integer({ minimum: 1, description: "Lowers the manifest's" })),
  max_tokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: "Prompts and replies together; lowers the manifest's `execution.max_tokens`",
    }),
  ),
  labels: Type.Optional(
    // Keys are measured by `checkLabels`: a record's schema says nothing about their length.
    Type.Record(Type.String(), Type.String({ maxLength: 256 }), { maxProperties: 16 }),
  ),
  security_context: Type.Optional(Type.String({ maxLength: 256 })),
  security_context_name: Type.Optional(Type.String({ maxLength: 256 })),
  wait_seconds: WaitSeconds,
  context_overrides: Type.Optional(AnyJson),
  attachments: Type.Optional(Type.Array(AnyJson)),
};
export const StartBody = Type.Object(
  { agent_id: Type.Optional(AnyJson), ...start },
  { examples: [{ input: "Summarise the week", wait_seconds: 30 }] },
);
export type StartBody = Static<typeof StartBody>;

/** Of the path that names no agent. A text that is no UUID is told apart from none by the route. */
export const NamedStartBody = Type.Object(
  { agent_id: Type.Unsafe<Json>({ ...AnyJson, description: "The agent's UUID" }), ...start },
  {
    examples: [
      { agent_id: "0190f3c4-6d1e-7a55-9c1f-2f6d0c5b8e11", input: { topic: "the week" }, labels: { team: "red" } },
    ],
  },
);

export const StartQuery = Type.Object({ version: Version, wait_seconds: WaitSeconds });
export type StartQuery = Static<typeof StartQuery>;

/** What a start is told by headers. */
export const StartHeaders = Type.Object({
  Prefer: Type.Optional(
    Type.String({
      description: `\`wait=N\`: hold the answer up to N seconds, at most ${maxWaitSeconds}, until the execution has ended. \`wait_seconds\` is stronger. Where it counts, the answer says \`Preference-Applied: wait=N\`.`,
    }),
  ),
  "Idempotency-Key": Type.Optional(
    Type.String({ maxLength: 255, description: "Repeats under the same key are one execution, for 24 hours" }),
  ),
});

export const Started = Type.Object({
  execution_id: Type.String(),
  id: Type.String(),
  agent_id: Type.String(),
  agent_version: Type.String(),
  status: Status,
  output: Nullable(Type.String()),
  created_at: Time,
});
export type Started = Static<typeof Started>;

/** What a retry may change; everything else is as the execution was asked for. */
export const RetryBody = Type.Object({
  /** Any JSON but null; absent: the same again. */
  input: Type.Optional(AnyJson),
  version: Version,
});
export type RetryBody = Static<typeof RetryBody>;

export const Retried = Type.Composite([Started, Type.Object({ retry_of: Type.String() })]);

export const ExecutionFilter = Type.Object({
  ...pagingQuery,
  agent_id: Type.Optional(Type.String({ format: "uuid" })),
  status: Type.Optional(Type.String({ maxLength: 200, description: "One or several, comma-separated" })),
  workflow_name: Type.Optional(Type.String({ maxLength: 256 })),
  workflow_execution_id: Type.Optional(Type.String({ maxLength: 256 })),
  parent_execution_id: Type.Optional(Type.String({ maxLength: 256 })),
  label: Type.Optional(Type.Array(Type.String({ maxLength: 400 }), { maxItems: 16, description: "key=value" })),
  started_after: Type.Optional(Type.String({ maxLength: 64 })),
  started_before: Type.Optional(Type.String({ maxLength: 64 })),
});
export type ExecutionFilter = Static<typeof ExecutionFilter>;

export const RecordQuery = Type.Object({
  include: Type.Optional(Type.String({ maxLength: 100, description: "`llm`: prompts and responses" })),
  wait_seconds: WaitSeconds,
});

export const StreamQuery = Type.Object({
  from: Type.Optional(Type.Integer({ minimum: 0, description: "Events with a higher id" })),
  follow: Type.Boolean({ default: true }),
  events: Type.Optional(Type.String({ maxLength: 2000, description: "Event names, comma-separated" })),
  verbose: Type.Boolean({
    default: false,
    description: "Prompts, responses, arguments and results of tool calls, with scope execution:logs",
  }),
  format: Type.Union([Type.Literal("single"), Type.Literal("flat")], { default: "single" }),
  token: Type.Optional(Type.String()),
});
export type StreamQuery = Static<typeof StreamQuery>;

export const CancelBody = Type.Object(
  { reason: Type.Optional(Type.String({ maxLength: 1000 })) },
  { examples: [{ reason: "No longer needed" }] },
);

export const Cancelled = Type.Object({
  status: Type.Literal("cancelled"),
  success: Type.Literal(true),
  execution_id: Type.String(),
  reason: Nullable(Type.String()),
  cancelled_at: Time,
});

export const Deleted = Type.Object({
  status: Type.Literal("deleted"),
  success: Type.Literal(true),
  execution_id: Type.String(),
});

/** An agent's stream carries its own events and those of its executions. */
export const AgentStreamEvent = Type.Union([AgentLifecycleEvent, ExecutionEvent]);

/** By the names that the API document gives them. */
export const named = {
  StartExecution: StartBody,
  StartNamedExecution: NamedStartBody,
  ExecutionStarted: Started,
  RetryExecution: RetryBody,
  ExecutionRetried: Retried,
  Execution: ExecutionElement,
  ExecutionRecord,
  IterationRecord,
  IterationSummary,
  Starter: ShownStarter,
  ExecutionEvent,
  AgentStreamEvent,
  CancelExecution: CancelBody,
  ExecutionCancelled: Cancelled,
  ExecutionDeleted: Deleted,
};
