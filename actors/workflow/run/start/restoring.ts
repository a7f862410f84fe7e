/**
 * The blackboard of a run as it was when a state was entered, from what the run's logs hold: the results in the events of
 * exits, and beside them what else was written (`../record/writes.ts`). What was written in branches went with them.
 */
import type { Json } from "../../../kernel/json.ts";
import type { Start } from "../blackboard/seed.ts";
import { isEvent, type StoredEvent } from "../record/events.ts";
import type { StoredWrites } from "../record/writes.ts";

/** As `Start.resume` takes it, without the state; `not_recorded`: something of it is no longer held. */
export type Restored = Omit<NonNullable<Start["resume"]>, "state"> | "not_recorded";

interface Step {
  readonly state: string;
  readonly visit: number;
  readonly entry: number;
}

export class Restoring {
  private blackboard: { [key: string]: Json } = {};
  private outputs: string[] = [];
  private entries = 0;
  private open: Step | null = null;
  private outcome: Restored | null = null;
  private isFirst = true;

  /** @param target the visit, as the run counts them */
  constructor(private readonly target: { readonly state: string; readonly visit: number }) {}

  /** Null: more events are wanted. */
  get restored(): Restored | null {
    return this.outcome;
  }

  /**
   * Takes the next event of the run's log in.
   * @param writesUpTo takes in what was written up to an entry, that one included, and was not taken in before
   */
  async event(event: StoredEvent, writesUpTo: (entry: number) => Promise<readonly StoredWrites[]>): Promise<void> {
    if (this.isFirst && event.type !== "WorkflowExecutionStarted") this.outcome = "not_recorded";
    this.isFirst = false;
    if (this.outcome !== null) return;
    if (isEvent(event, "WorkflowStateEntered")) {
      this.entries += 1;
      const { state_name: state, visit, branch } = event.details;
      if (branch !== undefined) return;
      this.open = { state, visit, entry: this.entries };
      if (state !== this.target.state || visit !== this.target.visit) return;
      const { state: _, ...before } = this.blackboard;
      this.blackboard = before;
      await this.takeIn(await writesUpTo(this.entries), null);
      // What the visit itself wrote is not before it, but for what it was told.
      this.outcome = { blackboard: this.blackboard, outputs: this.outputs };
    } else if (isEvent(event, "WorkflowStateExited")) {
      const { state_name, output, branch } = event.details;
      if (branch !== undefined) return;
      if (this.open?.state !== state_name) {
        this.outcome = "not_recorded";
        return;
      }
      await this.takeIn(await writesUpTo(this.open.entry), output);
      this.blackboard = { ...this.blackboard, [state_name]: output };
      if (!this.outputs.includes(state_name)) this.outputs.push(state_name);
      this.open = null;
    }
  }

  /** The run's log has no more. */
  end(): Restored {
    return this.outcome ?? "not_recorded";
  }

  /** @param output the result of the state that is exited; null: it is the visit to be restored */
  private async takeIn(written: readonly StoredWrites[], output: Json): Promise<void> {
    const entry = this.open?.entry ?? 0;
    for (const one of written) {
      const results = one.entry === entry ? (one.results ?? []) : [];
      const values = one.entry === entry && output === null ? told(one.values) : one.values;
      this.blackboard = { ...this.blackboard, ...values };
      if (output !== null) for (const key of results) this.blackboard[key] = output;
    }
  }
}

const told = ({ state }: StoredWrites["values"]): { readonly [key: string]: Json } =>
  state === undefined ? {} : { state };
