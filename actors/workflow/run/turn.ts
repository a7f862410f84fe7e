/**
 * One turn of a run under construction: the next state beside the effects that go with it.
 *
 * The state is never changed in place: what a turn does not touch is shared with the state before, so that a large
 * blackboard costs nothing but its own change.
 */

import { emit } from "../../kernel/effect.ts";
import { isObject, type Json, jsonOrText } from "../../kernel/json.ts";
import { iso } from "../../kernel/time.ts";
import type { Context, Turn } from "../../kernel/turn.ts";
import { TurnEffects } from "../../kernel/turn.ts";
import { Effort, MissingPath } from "../../template/effort.ts";
import { compile, type Part } from "../../template/template.ts";
import type { State } from "../definition.ts";
import { notesGrowth } from "./blackboard/notes.ts";
import { memberBytes } from "./blackboard/size.ts";
import { variablesOf } from "./blackboard/variables.ts";
import type { WorkflowRunMessages } from "./messages.ts";
import { workflowRunProtocol } from "./messages.ts";
import type { EventBody, EventType } from "./record/events.ts";
import { eventOf, workflowEvents } from "./record/events.ts";
import { WritesOfTurn, workflowWrites } from "./record/writes.ts";
import { isOver, type RunState } from "./state.ts";
import { type Current, type Line, linesOf, type Work, type WorkOf } from "./work.ts";

/** Bytes of a rendered text. */
export const maxRenderedBytes = 1_048_576;
/** Warnings that a run keeps. */
const maxWarnings = 50;
/** Of all templates and expressions of one turn together: nothing else of the node goes on meanwhile. */
const mostSteps = 250_000;

/** The answer of a run; `Reply` is never where no caller waits. */
export type Result<Reply> = Turn<RunState, Reply, WorkflowRunMessages>;

export class RunTurn extends TurnEffects<WorkflowRunMessages> {
  private next: RunState;
  private focused: string | null = null;
  private readonly writes = new WritesOfTurn();
  /** What is left of it for templates and expressions. */
  readonly effort = new Effort(mostSteps);

  constructor(
    /** As the turn found it. */
    readonly before: RunState,
    context: Context,
  ) {
    super(workflowRunProtocol, context);
    this.next = before;
  }

  get state(): RunState {
    return this.next;
  }
  get id(): string {
    return this.context.key;
  }
  /** The run as clients know it: of a child record of items, the run whose they are. */
  get runId(): string {
    return this.next.header.batch?.run_id ?? this.context.key;
  }
  /** Of an item of a Map, the position that it has; null elsewhere. */
  get itemIndex(): number | null {
    return this.next.header.batch === undefined || this.focused === null ? null : Number(this.focused);
  }
  get now(): number {
    return this.context.now;
  }
  /** The time of this turn as events carry it. */
  get at(): string {
    return iso(this.context.now);
  }
  /** The line in focus, by its name; null: the main line. */
  get focus(): string | null {
    return this.focused;
  }
  /** The line in focus; null: the main line, or a line that is no longer there. */
  get line(): Line | null {
    if (this.focused === null) return null;
    return linesOf(this.next.current).find(({ name }) => name === this.focused) ?? null;
  }
  /** Whether a state is at work in the line in focus. */
  get isAtWork(): boolean {
    return (this.focused === null ? this.next.current : (this.line?.current ?? null)) !== null;
  }
  /**
   * The state at work in the line in focus.
   * @throws when none is: a fault of the caller
   */
  get current(): Current {
    const current = this.focused === null ? this.next.current : (this.line?.current ?? null);
    if (current === null) throw new Error("no state is at work");
    return current;
  }
  /** Takes a step with another line in focus; null: the main line. */
  inLine<T>(name: string | null, step: () => T): T {
    const before = this.focused;
    this.focused = name;
    try {
      return step();
    } finally {
      this.focused = before;
    }
  }
  /** The definition of the state at work. */
  get definition(): State {
    const state = this.stateNamed(this.current.name);
    if (state === undefined) throw new Error(`no state ${this.current.name}`);
    return state;
  }
  /** A state by its name, as the line in focus knows it: to an item the name of its Map is what is done for each item. */
  stateNamed(name: string): State | undefined {
    const { states } = this.next.definition;
    const state = Object.hasOwn(states, name) ? states[name] : undefined;
    return state?.kind === "Map" && this.itemIndex !== null ? state.item : state;
  }

  change(members: Partial<Omit<RunState, "current" | "next">>): void {
    this.next = { ...this.next, ...members };
  }
  /** Sets the state at work in the line in focus, the one that comes next, or both. */
  move(members: { readonly current?: Current | null; readonly next?: RunState["next"] }): void {
    if (this.focused !== null) {
      // A state of a line goes no several ways itself: its work is none that has lines.
      this.changeLine(members as Partial<Line>);
      return;
    }
    const { current, blackboard_bytes: bytes } = this.next;
    // What lines wrote takes room as long as the lines are there.
    const growth = members.current === undefined ? 0 : notesGrowth(linesOf(current), linesOf(members.current));
    this.next = { ...this.next, ...members, blackboard_bytes: bytes + growth };
  }
  /** Changes members of the line in focus. @throws when the main line is: a fault of the caller */
  changeLine(members: Partial<Line>): void {
    const { current } = this.next;
    const { line } = this;
    if (line === null || current === null || !("lines" in current.work)) throw new Error("no line is in focus");
    const lines = current.work.lines.map((one) => (one === line ? { ...one, ...members } : one));
    this.next = { ...this.next, current: { ...current, work: { ...current.work, lines } } };
  }
  /** Replaces the progress of the state at work. */
  work(work: Work): void {
    this.move({ current: { ...this.current, work } });
  }
  /** @throws when the state at work is of another kind: a fault of the caller */
  workOf<K extends Work["of"]>(of: K): WorkOf<K> {
    const { work } = this.current;
    if (work.of !== of) throw new Error(`work on ${of} in a state at ${work.of}`);
    return work as WorkOf<K>;
  }
  /** @throws when the state at work is of another kind: a fault of the caller */
  stateOf<K extends State["kind"]>(kind: K): Extract<State, { kind: K }> {
    const { definition } = this;
    if (definition.kind !== kind) throw new Error(`a ${kind} state that is a ${definition.kind}`);
    return definition as Extract<State, { kind: K }>;
  }
  /**
   * Sets members of the blackboard; of a line, what it lays over it. Whether it still fits is seen when the turn goes on
   * (`settling.ts`).
   */
  note(entries: { readonly [key: string]: Json }): void {
    const { line } = this;
    const blackboard = line?.notes ?? this.next.blackboard;
    let bytes = this.next.blackboard_bytes;
    for (const [key, value] of Object.entries(entries)) {
      if (Object.hasOwn(blackboard, key)) bytes -= memberBytes(key, blackboard[key] ?? null);
      bytes += memberBytes(key, value);
    }
    if (line === null) {
      this.change({ blackboard: { ...blackboard, ...entries }, blackboard_bytes: bytes });
      if (this.next.header.batch === undefined) this.writes.add(this.next.current?.entry ?? 0, entries);
    } else if (line.bytes !== undefined) {
      const more = bytes - this.next.blackboard_bytes;
      this.changeLine({ notes: { ...blackboard, ...entries }, bytes: line.bytes + more });
    } else {
      this.changeLine({ notes: { ...blackboard, ...entries } });
      this.change({ blackboard_bytes: bytes });
    }
  }
  /** Bytes of the blackboard, as far as they bind the line in focus. */
  get seenBytes(): number {
    return this.next.blackboard_bytes + (this.line?.bytes ?? 0);
  }
  /** The blackboard as the line in focus sees it. */
  get seen(): { readonly [key: string]: Json } {
    const { line } = this;
    const { blackboard } = this.next;
    if (line === null) return blackboard;
    const { state } = line.notes;
    // What a compensation undoes is kept once for all of its lines.
    const of = isObject(blackboard.state) ? blackboard.state.of : undefined;
    return {
      ...blackboard,
      ...line.notes,
      ...(of !== undefined && isObject(state) ? { state: { ...state, of } } : {}),
    };
  }
  /** Takes a step that may throw: then nothing of it stays. */
  attempt(step: () => void): void {
    const [next, effects, writes] = [this.next, [...this.effects], this.writes.count];
    try {
      step();
    } catch (error) {
      this.next = next;
      this.effects = effects;
      this.writes.cut(writes);
      throw error;
    }
  }

  /**
   * What becomes of a template that prints a path that does not exist: a warning of the run, or under
   * `strict_templates` the failure of the state.
   * @throws MissingPath
   */
  readonly pathMissing = (path: string): void => {
    if (this.next.definition.strict_templates) throw new MissingPath(path);
    const message = `A template prints ${path}, which does not exist: its place is empty`;
    this.warn("template_path_missing", message, { path });
  };

  /** Adds a warning to the record and to the log, each once for a state. */
  private warn(code: string, message: string, details: { readonly [name: string]: Json }): void {
    const { warnings = [] } = this.next;
    const state_name = this.isAtWork ? this.current.name : null;
    const isTold = warnings.some((one) => one.message === message && one.state_name === state_name);
    if (isTold || warnings.length >= maxWarnings) return;
    this.change({ warnings: [...warnings, { code, message, state_name, at: this.now }] });
    this.emit("WorkflowWarning", {
      message,
      ...(state_name === null ? {} : { state_name }),
      details: { code, ...details },
    });
  }

  /** @throws TemplateError */
  render(template: string, extra: { readonly [name: string]: Json } = {}): string {
    const variables = variablesOf(this.seen, extra);
    return compile(template).render(variables, maxRenderedBytes, this.effort, this.pathMissing);
  }
  /**
   * As `render`, but a template that is nothing but one `{{path}}` or `{{json value}}` gives that value as it is; what
   * does not exist is an empty text.
   * @throws TemplateError
   */
  renderTyped(template: string): Json {
    const variables = variablesOf(this.seen, {});
    const whole = compile(template).whole(variables, maxRenderedBytes, this.effort, this.pathMissing);
    return whole === null ? this.render(template) : whole.value;
  }
  /**
   * As `render`, kept apart by who wrote what.
   * @throws TemplateError
   */
  renderParts(template: string): readonly Part[] {
    const variables = variablesOf(this.seen, {});
    return compile(template).renderParts(variables, maxRenderedBytes, this.effort, this.pathMissing);
  }

  /**
   * Renders every text of a value, at any depth. A rendered text at the top that is a JSON object or array becomes that value.
   * @throws TemplateError
   */
  renderValue(value: Json, extra: { readonly [name: string]: Json } = {}): Json {
    if (typeof value === "string") return jsonOrText(this.render(value, extra));
    return this.renderTexts(value, extra);
  }

  private renderTexts(value: Json, extra: { readonly [name: string]: Json }): Json {
    if (typeof value === "string") return this.render(value, extra);
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((one: Json) => this.renderTexts(one, extra));
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.renderTexts(member ?? null, extra)]),
    );
  }

  /** Adds to the run's log; a child record of items has none. */
  emit<T extends EventType>(type: T, body: EventBody<T>): void {
    if (this.next.header.batch !== undefined) return;
    const branch = this.focused;
    const event = eventOf(type, body);
    this.append(workflowEvents, branch === null ? event : { ...event, details: { ...event.details, branch } });
  }

  /** Closes the turn. Without `reply` the caller is never answered. */
  turn<Reply = never>(reply?: Reply): Result<Reply> {
    // A child record of items ends with the last of them.
    const isGone = this.next.header.batch !== undefined && isOver(this.next);
    const state = isGone ? null : this.next;
    const written = isGone ? [] : this.writes.stored(this.next.definition).map((one) => emit(workflowWrites, one));
    return { state, effects: [...this.effects, ...written], ...(reply === undefined ? {} : { reply }) };
  }
  /** Closes the last turn: the run and its logs go. */
  end<Reply>(reply: Reply): Result<Reply> {
    return { state: null, effects: this.effects, reply };
  }
}

/** The answer to what changes nothing. */
export function unchanged<Reply = never>(state: RunState | null, reply?: Reply): Result<Reply> {
  return { state, effects: [], ...(reply === undefined ? {} : { reply }) };
}
