/** What a tool call that waits for people is made of between two turns. */
import { type Static, Type } from "@sinclair/typebox";
import { CallArguments } from "../approval/tool-call.ts";
import { JsonObject } from "../kernel/json.ts";
import { Milliseconds, Nullable, Text } from "../kernel/schema.ts";
import { iso } from "../kernel/time.ts";
import { AskedApproval } from "../policy/security/clearance.ts";
import { CallOutcome, KeptCall, type Opened } from "./messages.ts";

const Status = Type.Union(
  (["waiting", "running", "answered", "withdrawn"] as const).map((status) => Type.Literal(status)),
);

/** Who is not to be asked again about calls of the tool. */
const Grant = Type.Object({
  tool: Text,
  from: Text,
  /** Of the arguments; null: any. */
  sha256: Nullable(Text),
});

export const ToolCallState = Type.Object({
  call: KeptCall,
  /** As people see them; those of an edit once there is one. */
  shown: CallArguments,
  /** Of an edit: those who are asked about it, the one who made it first. */
  asked: Type.Array(AskedApproval),
  /** How many of them have agreed. */
  agreed: Type.Integer(),
  /** That is open, or was the last. */
  approval_id: Text,
  /** All that agreed, and the open one. */
  approvals: Type.Array(Text),
  expires_at: Milliseconds,
  status: Status,
  edited: Nullable(JsonObject),
  outcome: Nullable(CallOutcome),
  ended_at: Nullable(Milliseconds),
  /** Approvals that were given, also to arguments that were changed since; absent: the first `agreed` ones. */
  given: Type.Optional(Type.Array(Text)),
  /** How often approvers changed the arguments; absent: never. */
  edits: Type.Optional(Type.Integer()),
  /** What approvers have granted with it to a caller without an execution; absent: nothing. */
  grants: Type.Optional(Type.Array(Grant)),
  /** Its run on a host, which asks people itself; absent: it has none, or has not asked. */
  run: Type.Optional(Type.Object({ id: Text, is_open: Type.Boolean() })),
});
export type ToolCallState = Static<typeof ToolCallState>;

/** What its caller is told while people are asked. */
export const openedOf = (state: ToolCallState | null): Opened | null =>
  state?.status === "waiting" ? { approval_id: state.approval_id, expires_at: iso(state.expires_at) } : null;

/** A call that no person has been asked about yet. */
export const newCall = (call: KeptCall, shown: CallArguments, asked: readonly AskedApproval[]): ToolCallState => ({
  ...{ call, shown, asked: [...asked], agreed: 0, approval_id: "", approvals: [], expires_at: 0 },
  ...{ status: "waiting", edited: null, outcome: null, ended_at: null, given: [] },
});
