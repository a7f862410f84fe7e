/** Everything a workflow run can be told or asked, and what it answers. */
import { type Static, Type } from "@sinclair/typebox";
import { ownerMessages } from "../../approval/messages.ts";
import { parentMessages, workflowRunKind } from "../../execution/child.ts";
import { outcomeOf } from "../../kernel/activity.ts";
import { AuditedBy } from "../../kernel/audit.ts";
import { AnyJson, JsonObject } from "../../kernel/json.ts";
import { type BodyOf, defineProtocol, message } from "../../kernel/message.ts";
import { Nothing, Nullable } from "../../kernel/schema.ts";
import { Definition } from "../definition.ts";
import { admission } from "./activities/admission.ts";
import { fleetMessages } from "./activities/fleet-results.ts";
import { httpMessages } from "./activities/http-call.ts";
import { stimulusMessages } from "./activities/stimulus.ts";
import { toolMessages } from "./activities/tool-call.ts";
import { agentStart, cleanup, commandRun, runStart, webhookCall } from "./activities.ts";
import { mapMessages } from "./map/messages.ts";
import { BufferedSignal, signalMessages } from "./signals/messages.ts";
import { DeployedBy, RunHeader, RunStatus } from "./state.ts";

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

export const MigrateReply = Type.Union([
  Type.Object({ outcome: Type.Literal("migrated") }),
  Type.Object({
    outcome: Type.Literal("refused"),
    code: Type.Union([Type.Literal("not_waiting"), Type.Literal("state_missing"), Type.Literal("state_changed")]),
    message: Type.String(),
  }),
  Type.Object({ outcome: Type.Literal("unknown") }),
]);
export type MigrateReply = Static<typeof MigrateReply>;

const EraseReply = Type.Object({ outcome: Type.Union([Type.Literal("erased"), Type.Literal("unknown")]) });
export type EraseReply = Static<typeof EraseReply>;

export const workflowRunProtocol = defineProtocol({
  kind: workflowRunKind,
  version: 7,
  messages: {
    /** The same again gets the same reply. `overrides` and `input` were judged already. */
    start: message({
      body: Type.Object({
        header: RunHeader,
        definition: Definition,
        input: AnyJson,
        overrides: JsonObject,
        /** Of a retry: the earlier run's blackboard and results, and the state to enter. */
        resume: Nullable(
          Type.Object({ blackboard: JsonObject, outputs: Type.Array(Type.String()), state: Type.String() }),
        ),
      }),
      reply: StartReply,
    }),
    /** By the run that it follows, in the commit of that one's end. */
    follow: message({
      body: Type.Object({
        header: RunHeader,
        definition: Definition,
        input: AnyJson,
        /** That came before their Waits, oldest first. */
        signals: Type.Array(BufferedSignal),
      }),
    }),
    /** To itself: finishes a state whose work needs no other actor and no activity. */
    advance: message({ body: Entry }),
    /** Outcomes of activities. */
    command_ended: message({ body: outcomeOf(commandRun) }),
    agent_started: message({ body: outcomeOf(agentStart) }),
    run_started: message({ body: outcomeOf(runStart) }),
    webhook_answered: message({ body: outcomeOf(webhookCall) }),
    cleaned_up: message({ body: outcomeOf(cleanup) }),
    admitted: message({ body: outcomeOf(admission) }),
    ...toolMessages,
    ...fleetMessages,
    ...httpMessages,
    ...mapMessages,
    ...stimulusMessages,
    ...signalMessages,
    /** By the last turn of a child execution. */
    ...parentMessages,
    /** By the last turn of a sub-workflow. */
    run_ended: message({ body: RunEnd }),
    /** By the approval's deciding turn, in one commit with it. */
    ...ownerMessages,
    /** Timers. */
    state_overdue: message({ body: Entry }),
    retry_due: message({ body: Entry }),
    call_due: message({ body: Entry }),
    deadline: message({ body: Nothing }),
    /**
     * Repeatable, like the three that follow. `compensate`: whether what was done is undone; absent: as the definition
     * says. False ends compensations under way as well.
     */
    cancel: message({
      body: Type.Object({ reason: Nullable(Type.String()), compensate: Type.Optional(Type.Boolean()) }),
      reply: CancelReply,
    }),
    pause: message({ body: Nothing, reply: PauseReply }),
    resume: message({ body: Nothing, reply: PauseReply }),
    /** Lets it go on in another version of its workflow. Repeatable. */
    migrate: message({
      body: Type.Object({
        to: Type.Object({
          workflow_id: Type.String(),
          version: Type.String(),
          definition: Definition,
          /** Security contexts that bind what its runs start. */
          ceilings: Type.Array(Type.String()),
          deployed_by: Type.Optional(DeployedBy),
        }),
        by: AuditedBy,
      }),
      reply: MigrateReply,
    }),
    /** Cancels it if need be; its record and its events go. `by` is absent where its time is over. */
    erase: message({ body: Type.Object({ by: Type.Optional(AuditedBy) }), reply: EraseReply }),
  },
});
export type WorkflowRunMessages = typeof workflowRunProtocol.messages;
/** The body of one of them. */
export type NewsOf<T extends keyof WorkflowRunMessages> = BodyOf<WorkflowRunMessages[T]>;
