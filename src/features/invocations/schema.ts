/** Records of tool calls on the wire. */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../../actors/kernel/json.ts";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import { InvocationEntry, InvocationOutcome } from "../../../actors/tool/invocation.ts";
import { pagingQuery } from "../../http/paging.ts";

const Decision = Type.Union([Type.Literal("allow"), Type.Literal("deny")]);

export const InvocationRecord = Type.Object(
  {
    id: Text,
    tenant_id: Text,
    execution_id: Nullable(Text),
    iteration_number: Nullable(Type.Integer()),
    agent_id: Nullable(Text),
    session_id: Nullable(Text),
    entry: InvocationEntry,
    tool_name: Text,
    arguments: Type.Unsafe<Static<typeof AnyJson>>({
      ...AnyJson,
      description: "Without secrets; of more than 16 KiB the beginning, as `{trimmed}`",
    }),
    arguments_sha256: Nullable(Text),
    edited_arguments: Type.Unsafe<Static<typeof AnyJson>>({
      ...AnyJson,
      description: "Those that an approver put in their place; null: none",
    }),
    decision: Decision,
    code: Nullable(Text),
    violation_type: Nullable(Text),
    security_context: Nullable(Text),
    context_version: Nullable(Type.Integer()),
    capability_index: Nullable(Type.Integer()),
    approval_id: Nullable(Text),
    outcome: InvocationOutcome,
    count: Type.Integer({ description: "Equal refusals of one caller within a minute share a record" }),
    duration_ms: Nullable(Type.Integer()),
    result_bytes: Nullable(Type.Integer()),
    started_at: Time,
    request_id: Nullable(Text),
  },
  { description: "A call of a tool: what was asked, what policy said, what became of it" },
);
export type InvocationRecord = Static<typeof InvocationRecord>;

export const OneInvocation = Type.Composite([
  InvocationRecord,
  Type.Object({
    result: Type.Unsafe<Static<typeof AnyJson>>({
      ...AnyJson,
      description: "As the caller was told; null: there is none yet, or the call ended more than 24 h ago",
    }),
  }),
]);
export type OneInvocation = Static<typeof OneInvocation>;

const Word = Type.Optional(Type.String({ maxLength: 256 }));
export const InvocationFilter = Type.Object({
  ...pagingQuery,
  execution_id: Word,
  session_id: Word,
  tool_name: Word,
  decision: Type.Optional(Decision),
  outcome: Type.Optional(InvocationOutcome),
  since: Type.Optional(Type.String({ maxLength: 64 })),
  until: Type.Optional(Type.String({ maxLength: 64 })),
});
export type InvocationFilter = Static<typeof InvocationFilter>;

export const named = { ToolInvocation: InvocationRecord, ToolInvocationDetail: OneInvocation };
