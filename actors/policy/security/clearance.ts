/** What policy says of a call before it runs, as the pipeline of tools hands it to what asked. */
import { type Static, Type } from "@sinclair/typebox";
import { JsonObject } from "../../kernel/json.ts";
import { Nullable, Text } from "../../kernel/schema.ts";
import { ToolEntry } from "../../tool/catalog.ts";
import { ToolApproval } from "./spec.ts";

/** A person is to be asked before the call runs; its `when` was evaluated. */
export const AskedApproval = Type.Object({
  from: Type.Union([
    /** Of one of the security contexts that bind the call. */
    Type.Object({ context: Text, capability_index: Type.Integer({ minimum: 0 }) }),
    Type.Literal("manifest"),
  ]),
  approval: ToolApproval,
});
export type AskedApproval = Static<typeof AskedApproval>;

/** Common to all. */
const judged = {
  /** A UUIDv7. */
  invocation_id: Text,
  /** As it is registered; as the caller wrote it where no tool answers to the name. */
  tool: Text,
  /** Of the arguments as they were judged; absent: not known. */
  arguments_sha256: Type.Optional(Text),
  /** Name of the context that the call was judged by, and its version; null: none could be read. */
  context: Text,
  context_version: Nullable(Type.Integer()),
  /** Of the governing capability; null: none governs. */
  capability_index: Nullable(Type.Integer()),
};

/** Policy forbids it. */
export const RefusedCall = Type.Object({
  is: Type.Literal("refused"),
  ...judged,
  /** 2000 to 2009. */
  error_code: Type.Integer(),
  code: Text,
  violation_type: Text,
  message: Text,
  /** What was attempted: the tool's name, a path, a command, a host. */
  attempted: Text,
  /** As callers are told them: `constraint`, `allowed`, `limit_source`, `retry_after_seconds` and others. */
  details: JsonObject,
});
export type RefusedCall = Static<typeof RefusedCall>;

/** It cannot be a call: no such tool (`unknown_tool`), arguments that do not fit (`invalid_arguments`, with issues). */
export const FailedCall = Type.Object({
  is: Type.Literal("failed"),
  ...judged,
  code: Text,
  message: Text,
  issues: Type.Optional(Type.Array(JsonObject)),
});
export type FailedCall = Static<typeof FailedCall>;

/** A place among the calls that run at once, as a capability counts them. */
export const CallPlace = Type.Object({
  context: Text,
  version: Type.Integer(),
  index: Type.Integer({ minimum: 0 }),
  /** As many calls as may run. */
  most: Type.Integer({ minimum: 1 }),
});
export type CallPlace = Static<typeof CallPlace>;

/** It may run, once the people and judges that are asked agree. */
export const ClearedCall = Type.Object({
  is: Type.Literal("cleared"),
  ...judged,
  entry: ToolEntry,
  /** In the order in which they are asked: those of the contexts, then the manifest's. */
  approvals: Type.Array(AskedApproval),
  max_timeout_secs: Type.Integer(),
  /** Bytes. */
  max_response_size: Type.Integer(),
  /** Of a command of a loop, which the bootstrap runs: the places that it takes meanwhile. */
  places: Type.Optional(Type.Array(CallPlace)),
  /** It is addressed to an edge host, as a run of its own; in a loop the run has the invocation's id. */
  on_host: Type.Optional(Type.Literal(true)),
  /** Of a command of a loop: path rules bind its working directory, which may be a link; it is looked at just before the command runs. */
  directory_bound: Type.Optional(Type.Literal(true)),
});
export type ClearedCall = Static<typeof ClearedCall>;

/** What every clearance says. */
export type JudgedCall = Pick<
  ClearedCall,
  "invocation_id" | "tool" | "arguments_sha256" | "context" | "context_version" | "capability_index"
>;

export const CallClearance = Type.Union([RefusedCall, FailedCall, ClearedCall]);
export type CallClearance = Static<typeof CallClearance>;
