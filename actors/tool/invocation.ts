/** A call of a tool as the record has it; what a loop calls is put on record by the turns that begin and end it. */
import { type Static, Type } from "@sinclair/typebox";
import { defineFact } from "../kernel/effect.ts";
import { Nullable, Text } from "../kernel/schema.ts";

const literals = <T extends string>(...words: readonly T[]) => Type.Union(words.map((word) => Type.Literal(word)));

/** The way a call came: a signed envelope, an agent's loop, the service's own MCP endpoint, a state of a workflow. */
export const InvocationEntry = literals("seal", "dispatch", "mcp", "workflow");
export type InvocationEntry = Static<typeof InvocationEntry>;

export const InvocationOutcome = literals("waiting", "running", "success", "failed", "interrupted", "withdrawn");
export type InvocationOutcome = Static<typeof InvocationOutcome>;

/** What is known once policy has spoken. */
const InvocationBegin = Type.Object({
  execution_id: Nullable(Text),
  iteration_number: Nullable(Type.Integer()),
  agent_id: Nullable(Text),
  /** Of an execution that belongs to a workflow: its name. */
  workflow_name: Nullable(Text),
  session_id: Nullable(Text),
  principal: Text,
  entry: InvocationEntry,
  tool_name: Text,
  /** JSON, without secrets, at most `keptArgumentBytes` of it. */
  arguments: Text,
  /** Of the whole of them; null: not known. */
  arguments_sha256: Nullable(Text),
  decision: literals("allow", "deny"),
  security_context: Text,
  context_version: Nullable(Type.Integer()),
  capability_index: Nullable(Type.Integer()),
  request_id: Nullable(Text),
});
export type InvocationBegin = Static<typeof InvocationBegin>;

/** What changes afterwards; what is absent stays. */
const InvocationChange = Type.Object({
  outcome: InvocationOutcome,
  /** Of a refusal or a failure. */
  code: Type.Optional(Nullable(Text)),
  violation_type: Type.Optional(Nullable(Text)),
  /** It has ended, and its tool was reached: it counts as used. */
  ran: Type.Optional(Type.Literal(true)),
  /** Policy refused it after it was let through: while it ran, or today where it was approved before. */
  decision: Type.Optional(Type.Literal("deny")),
  approval_id: Type.Optional(Text),
  /** As `arguments`: those that an approver put in their place. */
  edited_arguments: Type.Optional(Text),
  duration_ms: Type.Optional(Type.Integer()),
  result_bytes: Type.Optional(Type.Integer()),
  /** Where the execution's log has the result. */
  result_log: Type.Optional(Text),
  result_seq: Type.Optional(Type.Integer()),
});
export type InvocationChange = Static<typeof InvocationChange>;

/** Longest arguments on record, bytes of JSON. */
export const keptArgumentBytes = 16_384;

/** A call begins, with `begin`; or it goes on. Several of one call in one commit count as one. */
export const invocationFact = defineFact(
  "tool_invocation",
  Type.Object({ id: Text, begin: Type.Optional(InvocationBegin), change: InvocationChange }),
);
export type InvocationFact = Static<typeof invocationFact.fact>;

/** Whether nothing more becomes of a call. */
export const isEnded = (outcome: InvocationOutcome): boolean => outcome !== "waiting" && outcome !== "running";
