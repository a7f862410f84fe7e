/** What the log of a run tells of its states: one entry for each time that a state was entered. */
import type { Schemas } from "../../../../programs/client/client.ts";
import { objectOf, textOf } from "../../workflows/model/definition.ts";

export type RunEvent = Schemas["WorkflowEvent"];

export interface Entry {
  /** Of the state and its visit; stable while the run goes on. */
  readonly key: string;
  readonly state: string;
  readonly visit: number;
  readonly branch: string | null;
  readonly enteredAt: string;
  readonly exitedAt: string | null;
  /** `running`, or what it came to. */
  readonly status: string;
  /** Undefined while it is at work. */
  readonly output: unknown;
  readonly error: string | null;
  /** The rule that led on; null: none did, or it is at work. */
  readonly rule: { readonly condition: string; readonly target: string } | null;
  readonly attempts: readonly Attempt[];
  /** What it undid. */
  readonly compensates: { readonly state: string; readonly visit: number } | null;
  /** What it did was undone, or is to be. */
  readonly undone: boolean;
  readonly approvalId: string | null;
  readonly prompt: string | null;
  /** Runs that it started. */
  readonly children: readonly string[];
  readonly progress: { readonly done: number; readonly failed: number; readonly total: number } | null;
  readonly iterations: readonly Iteration[];
}

export interface Attempt {
  readonly attempt: number;
  readonly error: string;
  readonly failedAt: string;
  readonly nextAt: string;
}

export interface Iteration {
  readonly number: number;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly output: unknown;
  readonly error: string | null;
  /** Why the judges had it try again. */
  readonly feedback: string | null;
  readonly score: number | null;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Draft = Mutable<Omit<Entry, "attempts" | "children" | "iterations">> & {
  attempts: Attempt[];
  children: string[];
  iterations: Mutable<Iteration>[];
};

/** Whether it failed and a rule for that led on: the workflow reckoned with it. */
export const isAnswered = ({ status, rule }: Entry): boolean =>
  rule !== null && (status === "failed" || status === "timed_out");

/** The run over hosts that a Fleet state waited for; null: none, or the state is at work still. */
export const fleetRunOf = ({ output }: Entry): string | null => textOf(objectOf(output)?.fleet_command_id);

const entryKey = (state: string, visit: number): string => `${state}:${visit}`;

/** @param events of the whole log, in order */
export function entriesOf(events: readonly RunEvent[]): readonly Entry[] {
  const entries: Draft[] = [];
  const latest = new Map<string, Draft>();
  let compensates: Entry["compensates"] = null;
  for (const event of events) {
    const { type, details, timestamp } = event;
    if (type === "WorkflowCompensationStarted") {
      compensates = { state: textOf(details.of_state) ?? "", visit: numberOf(details.of_visit) ?? 1 };
      const key = entryKey(compensates.state, compensates.visit);
      const undone = entries.findLast((entry) => entry.key === key);
      if (undone !== undefined) undone.undone = true;
    } else if (terminal.has(type)) {
      closeOpen(entries, timestamp, ends[type] ?? "cancelled");
    } else {
      const state = event.state_name ?? textOf(details.state_name) ?? textOf(details.parent_state_name);
      if (state === null) continue;
      if (type === "WorkflowStateEntered") {
        const entry = entered(state, event, compensates);
        compensates = null;
        entries.push(entry);
        latest.set(state, entry);
      } else tellEntry(latest.get(state), event, entries);
    }
  }
  return entries;
}

/** What is told of a state that was entered. */
function tellEntry(entry: Draft | undefined, event: RunEvent, entries: readonly Draft[]): void {
  if (entry === undefined) return;
  if (event.type !== "WorkflowStateExited") {
    news[event.type]?.(entry, event);
    return;
  }
  exited(entry, event);
  if (entry.branch !== null) return;
  // What its branches still did was given up.
  closeOpen(
    entries.filter(({ branch }) => branch !== null),
    event.timestamp,
    "cancelled",
  );
}

function closeOpen(entries: readonly Draft[], at: string, status: string): void {
  for (const entry of entries) if (entry.exitedAt === null) close(entry, at, status);
}

const ends: Readonly<Record<string, string>> = {
  WorkflowExecutionFailed: "failed",
  WorkflowExecutionCancelled: "cancelled",
  WorkflowExecutionTimedOut: "timed_out",
};
const terminal = new Set(["WorkflowExecutionCompleted", ...Object.keys(ends)]);

export const isTerminal = (event: RunEvent): boolean => terminal.has(event.type);

function entered(state: string, { details, timestamp }: RunEvent, compensates: Entry["compensates"]): Draft {
  const visit = numberOf(details.visit) ?? 1;
  return {
    key: entryKey(state, visit),
    state,
    visit,
    branch: textOf(details.branch),
    enteredAt: textOf(details.entered_at) ?? timestamp,
    exitedAt: null,
    status: "running",
    output: undefined,
    error: null,
    rule: null,
    attempts: [],
    compensates,
    undone: false,
    approvalId: null,
    prompt: null,
    children: [],
    progress: null,
    iterations: [],
  };
}

function close(entry: Draft, at: string, status: string): void {
  entry.exitedAt = at;
  entry.status = status;
}

function exited(entry: Draft, { details, timestamp }: RunEvent): void {
  const output = objectOf(details.output);
  const transition = objectOf(details.transition);
  close(entry, textOf(details.exited_at) ?? timestamp, textOf(output?.status) ?? "completed");
  entry.output = details.output ?? null;
  entry.error = textOf(output?.error);
  const condition = textOf(transition?.condition);
  const target = textOf(transition?.target);
  entry.rule = condition === null || target === null ? null : { condition, target };
  const child = textOf(output?.child_execution_id);
  if (child !== null && !entry.children.includes(child)) entry.children.push(child);
}

/** What else is told of a state at work. */
const news: Readonly<Record<string, (entry: Draft, event: RunEvent) => void>> = {
  WorkflowStateRetried(entry, { details, timestamp }) {
    entry.attempts.push({
      attempt: numberOf(details.attempt) ?? entry.attempts.length + 2,
      error: textOf(details.error) ?? "",
      failedAt: textOf(details.failed_at) ?? timestamp,
      nextAt: textOf(details.next_at) ?? timestamp,
    });
  },
  SubworkflowTriggered(entry, { details }) {
    const child = textOf(details.child_execution_id);
    if (child !== null && !entry.children.includes(child)) entry.children.push(child);
  },
  HumanInputRequested(entry, { details }) {
    entry.approvalId = textOf(details.approval_id);
    entry.prompt = textOf(details.prompt);
  },
  WorkflowMapProgress(entry, { details }) {
    entry.progress = {
      done: numberOf(details.succeeded) ?? 0,
      failed: numberOf(details.failed) ?? 0,
      total: numberOf(details.total) ?? 0,
    };
  },
  WorkflowIterationStarted: (entry, event) => void iterationOf(entry, event),
  WorkflowIterationCompleted(entry, event) {
    const iteration = iterationOf(entry, event);
    iteration.endedAt = textOf(event.details.completed_at) ?? event.timestamp;
    iteration.output = event.details.output;
  },
  WorkflowIterationFailed(entry, event) {
    const iteration = iterationOf(entry, event);
    iteration.endedAt = textOf(event.details.failed_at) ?? event.timestamp;
    iteration.error = textOf(event.details.error);
  },
  RefinementApplied(entry, event) {
    const iteration = iterationOf(entry, event);
    iteration.feedback = textOf(event.details.feedback);
    iteration.score = numberOf(event.details.score);
  },
};

function iterationOf(entry: Draft, { iteration_number, details, timestamp }: RunEvent): Mutable<Iteration> {
  const number = iteration_number ?? numberOf(details.iteration_number) ?? entry.iterations.length + 1;
  const known = entry.iterations.find((one) => one.number === number);
  if (known !== undefined) return known;
  const startedAt = textOf(details.started_at) ?? timestamp;
  const made = { number, startedAt, endedAt: null, output: undefined, error: null, feedback: null, score: null };
  entry.iterations.push(made);
  return made;
}

const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);
