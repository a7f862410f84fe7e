/** Everything a workflow run can be told or asked, and what it answers. */
import { type Static, Type } from "@sinclair/typebox";
import { ApprovalDecided } from "../../approval/messages.ts";
import { outcomeOf } from "../../execution/activities.ts";
import { ChildEnd } from "../../execution/child.ts";
import { AnyJson, JsonObject } from "../../kernel/json.ts";
import { Definition } from "../definition.ts";
import { AgentStarted, CommandEnded, RunStarted, WebhookAnswered } from "./activities.ts";
import { RunHeader, RunStatus } from "./state.ts";

/** The kind of actor a run is. */
export const WORKFLOW = "workflow";

const Nothing = Type.Object({});
const Entry = Type.Object({ entry: Type.Integer() });

/** What the last turn of a sub-workflow tells its parent. */
export const RunEnd = Type.Object({
  child_execution_id: Type.String(),
  workflow_id: Type.String(),
  status: RunStatus,
  /** Entries into states. */
  iterations: Type.Integer(),
  final_state: Type.Union([Type.String(), Type.Null()]),
  /** The last state's result. */
  output: AnyJson,
  final_output: AnyJson,
  blackboard: JsonObject,
  /** For people. */
  error: Type.Union([Type.String(), Type.Null()]),
  error_code: Type.Union([Type.String(), Type.Null()]),
});
export type RunEnd = Static<typeof RunEnd>;

export const messages = {
  /** ask → StartReply. The same again gets the same reply. `overrides` and `input` were judged already. */
  start: Type.Object({
    header: RunHeader,
    definition: Definition,
    input: AnyJson,
    overrides: JsonObject,
    /** Of a retry: the earlier run's blackboard and results, and the state to enter. */
    resume: Type.Union([
      Type.Object({ blackboard: JsonObject, outputs: Type.Array(Type.String()), state: Type.String() }),
      Type.Null(),
    ]),
  }),
  /** To itself: finishes a state that needs nobody. */
  advance: Entry,
  command_ended: CommandEnded,
  agent_started: AgentStarted,
  /** By the last turn of a child execution. */
  child_ended: ChildEnd,
  run_started: RunStarted,
  run_ended: RunEnd,
  webhook_answered: WebhookAnswered,
  /** By the approval's deciding turn, in one commit with it. */
  approval_decided: ApprovalDecided,
  cleaned_up: outcomeOf(AnyJson),
  /** Timers. */
  state_overdue: Entry,
  deadline: Nothing,
  /** ask → CancelReply. Repeatable. */
  cancel: Type.Object({ reason: Type.Union([Type.String(), Type.Null()]) }),
  /** ask → PauseReply. Repeatable. */
  pause: Nothing,
  resume: Nothing,
  /** ask → EraseReply: cancels it if need be; its record and its events go. */
  erase: Nothing,
};

export const StartReply = Type.Object({
  accepted: Type.Literal(true),
  execution_id: Type.String(),
  status: RunStatus,
  /** ISO 8601. */
  started_at: Type.String(),
});
export type StartReply = Static<typeof StartReply>;

export const CancelReply = Type.Union([
  Type.Object({ outcome: Type.Literal("cancelled") }),
  Type.Object({ outcome: Type.Literal("already_terminal"), status: RunStatus }),
  Type.Object({ outcome: Type.Literal("unknown") }),
]);
export type CancelReply = Static<typeof CancelReply>;

export const PauseReply = Type.Union([
  Type.Object({ outcome: Type.Literal("done") }),
  Type.Object({ outcome: Type.Literal("already_terminal"), status: RunStatus }),
  Type.Object({ outcome: Type.Literal("unknown") }),
]);
export type PauseReply = Static<typeof PauseReply>;

export const EraseReply = Type.Object({ outcome: Type.Union([Type.Literal("erased"), Type.Literal("unknown")]) });
export type EraseReply = Static<typeof EraseReply>;
