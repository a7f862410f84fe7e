/** One turn of an execution under construction: the next state beside the effects that go with it. */

import { copyOf } from "../kernel/json.ts";
import { iso } from "../kernel/time.ts";
import type { Context, Turn } from "../kernel/turn.ts";
import { TurnEffects } from "../kernel/turn.ts";
import { type EventFields, type EventName, eventOf, executionEvents } from "./events.ts";
import type { ExecutionMessages, LoopEntry } from "./messages.ts";
import { executionProtocol, loopLog } from "./messages.ts";
import type { ExecutionState, Iteration } from "./state.ts";

/** The answer of an execution; `Reply` is never where no caller waits. */
export type Result<Reply> = Turn<ExecutionState, Reply, ExecutionMessages>;

export class ExecutionTurn extends TurnEffects<ExecutionMessages> {
  /** A copy; a handler that throws leaves the actor as it was. */
  readonly state: ExecutionState;

  constructor(state: ExecutionState, context: Context) {
    super(executionProtocol, context);
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
    this.append(executionEvents, eventOf(name, subject, fields));
  }

  /** Appends to the loop log of the current instance and returns the entry's number. */
  record(entry: LoopEntry): number {
    this.append(loopLog(this.iteration.instance_id), entry);
    this.iteration.logged += 1;
    return this.iteration.logged;
  }

  /** Adds a warning to the record and to the stream, unless the record has one of the code. */
  warnOnce(code: string, message: string): void {
    const { warnings } = this.state.header;
    if (warnings.some((warning) => warning.code === code)) return;
    warnings.push({ code, message });
    this.emit("execution_warning", { code, message, at: this.at });
  }

  /** Closes the turn. Without `reply` the caller is answered later, or never. */
  turn<Reply = never>(reply?: Reply): Result<Reply> {
    return { state: this.state, effects: this.effects, ...(reply === undefined ? {} : { reply }) };
  }
  /** Closes the last turn: the actor and its logs go. */
  end<Reply>(reply: Reply): Result<Reply> {
    return { state: null, effects: this.effects, reply };
  }
}

/** The answer to what changes nothing. */
export function unchanged<Reply = never>(state: ExecutionState | null, reply?: Reply): Result<Reply> {
  return { state, effects: [], ...(reply === undefined ? {} : { reply }) };
}
