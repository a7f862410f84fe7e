/** Telling the life of a workflow run step by step, and what must hold at each of them. */
import { expect } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { FormatRegistry } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { approvalProtocol } from "../../../actors/approval/messages.ts";
import type { ActorDefinition } from "../../../actors/kernel/actor.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Definition } from "../../../actors/workflow/definition.ts";
import { fleetResults } from "../../../actors/workflow/run/activities/fleet-results.ts";
import { httpCall } from "../../../actors/workflow/run/activities/http-call.ts";
import { stimulusWatch } from "../../../actors/workflow/run/activities/stimulus.ts";
import { toolCall } from "../../../actors/workflow/run/activities/tool-call.ts";
import { agentStart, cleanup, commandRun, runStart } from "../../../actors/workflow/run/activities.ts";
import { allNotesBytes } from "../../../actors/workflow/run/blackboard/notes.ts";
import { jsonBytes } from "../../../actors/workflow/run/blackboard/size.ts";
import { placesOf } from "../../../actors/workflow/run/places.ts";
import type { StoredEvent } from "../../../actors/workflow/run/record/events.ts";
import { RunGraph, runGraph, StepFold } from "../../../actors/workflow/run/record/graph.ts";
import {
  listedMembers,
  RunElement,
  RunRecord,
  runElement,
  runRecord,
} from "../../../actors/workflow/run/record/record.ts";
import { workflowRun } from "../../../actors/workflow/run/run.ts";
import type { RunHeader, RunState } from "../../../actors/workflow/run/state.ts";
import { linesOf } from "../../../actors/workflow/run/work.ts";
import { Simulation } from "../simulate.ts";
import { decided, headerOf, runId } from "./fixture.ts";

if (!FormatRegistry.Has("date-time")) FormatRegistry.Set("date-time", (text) => !Number.isNaN(Date.parse(text)));
const recordCheck = TypeCompiler.Compile(RunRecord);
const elementCheck = TypeCompiler.Compile(RunElement);
const graphCheck = TypeCompiler.Compile(RunGraph);

const inputs = new Map(
  [agentStart, cleanup, commandRun, runStart, stimulusWatch, toolCall, fleetResults, httpCall].map(
    ({ name, input }) => [name, TypeCompiler.Compile(input)],
  ),
);
const toApprovals = new Map(
  Object.entries(approvalProtocol.messages).map(([type, { body }]) => [type, TypeCompiler.Compile<TSchema>(body)]),
);

type Values = { readonly [name: string]: Json };
export type Event = StoredEvent;
interface Told {
  readonly kind: string;
  readonly key: string;
  readonly type: string;
  readonly body: Values;
  readonly coCommit: boolean;
}

const isOwnMove = ({ type, details }: Event): boolean => isMove(type) && details.branch === undefined;
const isMove = (type: string): boolean => type === "WorkflowStateEntered" || type === "WorkflowStateExited";

const terminal = [
  "WorkflowExecutionCompleted",
  "WorkflowExecutionFailed",
  "WorkflowExecutionCancelled",
  "WorkflowExecutionTimedOut",
];

export interface Beginning {
  readonly header?: Partial<RunHeader>;
  readonly input?: Json;
  readonly overrides?: Values;
  readonly resume?: Json;
}

export class RunStory {
  readonly sim = new Simulation(workflowRun as unknown as ActorDefinition, runId);
  private heard = 0;

  constructor(
    readonly definition: Definition,
    private readonly beginning: Beginning = {},
  ) {}

  get state(): RunState {
    return this.sim.state as unknown as RunState;
  }
  get blackboard(): Values {
    return this.state.blackboard;
  }
  get events(): Event[] {
    return this.sim.log() as unknown as Event[];
  }
  get types(): string[] {
    return this.events.map(({ type }) => type);
  }
  /** The states entered so far, in order. */
  get way(): string[] {
    return this.events.filter(({ type }) => type === "WorkflowStateEntered").map((one) => one.state_name ?? "");
  }
  /** The last event of a type. */
  event(type: string): Event {
    const found = this.events.findLast((one) => one.type === type);
    if (found === undefined) throw new Error(`no ${type} among ${this.types.join(", ")}`);
    return found;
  }
  get told(): Told[] {
    return this.sim.told.flatMap((one) => {
      if (one.effect !== "tell") return [];
      const { kind, key, message, coCommit } = one;
      return [{ kind, key, type: message.type, body: message.body as Values, coCommit: coCommit === true }];
    });
  }
  /** What others were told, by type. */
  toldOf(type: string): Told[] {
    return this.told.filter((one) => one.type === type);
  }

  startBody(): Json {
    const { header = {}, input = {}, overrides = {}, resume = null } = this.beginning;
    return { header: headerOf(header), definition: this.definition, input, overrides, resume } as unknown as Json;
  }
  /** Starts and lets it go on until it waits for newUser. */
  start(): this {
    this.sim.askNow("start", this.startBody());
    return this.settle();
  }
  /** The start alone: what the run tells itself is not heard yet. */
  enter(): this {
    this.sim.askNow("start", this.startBody());
    this.check();
    return this;
  }
  /** Delivers what the run told itself, one message. False when there is none. */
  hearItself(): boolean {
    const own = this.told.filter(({ kind, key }) => kind === "workflow_run" && key === this.sim.key);
    const next = own[this.heard];
    if (next === undefined) return false;
    this.heard += 1;
    this.sim.tell(next.type, next.body);
    this.check();
    return true;
  }
  settle(): this {
    while (this.hearItself());
    this.check();
    return this;
  }
  ask(type: string, body: Json = {}): Json {
    const reply = this.sim.askNow(type, body);
    this.settle();
    return reply;
  }
  tell(type: string, body: Json): this {
    this.sim.tell(type, body);
    return this.settle();
  }

  get approval(): string {
    const { current } = this.state;
    if (current?.work.of !== "human") throw new Error("no approval is open");
    return current.work.approval_id;
  }
  /** The open approval, or the one given, is decided. */
  decide(decision: string, change: Record<string, Json> = {}, approvalId = this.approval): this {
    return this.tell("approval_decided", {
      approval_id: approvalId,
      status: decision,
      via: decision === "timed_out" ? "timeout" : decision === "rejected" ? "reject" : "approve",
      decided_at: "2031-05-02T06:00:00.000Z",
      result: decided(decision, { approval_id: approvalId, ...change }),
    });
  }

  /** What holds after every turn. */
  check(): void {
    if (this.sim.state === null) return;
    const { state } = this;
    const subject = { execution_id: runId, tenant_id: "north" };
    expect(recordCheck.Errors(runRecord(subject, state)).First() ?? null).toBeNull();
    const listed = Object.fromEntries(listedMembers.map((name) => [name, state[name]])) as unknown as RunState;
    expect(elementCheck.Errors(runElement(subject, listed)).First() ?? null).toBeNull();
    expect(runElement(subject, listed)).toEqual(runElement(subject, state));
    const fold = new StepFold();
    fold.add(this.events);
    expect(graphCheck.Errors(runGraph(runId, state, fold.steps, this.sim.now)).First() ?? null).toBeNull();
    // As long as the names are not empty, the two measures differ by the braces alone.
    const notes = allNotesBytes(linesOf(state.current));
    expect(Math.abs(state.blackboard_bytes - notes - jsonBytes(state.blackboard))).toBeLessThanOrEqual(2);
    this.checkTimers();
    this.checkEvents();
    this.checkWishes();
  }

  /** What is asked of others is what they understand. */
  private checkWishes(): void {
    for (const { activity, input } of this.sim.performed) {
      expect(inputs.get(activity)?.Errors(input).First() ?? null).toBeNull();
    }
    for (const { kind, type, body } of this.told) {
      if (kind === "approval") expect(toApprovals.get(type)?.Check(body)).toBe(true);
    }
  }

  private checkEvents(): void {
    const { state, types } = this;
    const ends = types.filter((type) => terminal.includes(type));
    const over = state.status !== "running" && state.status !== "pending";
    expect(ends.length).toBe(over ? 1 : 0);
    if (over) {
      expect(terminal).toContain(types.at(-1) ?? "");
      expect([...this.sim.timers.keys()]).toEqual([]);
      expect(state.current).toBeNull();
      expect(state.next).toBeNull();
    }
    expect(types[0]).toBe("WorkflowExecutionStarted");
    // The run itself goes from one state to the next; its branches do so among each other. What it was at when it came
    // to its end has no result; then it undoes what it did.
    const undoing = types.indexOf("WorkflowCompensationStarted");
    const before = this.events.slice(0, undoing < 0 ? undefined : undoing);
    const after = undoing < 0 ? [] : this.events.slice(undoing).filter(isOwnMove);
    const own = before.filter(isOwnMove);
    for (const moves of [own, after]) {
      moves.forEach(({ type }, at) => {
        expect(type).toBe(at % 2 === 0 ? "WorkflowStateEntered" : "WorkflowStateExited");
      });
    }
    const entries = before.filter(({ type }) => type === "WorkflowStateEntered");
    const all = this.way;
    expect(state.transition_count).toBe(entries.length);
    expect(state.entries).toBe(all.length === 0 ? undefined : all.length);
    expect(Object.values(state.visits).reduce((sum, one) => sum + one, 0)).toBe(entries.length);
    const last = undoing < 0 && state.compensation === undefined ? own : after;
    if (!over) expect(state.current === null).toBe(last.length % 2 === 0);
    if (state.compensation === undefined) this.checkEntries();
    this.checkApprovals();
  }

  /** Each entry comes to a result once, or is given up with what it belongs to; the others are at work. */
  private checkEntries(): void {
    const open = new Map<string, boolean>();
    const giveUp = () => {
      for (const [entry, isInBranch] of open) if (isInBranch) open.delete(entry);
    };
    for (const { type, details } of this.events) {
      const entry = `${details.state_name} ${details.visit}`;
      const isInBranch = details.branch !== undefined;
      if (type === "WorkflowStateEntered") {
        expect(open.has(entry)).toBe(false);
        open.set(entry, isInBranch);
      } else if (type === "WorkflowStateExited") {
        expect(open.delete(entry)).toBe(true);
        if (!isInBranch) giveUp();
      } else if (type === "WorkflowStateRetried" && !isInBranch) giveUp();
    }
    const places = placesOf(this.state.current).map(({ current }) => `${current.name} ${current.visit}`);
    if (this.state.ending === null) expect([...open.keys()].toSorted()).toEqual(places.toSorted());
    const numbers = placesOf(this.state.current).map(({ current }) => current.entry);
    expect(new Set(numbers).size).toBe(numbers.length);
  }

  /** Those that the state asks for, and no others; an attempt whose time came while the run was paused has none. */
  private checkTimers(): void {
    const { state, sim } = this;
    const asked = (workflowRun.timers?.(state) ?? []).map(({ timer }) => timer);
    for (const timer of sim.timers.keys()) expect(asked).toContain(timer);
    if (state.paused_at !== null) return;
    for (const timer of asked) expect([...sim.timers.keys()]).toContain(timer);
  }

  /** One approval per entry at most, and none that is forgotten. */
  private checkApprovals(): void {
    const opened = this.toldOf("open").map(({ key }) => key);
    const withdrawn = new Set(this.toldOf("withdraw").map(({ key }) => key));
    expect(new Set(opened).size).toBe(opened.length);
    const settled = new Set(
      this.events.filter(({ type }) => type === "HumanInputResolved").map(({ details }) => String(details.approval_id)),
    );
    const open = placesOf(this.state.current).flatMap(({ current: { work } }) =>
      work.of === "human" ? [work.approval_id] : [],
    );
    expect(opened.filter((id) => !withdrawn.has(id) && !settled.has(id)).toSorted()).toEqual(open.toSorted());
    expect(this.told.filter(({ kind, coCommit }) => kind === "approval" && !coCommit)).toEqual([]);
  }
}
