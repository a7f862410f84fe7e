/** One turn of an execution under construction: the next state beside the effects that go with it. */

import type { Effect } from "../kernel/effect.ts";
import { copyOf, type Json } from "../kernel/json.ts";
import type { ReplyTo } from "../kernel/message.ts";
import { iso } from "../kernel/time.ts";
import type { Context, Turn } from "../kernel/turn.ts";
import { type EventFields, type EventName, eventOf } from "./events.ts";
import type { LoopEntry } from "./messages.ts";
import { loopLog } from "./start/plan.ts";
import type { ExecutionState, Iteration } from "./state.ts";

export class Life {
  /** A copy; a handler that throws leaves the actor as it was. */
  readonly state: ExecutionState;
  private readonly effects: Effect[] = [];

  constructor(
    state: ExecutionState,
    readonly context: Context,
  ) {
    this.state = copyOf(state);
  }

  get executionId(): string {
    return this.context.key;
  }
  get iteration(): Iteration {
    return this.state.iteration;
  }
  /** The time of this turn as events carry it. */
  get at(): string {
    return iso(this.context.now);
  }

  emit<N extends EventName>(name: N, fields: EventFields<N>): void {
    const subject = { execution_id: this.executionId, agent_id: this.state.header.agent_id };
    this.effects.push({ effect: "emit", entry: eventOf(name, subject, fields) });
  }

  /** Sends a message to another execution. */
  tell(executionId: string, type: string, body: Json): void {
    this.push({ effect: "tell", kind: this.context.kind, key: executionId, message: { type, body } });
  }
  push(effect: Effect): void {
    this.effects.push(effect);
  }

  /** Appends to one of the other logs. */
  note(log: string, entry: Json): void {
    this.effects.push({ effect: "emit", log, entry });
  }

  /** Appends to the loop log of the current instance and returns the entry's number. */
  record(entry: LoopEntry): number {
    this.note(loopLog(this.iteration.instance_id), entry as Json);
    this.iteration.logged += 1;
    return this.iteration.logged;
  }

  /** Adds a warning to the record, unless it has one of the code. */
  warnOnce(code: string, message: string): void {
    const { warnings } = this.state.header;
    if (!warnings.some((warning) => warning.code === code)) warnings.push({ code, message });
  }

  perform(activity: string, id: string, input: Json, then: string): void {
    this.effects.push({ effect: "perform", activity, id, input, then });
  }
  abandon(id: string): void {
    this.effects.push({ effect: "abandon", id });
  }
  schedule(timer: string, at: number, type: string, body: Json): void {
    this.effects.push({ effect: "schedule", timer, at, message: { type, body } });
  }
  cancelTimer(timer: string): void {
    this.effects.push({ effect: "cancel", timer });
  }
  reply(to: ReplyTo, value: Json): void {
    this.effects.push({ effect: "reply", to, value });
  }

  /** Closes the turn. Without `reply` the caller is answered later, or never. */
  turn(reply?: Json): Turn<ExecutionState> {
    return { state: this.state, effects: this.effects, ...(reply === undefined ? {} : { reply }) };
  }
  /** Closes the last turn: the actor and its logs go. */
  farewell(reply: Json): Turn<ExecutionState> {
    return { state: null, effects: this.effects, reply };
  }
}

/** The answer to what changes nothing. */
export function unchanged(state: ExecutionState | null, reply?: Json): Turn<ExecutionState> {
  return { state, effects: [], ...(reply === undefined ? {} : { reply }) };
}
