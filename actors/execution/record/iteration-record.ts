/** The iterations of a record, told by the events. */

import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../kernel/json.ts";
import { Nullable, Text, Time } from "../../kernel/schema.ts";
import type { EventFields, StoredEvent } from "../events.ts";
import { ValidationResult } from "../judging/validator-result.ts";

const oneOf = <const T extends readonly string[]>(...names: T) =>
  Type.Union(names.map((name) => Type.Literal(name as T[number])));

const TrajectoryStep = Type.Object({
  tool_name: Text,
  arguments_json: Text,
  status: oneOf("pending", "waiting", "dispatched", "succeeded", "failed", "refused", "timed_out"),
  result_json: Nullable(Text),
  error: Nullable(Text),
});

export const IterationRecord = Type.Object({
  number: Type.Integer(),
  attempt: Type.Integer(),
  status: oneOf("running", "success", "rejected", "failed", "cancelled"),
  action: Text,
  output: Nullable(Text),
  exit_code: Nullable(Type.Integer()),
  stderr: Text,
  error: Nullable(Type.Object({ code: Text, message: Text, details: AnyJson })),
  validation_results: Type.Array(ValidationResult),
  code_changes: Type.Array(Type.Object({ file_path: Text, diff: Text })),
  trajectory: Type.Array(TrajectoryStep),
  /** Names of the tools that were refused. */
  policy_violations: Type.Array(Text),
  llm_interactions: Type.Array(
    Type.Object({
      provider: Text,
      model: Text,
      input_tokens: Type.Number(),
      output_tokens: Type.Number(),
      prompt: Nullable(Text),
      response: Nullable(Text),
      timestamp: Time,
    }),
  ),
  started_at: Time,
  ended_at: Nullable(Time),
});
export type IterationRecord = Static<typeof IterationRecord>;

/** A step on its way; its call id finds it again and is not shown. */
type OpenStep = Static<typeof TrajectoryStep> & { call_id: string };
type OpenIteration = Omit<IterationRecord, "trajectory"> & { trajectory: OpenStep[] };

/** Makes iterations of events that come one by one. */
export class IterationFold {
  private readonly iterations: OpenIteration[] = [];
  constructor(private readonly prompts: boolean) {}

  /** In the order of the log. */
  add(event: StoredEvent): void {
    if (event.name === "iteration_started") this.iterations.push(opened(event.fields));
    const current = this.iterations.at(-1);
    if (current !== undefined) apply(current, event, this.prompts);
  }

  records(): IterationRecord[] {
    return this.iterations.map((iteration) => ({
      ...iteration,
      trajectory: iteration.trajectory.map(({ call_id: _, ...step }) => step),
    }));
  }
}

function opened({ iteration_number, action, started_at }: EventFields<"iteration_started">): OpenIteration {
  return {
    number: iteration_number,
    attempt: 1,
    status: "running",
    action,
    output: null,
    exit_code: null,
    stderr: "",
    error: null,
    validation_results: [],
    code_changes: [],
    trajectory: [],
    policy_violations: [],
    llm_interactions: [],
    started_at,
    ended_at: null,
  };
}

function apply(iteration: OpenIteration, event: StoredEvent, prompts: boolean): void {
  switch (event.name) {
    case "iteration_restarted":
      iteration.attempt = event.fields.attempt;
      return;
    case "iteration_completed":
      iteration.output = event.fields.output;
      iteration.stderr = event.fields._stderr;
      iteration.exit_code = event.fields._exit_code;
      return;
    case "gradient_validation_performed":
      iteration.validation_results.push(event.fields._result);
      return;
    case "iteration_rejected":
      close(iteration, "rejected", event.fields.rejected_at);
      return;
    case "iteration_failed":
      iteration.error = event.fields.error;
      iteration.stderr = event.fields._stderr;
      iteration.exit_code = event.fields._exit_code;
      close(iteration, "failed", event.fields.failed_at);
      return;
    case "llm_interaction":
      noteInteraction(iteration, event.fields, prompts);
      return;
    case "tool_call_started":
      if (event.fields._dispatched) amend(iteration, event.fields.call_id, { status: "dispatched" });
      return;
    case "tool_call_waiting":
      amend(iteration, event.fields.call_id, { status: "waiting" });
      return;
    case "tool_call_approved":
      amend(iteration, event.fields.call_id, { status: "pending" });
      return;
    case "tool_call_withdrawn":
      amend(iteration, event.fields.call_id, { status: "failed", error: "The call was withdrawn" });
      return;
    case "tool_call_completed":
      amend(iteration, event.fields.call_id, {
        status: event.fields.status,
        result_json: JSON.stringify(event.fields._result),
        error: event.fields._error,
      });
      return;
    case "policy_violation":
      iteration.policy_violations.push(event.fields.tool_name);
      return;
    case "output_handler_started":
      close(iteration, "success", event.fields.timestamp);
      return;
    case "execution_completed":
      close(iteration, "success", event.fields.completed_at);
      return;
    case "execution_cancelled":
      close(iteration, "cancelled", event.fields.cancelled_at);
      return;
    case "execution_timed_out":
      close(iteration, "cancelled", event.fields.timed_out_at);
      return;
    default:
      return;
  }
}

/** The first ending counts: a rejected iteration stays rejected when the execution is cancelled later. */
function close(iteration: OpenIteration, status: IterationRecord["status"], at: string): void {
  if (iteration.ended_at !== null) return;
  iteration.status = status;
  iteration.ended_at = at;
}

function noteInteraction(iteration: OpenIteration, fields: EventFields<"llm_interaction">, prompts: boolean): void {
  const { provider, model, input_tokens, output_tokens, timestamp, _tool_calls } = fields;
  const prompt = prompts ? fields.prompt : null;
  const response = prompts ? fields.response : null;
  iteration.llm_interactions.push({ provider, model, input_tokens, output_tokens, prompt, response, timestamp });
  for (const call of _tool_calls) {
    iteration.trajectory.push({
      call_id: call.id,
      tool_name: call.name,
      arguments_json: JSON.stringify(call.arguments),
      status: "pending",
      result_json: null,
      error: null,
    });
  }
}

const openSteps: readonly string[] = ["pending", "waiting", "dispatched"];

/** Rounds may use a call id again; the latest step that has no end yet is meant. */
function amend(iteration: OpenIteration, callId: string, change: Partial<OpenStep>): void {
  const step = iteration.trajectory.findLast(({ call_id, status }) => call_id === callId && openSteps.includes(status));
  if (step !== undefined) Object.assign(step, change);
}
