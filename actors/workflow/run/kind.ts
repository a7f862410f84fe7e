/**
 * What the engine asks of each kind of state.
 *
 * `enter` begins the work: it sets `run.work(…)` and adds effects. Messages that concern the work reach the kind's own
 * functions through the actor (`run.ts`); when the result is there they call `settle` of `settling.ts`, which
 * takes the run on. `leave` gives the work up: the run was cancelled, timed out, or the state took too long.
 *
 * The actor hands on only what belongs to the entry at work: the outcome of an activity that the work names, the end
 * of a child it lists. What a function did before it threw a fault is discarded; then the work is left.
 */

import type { ApprovalDecided } from "../../approval/messages.ts";
import type { ChildEnd } from "../../execution/child.ts";
import type { Json } from "../../kernel/json.ts";
import { TemplateError } from "../../template/template.ts";
import type { State, StateKind } from "../definition.ts";
import type { FleetRead } from "./activities/fleet-results.ts";
import type { HttpAnswered } from "./activities/http-call.ts";
import type { MapCollected } from "./activities/map-results.ts";
import type { TakenStimulus } from "./activities/stimulus.ts";
import type { ToolCalled } from "./activities/tool-call.ts";
import type { AgentStarted, CommandEnded, RunStarted, WebhookAnswered } from "./activities.ts";
import { type NewsOf, type RunEnd, workflowRunProtocol } from "./messages.ts";
import type { RunTurn } from "./turn.ts";

export type StateOf<K extends StateKind> = Extract<State, { kind: K }>;

/** A state's result as docs/reference/workflows.md gives it; `status` is `success`, `completed` or `failed`. */
export type StateResult = { readonly status: string; readonly [member: string]: Json };

/** Thrown while a state is entered or goes on: its result is failed with this code, and rules are evaluated. */
export class StateFault extends Error {
  override readonly name = "StateFault";
  constructor(
    /** Such as `template_resolved_empty`, `unsafe_template_position`, `template_error`. */
    readonly code: string,
    message: string = code,
  ) {
    super(message);
  }
}

export interface KindOfState<K extends StateKind> {
  /** @throws StateFault, TemplateError */
  enter(run: RunTurn, state: StateOf<K>): void;
  /** @param reason such as `cancelled`, `timed_out`, `state_timeout`, `deleted` */
  leave(run: RunTurn, reason: string): void;
  /** The result when the state's own timeout passed; the work was left already. */
  overdue(run: RunTurn, state: StateOf<K>): StateResult;
  /**
   * The work ends in time by itself, by what it was told to do (a command is killed, an approval expires): the run
   * sets no timer of its own, and `overdue` is never called.
   */
  readonly keepsTime?: true;

  /** Of activity `workflow.command`; its id is the work's `activity`, or that of one of its steps still at work. */
  commandEnded?(run: RunTurn, outcome: CommandEnded): void;
  /** Of activity `workflow.agent`, for one of the work's `children`. */
  agentStarted?(run: RunTurn, outcome: AgentStarted): void;
  /** Of one of the work's `children`. */
  childEnded?(run: RunTurn, end: ChildEnd): void;
  /** Of activity `workflow.webhook` of this entry. */
  webhookAnswered?(run: RunTurn, outcome: WebhookAnswered): void;
  /** Of activity `workflow.start`, for the work's `child`. */
  runStarted?(run: RunTurn, outcome: RunStarted): void;
  /** Of the work's `child`. */
  runEnded?(run: RunTurn, end: RunEnd): void;
  /** Of activity `workflow.tool`, for the work's `invocation`. */
  toolCalled?(run: RunTurn, outcome: ToolCalled): void;
  /** The work's call is to be tried again. */
  callDue?(run: RunTurn): void;
  /** People are asked about the work's call, or have decided. */
  toolWaiting?(run: RunTurn, news: NewsOf<"tool_waiting">): void;
  /** Of the work's call, where people were asked about it. */
  toolEnded?(run: RunTurn, news: NewsOf<"tool_ended">): void;
  /** Of the fleet run that the work's call has begun. */
  fleetWaiting?(run: RunTurn, news: NewsOf<"fleet_waiting">): void;
  fleetEnded?(run: RunTurn, news: NewsOf<"fleet_ended">): void;
  /** Of activity `workflow.fleet_results`, for the work's `invocation`. */
  fleetRead?(run: RunTurn, outcome: FleetRead): void;
  /** Of activity `workflow.http`; its id is the work's `activity`. */
  httpAnswered?(run: RunTurn, outcome: HttpAnswered): void;
  /** Some of its lines have ended. Called after every turn as long as it leaves such lines among the others. */
  linesEnded?(run: RunTurn): void;
  /**
   * Begins more of its parts, where it has room for them and the run is not paused, or sees that all are over. Called at
   * the end of every turn. Returns whether anything changed.
   */
  goOn?(run: RunTurn): boolean;
  /** Of activity `workflow.map_results` of this entry. */
  mapCollected?(run: RunTurn, outcome: MapCollected): void;
  /** What its lines have come to together: those that are still at work are then given up. Null: it is still open. */
  joins?(run: RunTurn): StateResult | null;
  /** The signal that the work (`of: "wait"`, `on: "signal"`) waits for. */
  signalled?(run: RunTurn, signal: { readonly payload?: Json }): void;
  /** The stimulus that the work (`of: "wait"`, `on: "stimulus"`) waits for: the state takes it. */
  stimulusTaken?(run: RunTurn, stimulus: TakenStimulus): void;
  /** The work cannot wait for a stimulus: `too_many_waits`, or the look back could not be done. */
  watchFailed?(run: RunTurn, failure: { readonly code: string; readonly message: string }): void;
  /** By the work's approval. */
  decided?(run: RunTurn, decision: ApprovalDecided): void;
}

/** A kind as it is called with any state; the definition's `kind` has chosen it. */
export type AnyKind = Pick<KindOfState<StateKind>, keyof KindOfState<StateKind>>;

/**
 * The result of a state that could not be entered or could not go on.
 * @param code stable, such as `template_error`; the run's `error_code` when no rule takes the failure
 */
export function faultResult(code: string, message: string): StateResult {
  return { status: "failed", error: code, message };
}

/** The failed result that an error stands for; null: it is a fault of the service itself. */
export function faultOf(error: unknown): StateResult | null {
  if (error instanceof StateFault) return faultResult(error.code, error.message);
  if (error instanceof TemplateError) return faultResult(error.code, error.message);
  return null;
}

/**
 * Lets the state at work come to this result in a turn of its own, so that its event stands in the log behind its
 * entry: for results without outside work. Usually both turns are one commit.
 */
export function immediately(run: RunTurn, result: StateResult): void {
  run.work({ of: "immediate", result });
  // A child record of items finishes it in this very turn (`actors/workflow/run/map/batch.ts`).
  if (run.state.header.batch !== undefined) return;
  run.tell(workflowRunProtocol, run.id, "advance", { entry: run.current.entry }, { coCommit: true });
}
