/** Playing the agents that a run starts: their starts, their ends, what they were asked. */
import { expect } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import type { State } from "../../../actors/workflow/definition.ts";
import type { AgentStart } from "../../../actors/workflow/run/activities.ts";
import { definitionOf, noop } from "./fixture.ts";
import { type Beginning, RunStory } from "./scenario.ts";

type Values = { readonly [name: string]: Json };

/** A run whose first state, `WORK`, starts agents. */
export class Cast extends RunStory {
  /** Those a test has let end. */
  private readonly over = new Set<string>();

  /** Enters `WORK`, which goes on to `DONE` or, failing, to `SORRY`. */
  static of(state: State, beginning: Beginning = {}): Cast {
    return new Cast(definitionOf({ WORK: state, DONE: noop(), SORRY: noop() }), beginning).start() as Cast;
  }

  /** Everything that was ever asked for, in order. */
  get asked(): AgentStart[] {
    return this.sim.performed
      .filter(({ activity }) => activity === "workflow.agent")
      .map(({ input }) => input as unknown as AgentStart);
  }
  /** Those that neither have ended nor been given up. */
  get open(): AgentStart[] {
    const cancelled = new Set(this.toldOf("cancel").map(({ key }) => key));
    return this.asked.filter(({ child_execution_id: id }) => !this.over.has(id) && !cancelled.has(id));
  }
  /** The one agent at work; several are an error. */
  get only(): AgentStart {
    const [one, ...others] = this.open;
    if (one === undefined || others.length > 0) throw new Error(`${this.open.length} agents are at work`);
    return one;
  }
  /** The result of `WORK`, once there is one. */
  get result(): Values {
    const exited = this.events.findLast(
      ({ type, state_name }) => type === "WorkflowStateExited" && state_name === "WORK",
    );
    if (exited === undefined) throw new Error("WORK is still at work");
    return exited.details.output as Values;
  }

  begun({ child_execution_id: id }: AgentStart): this {
    this.sim.succeed(`agent:${id}`, { agent_id: `id-of-${id}` });
    return this.settle();
  }
  /** Lets an agent end with an output; its start is heard first. */
  says(output: string, child = this.only): this {
    if (this.sim.activities.has(`agent:${child.child_execution_id}`)) this.begun(child);
    return this.ends(child, { status: "completed", output });
  }
  ends({ child_execution_id, agent }: AgentStart, how: Values): this {
    this.over.add(child_execution_id);
    const end = { child_execution_id, agent_id: `id-of-${agent}`, output: null, error_code: null };
    return this.tell("child_ended", { ...end, ...how });
  }
  refused(code: string, { child_execution_id: id } = this.only): this {
    this.over.add(id);
    this.sim.fail(`agent:${id}`, code);
    return this.settle();
  }
  verdict(score: number, more: Values = {}, child = this.only): this {
    return this.says(JSON.stringify({ score, ...more }), child);
  }

  override check(): void {
    super.check();
    const { current } = this.state ?? {};
    const listed = current != null && "children" in current.work ? current.work.children.map(({ id }) => id) : [];
    // Whoever is at work is waited for; whoever is not waited for was told to stop.
    expect(this.open.map(({ child_execution_id: id }) => id).sort()).toEqual([...listed].sort());
  }
}
