/** A run as a graph: its states, the ways between them and how often each was taken, its steps with their times. */

import { type Static, Type } from "@sinclair/typebox";
import { Milliseconds, Nullable, Text, Time } from "../../../kernel/schema.ts";
import { iso } from "../../../kernel/time.ts";
import type { State } from "../../definition.ts";
import { isOver, type RunState, RunStatus } from "../state.ts";
import { isEvent, type ReadDetails, type StoredEvent } from "./events.ts";

type EnteredDetails = ReadDetails["WorkflowStateEntered"];
type ExitedDetails = ReadDetails["WorkflowStateExited"];

const times = {
  exited_at: Nullable(Time),
  /** Of a state at work: so far. */
  duration_ms: Nullable(Milliseconds),
};

export const RunGraphNode = Type.Object({
  name: Text,
  kind: Text,
  /** The Branch and its branch that the state stands in; null: it stands in none. */
  branch: Nullable(Type.Object({ state: Text, name: Text })),
  terminal: Type.Boolean(),
  visits: Type.Integer({ minimum: 0 }),
  /** `pending` (not entered), `running`, or what the last visit came to; times are of that visit. */
  status: Text,
  entered_at: Nullable(Time),
  ...times,
});

/**
 * A transition; from a Branch to where its branches begin, with the condition `branch`; or to the state that undoes
 * one, with the condition `compensate`.
 */
export const RunGraphEdge = Type.Object({
  from: Text,
  condition: Text,
  to: Text,
  /** How often. */
  taken: Type.Integer({ minimum: 0 }),
});

export const RunGraphStep = Type.Object({
  /** From 1. */
  sequence: Type.Integer({ minimum: 1 }),
  state: Text,
  /** The branch that went there; null: the run itself. */
  branch: Nullable(Text),
  visit: Type.Integer({ minimum: 1 }),
  status: Text,
  entered_at: Time,
  ...times,
  /** Of the transition that led on; null when none did. */
  condition: Nullable(Text),
  target: Nullable(Text),
  /** The visit that it undid. */
  compensates: Nullable(Type.Object({ state: Text, visit: Type.Integer({ minimum: 1 }) })),
});

export const RunGraph = Type.Object({
  execution_id: Text,
  workflow_id: Text,
  workflow_name: Text,
  version: Text,
  status: RunStatus,
  current_state: Nullable(Text),
  nodes: Type.Array(RunGraphNode),
  edges: Type.Array(RunGraphEdge),
  steps: Type.Array(RunGraphStep),
});
export type RunGraph = Static<typeof RunGraph>;

/** One entry into a state; times are ISO 8601. */
interface Step {
  readonly state: string;
  readonly visit: number;
  readonly branch: string | null;
  /** Whether its branch begins with it. */
  readonly begins: boolean;
  readonly entered_at: string;
  readonly exited_at: string | null;
  /** What it came to; null while it is at work. */
  readonly status: string | null;
  readonly condition: string | null;
  readonly target: string | null;
  readonly compensates: { readonly state: string; readonly visit: number } | null;
}

/**
 * The steps of a run, from the entries of its log: their results may be large, so they are taken in page by page. Those
 * of branches lie among each other.
 */
export class StepFold {
  readonly steps: Step[] = [];
  /** Places of the steps at work. */
  private readonly open = new Set<number>();
  /** Branches that have begun since the run itself last entered a state, or tried one again. */
  private readonly begun = new Set<string>();
  /** What the next step undoes. */
  private compensates: Step["compensates"] = null;

  /** @param events of the run's log, in order */
  add(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (isEvent(event, "WorkflowCompensationStarted")) {
        this.compensates = { state: event.details.of_state, visit: event.details.of_visit };
      } else if (isEvent(event, "WorkflowStateEntered")) this.enter(event.details);
      else if (isEvent(event, "WorkflowStateExited")) this.exit(event.details);
      // The states at work in its lines were given up.
      else if (isEvent(event, "WorkflowStateRetried")) this.close(event.details.branch, event.details.failed_at);
    }
  }

  private enter({ state_name, visit, branch: named, entered_at }: EnteredDetails): void {
    const branch = named ?? null;
    const begins = branch !== null && !this.begun.has(branch);
    if (branch === null) this.begun.clear();
    else this.begun.add(branch);
    this.open.add(this.steps.length);
    const step = { state: state_name, visit, branch, begins, entered_at, compensates: this.compensates };
    this.compensates = null;
    this.steps.push({ ...step, exited_at: null, status: null, condition: null, target: null });
  }

  private exit({ state_name, visit, branch, output, transition, exited_at }: ExitedDetails): void {
    this.close(branch, exited_at);
    const place = this.steps.findLastIndex(({ state, visit: nth }) => state === state_name && nth === visit);
    const step = this.steps[place];
    if (step === undefined) return;
    const { condition, target } = transition ?? { condition: null, target: null };
    this.steps[place] = { ...step, exited_at, status: output.status, condition, target };
    this.open.delete(place);
  }

  /** A state of the run itself is over, or fails: its branches that are still at work were given up. */
  private close(branch: string | undefined, at: string): void {
    if (branch !== undefined) return;
    this.begun.clear();
    for (const place of this.open) {
      const step = this.steps[place];
      if (step === undefined || step.branch === null) continue;
      this.steps[place] = { ...step, exited_at: at, status: "cancelled" };
      this.open.delete(place);
    }
  }
}

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
    nodes: Object.entries(definition.states).map(([name, { kind, transitions, branch = null }]) => {
      const last = latest.get(name);
      return {
        name,
        kind,
        branch,
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
      branch: step.branch,
      visit: step.visit,
      status: statusOf(step),
      entered_at: step.entered_at,
      ...timesOf(step, now),
      condition: step.condition,
      target: step.target,
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

function edgesOf({ definition }: RunState, history: readonly Step[]): RunGraph["edges"] {
  return Object.entries(definition.states).flatMap(([from, state]) => [
    ...branchEdges(from, state, history),
    ...transitionEdges(from, state, history),
    ...compensationEdges(from, state, history),
  ]);
}

function compensationEdges(from: string, { compensate: to }: State, history: readonly Step[]): RunGraph["edges"] {
  const taken = history.filter(({ compensates }) => compensates?.state === from).length;
  return to === undefined ? [] : [{ from, to, condition: "compensate", taken }];
}

/** Two transitions alike are one way: the first that matches is taken. */
function transitionEdges(from: string, { transitions }: State, history: readonly Step[]): RunGraph["edges"] {
  return transitions.map(({ condition, target }, place) => {
    const isRepeat = transitions
      .slice(0, place)
      .some((earlier) => earlier.condition === condition && earlier.target === target);
    const takes = (step: Step): boolean =>
      step.state === from && step.condition === condition && step.target === target;
    return { from, to: target, condition, taken: isRepeat ? 0 : history.filter(takes).length };
  });
}

function branchEdges(from: string, state: State, history: readonly Step[]): RunGraph["edges"] {
  if (state.kind !== "Branch") return [];
  return state.branches.map(({ initial_state: to }) => ({
    from,
    to,
    condition: "branch",
    taken: history.filter(({ state, begins }) => begins && state === to).length,
  }));
}
