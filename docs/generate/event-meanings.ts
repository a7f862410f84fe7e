/** What each event tells. The compiler asks for every one that exists. */
import type { EventName } from "../../actors/execution/events.ts";
import type { EventType } from "../../actors/workflow/run/record/events.ts";
import type { fleetEvents } from "../../src/features/edge/fleet/stream/event-schema.ts";

export const executionMeanings: Readonly<Record<EventName, string>> = {
  execution_started: "it has its slot and begins",
  iteration_started: "an iteration begins",
  iteration_completed: "its instance has answered",
  iteration_rejected: "a check was not met; `feedback` goes into the next iteration",
  iteration_failed: "it ended with a fault",
  iteration_restarted: "its instance was lost; the iteration begins again",
  refinement_applied: "what the next iteration is told about the one before",
  console_output: "what the agent or a command of it wrote",
  llm_interaction: "a model call that was answered",
  llm_call_failed: "a model call that was not",
  rate_limit_warning: "most of a rate is used up; once for each window",
  tool_call_started: "a tool call begins",
  tool_call_completed: "it has ended; `exit_code` of a command",
  tool_call_waiting: "people are asked about it",
  tool_call_approved: "it was approved",
  tool_call_rejected: "it was rejected",
  tool_call_withdrawn: "the question is off",
  policy_violation: "a call was not allowed",
  execution_warning: "a warning of the record, once for each code",
  egress_blocked: "a connection was not allowed",
  image_pull_started: "its image is pulled",
  image_pull_completed: "its image is there",
  image_pull_failed: "its image cannot be had",
  instance_spawned: "its sandbox is there",
  instance_terminated: "its sandbox is gone",
  gradient_validation_performed: "a check was made",
  child_execution_spawned: "it has started another execution",
  child_execution_completed: "that one has ended",
  multi_judge_consensus: "what several judges came to",
  output_handler_started: "the output is handed on",
  output_handler_completed: "it was taken",
  output_handler_failed: "it was not",
  execution_completed: "the last event: it succeeded",
  execution_failed: "the last event: it failed",
  execution_cancelled: "the last event: it was cancelled",
  execution_timed_out: "the last event: its time was over",
};

interface RunMeaning {
  readonly tells: string;
  /** Members of `details`, beside `execution_id`. */
  readonly details: readonly string[];
}

export const runMeanings: Readonly<Record<EventType, RunMeaning>> = {
  WorkflowExecutionStarted: { tells: "the run begins", details: ["workflow_id", "started_at"] },
  WorkflowStateEntered: { tells: "a state is entered", details: ["state_name", "visit", "entered_at", "branch?"] },
  WorkflowStateExited: {
    tells: "a state is done; `transition` is the rule that was taken",
    details: ["state_name", "visit", "output", "transition", "exited_at", "branch?"],
  },
  WorkflowIterationStarted: {
    tells: "a state with judges asks its agent",
    details: ["iteration_number", "started_at"],
  },
  WorkflowIterationCompleted: {
    tells: "the agent has answered",
    details: ["iteration_number", "output", "completed_at"],
  },
  WorkflowIterationFailed: { tells: "the agent has failed", details: ["iteration_number", "error", "failed_at"] },
  RefinementApplied: {
    tells: "what the judges said goes into the next attempt",
    details: ["iteration_number", "agent_id", "score", "feedback", "code_diff"],
  },
  SubworkflowTriggered: {
    tells: "a run below was started",
    details: [
      "parent_execution_id",
      "child_execution_id",
      "child_workflow_id",
      "mode",
      "parent_state_name",
      "triggered_at",
    ],
  },
  SubworkflowCompleted: {
    tells: "it has completed",
    details: ["parent_execution_id", "child_execution_id", "result_key", "completed_at"],
  },
  SubworkflowFailed: {
    tells: "it has failed",
    details: ["parent_execution_id", "child_execution_id", "reason", "failed_at"],
  },
  ContainerRunStarted: { tells: "a command begins", details: ["state_name", "step", "image"] },
  ContainerRunCompleted: {
    tells: "it has ended",
    details: ["state_name", "step", "exit_code", "duration_ms"],
  },
  ContainerRunFailed: { tells: "it did not come to an end", details: ["state_name", "step", "error"] },
  HumanInputRequested: {
    tells: "people are asked",
    details: ["approval_id", "prompt", "default_response", "expires_at"],
  },
  HumanInputResolved: {
    tells: "it is decided or over",
    details: ["approval_id", "status", "decision", "via", "decided_at"],
  },
  WorkflowStateVisitLimitExceeded: {
    tells: "a state may not be entered again",
    details: ["state_name", "max_visits", "actual_visits"],
  },
  WorkflowStateRetried: {
    tells: "a state is tried again",
    details: ["state_name", "attempt", "error", "failed_at", "next_at", "branch?"],
  },
  WorkflowSignalBuffered: { tells: "a signal waits for its state", details: ["signal_name"] },
  WorkflowMapProgress: {
    tells: "how far a Map is; at most once a second",
    details: ["state_name", "succeeded", "failed", "total"],
  },
  WorkflowBranchJoined: { tells: "enough branches have ended", details: ["state_name", "joined", "cancelled"] },
  WorkflowCompensationStarted: { tells: "a state is undone", details: ["state_name", "of_state", "of_visit"] },
  WorkflowCompensationCompleted: {
    tells: "it was undone",
    details: ["state_name", "visit", "of_state", "of_visit"],
  },
  WorkflowCompensationFailed: {
    tells: "it could not be undone",
    details: ["state_name", "of_state", "of_visit", "error"],
  },
  WorkflowExecutionMigrated: { tells: "the run goes on by another version", details: ["from_version", "to_version"] },
  WorkflowExecutionContinued: { tells: "another run follows", details: ["continued_as"] },
  WorkflowExecutionPaused: { tells: "the run was paused", details: ["paused_at"] },
  WorkflowExecutionResumed: { tells: "the run goes on", details: ["resumed_at"] },
  WorkflowOutputCoercionFailed: { tells: "an output is not of the declared type", details: ["key", "type"] },
  WorkflowWarning: { tells: "a warning of the record", details: ["code"] },
  WorkflowExecutionCompleted: {
    tells: "the last event: it succeeded",
    details: ["final_blackboard", "final_output", "artifacts", "completed_at"],
  },
  WorkflowExecutionFailed: { tells: "the last event: it failed", details: ["reason", "error_code", "failed_at"] },
  WorkflowExecutionCancelled: { tells: "the last event: it was cancelled", details: ["reason", "cancelled_at"] },
  WorkflowExecutionTimedOut: {
    tells: "the last event: its time was over",
    details: ["timeout_seconds", "timed_out_at"],
  },
};

export const fleetMeanings: Readonly<Record<keyof typeof fleetEvents, string>> = {
  fleet_started: "whom the run means; again once it is approved",
  fleet_status: "each change of status, pauses and waves",
  command_progress: "a step or output of one host; `gap_bytes` were lost before it",
  command_result: "the end of a command",
  error: "why the run, or a part of it, did not take place",
  fleet_result: "the last event, with the summary",
};
