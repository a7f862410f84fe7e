/** A run as a graph: its states, the ways between them and how often each was taken, its steps with their times. */

import { type Static, Type } from "@sinclair/typebox";
import { Milliseconds, Nullable, Text, Time } from "../../../kernel/schema.ts";
import { iso } from "../../../kernel/time.ts";
import { isOver, type RunState, RunStatus } from "../state.ts";
import { type DetailsOf, isEvent, type StoredEvent } from "./events.ts";

const times = {
  exited_at: Nullable(Time),
  /** Of a state at work: so far. */
  duration_ms: Nullable(Milliseconds),
};

export const RunGraph = Type.Object({
  execution_id: Text,
  workflow_id: Text,
  workflow_name: Text,
  version: Text,
  status: RunStatus,
  current_state: Nullable(Text),
  nodes: Type.Array(
    Type.Object({
      name: Text,
      kind: Text,
      terminal: Type.Boolean(),
      visits: Type.Integer({ minimum: 0 }),
      /** `pending` (not entered), `running`, or what the last visit came to; times are of that visit. */
      status: Text,
      entered_at: Nullable(Time),
      ...times,
    }),
  ),
  edges: Type.Array(
    Type.Object({ from: Text, condition: Text, to: Text, /** How often. */ taken: Type.Integer({ minimum: 0 }) }),
  ),
  steps: Type.Array(
    Type.Object({
      /** From 1. */
      sequence: Type.Integer({ minimum: 1 }),
      state: Text,
      visit: Type.Integer({ minimum: 1 }),
      status: Text,
      entered_at: Time,
      ...times,
      /** Of the transition that led on; null when none did. */
      condition: Nullable(Text),
      target: Nullable(Text),
      /** The branch that it was taken in. */
      branch: Nullable(Text),
      /** The visit that it undid. */
      compensates: Nullable(Type.Object({ state: Text, visit: Type.Integer({ minimum: 1 }) })),
    }),
  ),
});
export type RunGraph = Static<typeof RunGraph>;

/** One entry into a state; times are ISO 8601. */
interface Step {
  readonly state: string;
  readonly visit: number;
  readonly entered_at: string;
  readonly exited_at: string | null;
  /** What it came to; null while it is at work. */
  readonly status: string | null;
  readonly condition: string | null;
  readonly target: string | null;
  readonly branch: string | null;
  readonly compensates: { readonly state: string; readonly visit: number } | null;
}

/** The condition of the ways to the states that undo others. */
const compensate = "compensate";

/** The steps of a run, from the entries of its log: their results may be large, so they are taken in page by page. */
export class StepFold {
  readonly steps: Step[] = [];
  private compensates: Step["compensates"] = null;

  /** @param events of the run's log, in order */
  add(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (isEvent(event, "WorkflowCompensationStarted")) {
        this.compensates = { state: event.details.of_state, visit: event.details.of_visit };
      } else if (isEvent(event, "WorkflowStateEntered")) {
        const { state_name, visit, entered_at, branch = null } = event.details;
        const open = { exited_at: null, status: null, condition: null, target: null };
        this.steps.push({ state: state_name, visit, entered_at, branch, compensates: this.compensates, ...open });
        this.compensates = null;
      } else if (isEvent(event, "WorkflowStateExited")) this.exit(event.details);
    }
  }

  private exit({ state_name, exited_at, output, transition, branch }: ExitDetails): void {
    const { condition, target } = transition ?? { condition: null, target: null };
    this.close((step) => step.state === state_name, { exited_at, status: output.status, condition, target });
    // Ways that are left when the state ends which goes them have been given up.
    if (branch === undefined) this.close((step) => step.branch !== null, { exited_at, status: "cancelled" });
  }

  private close(isMeant: (step: Step) => boolean, end: Partial<Step>): void {
    this.steps.forEach((step, place) => {
      if (step.exited_at === null && isMeant(step)) this.steps[place] = { ...step, ...end };
    });
  }
}

type ExitDetails = DetailsOf<"WorkflowStateExited">;

/** Steps that a run left without a result ended when it came to its end: before it undid anything. */
function ended(steps: readonly Step[], state: Pick<RunState, "status" | "ending" | "compensation">): readonly Step[] {
  const { status, ending, compensation } = state;
  const undoing = steps.findIndex((step) => step.compensates !== null);
  const ofRun = undoing < 0 ? steps.length : undoing;
  return steps.map((step, place) => {
    if (step.exited_at !== null) return step;
    if (compensation !== undefined && place < ofRun) {
      return { ...step, exited_at: iso(compensation.at), status: compensation.end.status };
    }
    return isOver(state) && ending !== null ? { ...step, exited_at: iso(ending.at), status } : step;
  });
}

/**
 * @param taken the steps of its log
 * @param now Unix milliseconds, for how long a state has been at work
 */
export function runGraph(executionId: string, state: RunState, taken: readonly Step[], now: number): RunGraph {
  const { header, definition, visits, compensation } = state;
  const entries = { ...visits, ...compensation?.visits };
  const history = ended(taken, state);
  const latest = new Map(history.map((step) => [step.state, step]));
  return {
    execution_id: executionId,
    workflow_id: header.workflow_id,
    workflow_name: header.workflow_name,
    version: header.workflow_version,
    status: state.status,
    current_state: state.current_state,
    nodes: Object.entries(definition.states).map(([name, { kind, transitions }]) => {
      const last = latest.get(name);
      return {
        name,
        kind,
        terminal: transitions.length === 0,
        visits: Object.hasOwn(entries, name) ? (entries[name] ?? 0) : 0,
        status: last === undefined ? "pending" : statusOf(last),
        entered_at: last === undefined ? null : last.entered_at,
        ...(last === undefined ? { exited_at: null, duration_ms: null } : timesOf(last, now)),
      };
    }),
    edges: edgesOf(state, history),
    steps: history.map((step, index) => ({
      sequence: index + 1,
      state: step.state,
      visit: step.visit,
      status: statusOf(step),
      entered_at: step.entered_at,
      ...timesOf(step, now),
      condition: step.condition,
      target: step.target,
      branch: step.branch,
      compensates: step.compensates,
    })),
  };
}

const statusOf = ({ status }: Step): string => status ?? "running";

function timesOf({ entered_at, exited_at }: Step, now: number) {
  return {
    exited_at,
    duration_ms: Math.max(0, (exited_at === null ? now : Date.parse(exited_at)) - Date.parse(entered_at)),
  };
}

/** Two transitions alike are one way: the first that matches is taken. */
function edgesOf({ definition }: RunState, history: readonly Step[]): RunGraph["edges"] {
  return Object.entries(definition.states).flatMap(([from, { transitions, compensate: by }]) => [
    ...transitions.map(({ condition, target }, place) => {
      const isRepeat = transitions
        .slice(0, place)
        .some((earlier) => earlier.condition === condition && earlier.target === target);
      const takes = (step: Step): boolean =>
        step.state === from && step.condition === condition && step.target === target;
      return { from, to: target, condition, taken: isRepeat ? 0 : history.filter(takes).length };
    }),
    ...(by === undefined ? [] : [{ from, to: by, condition: compensate, taken: undone(history, from) }]),
  ]);
}

const undone = (history: readonly Step[], state: string): number =>
  history.filter(({ compensates }) => compensates?.state === state).length;
