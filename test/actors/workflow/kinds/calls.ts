/** Playing what a run's calls meet: tools, people who are asked, hosts, services outside. */
import type { Json } from "../../../../actors/kernel/json.ts";
import type { State } from "../../../../actors/workflow/definition.ts";
import type { ToolCall } from "../../../../actors/workflow/run/activities/tool-call.ts";
import { definitionOf, noop, ways } from "../fixture.ts";
import { type Beginning, RunStory } from "../scenario.ts";

type Values = { readonly [name: string]: Json };

const common = { timeout_ms: null, max_state_visits: 5, outcome: "completed" as const };
const followed = ways(["on_success", "DONE"], ["on_failure", "SORRY"]);

export const tool = (change: object = {}): State =>
  ({ kind: "Tool", ...common, transitions: followed, tool: "web.search", arguments: {}, ...change }) as State;

export const fleet = (change: object = {}): State =>
  ({
    ...{ kind: "Fleet", ...common, transitions: followed, target: "All", tool: "cmd.run", args: { command: "uptime" } },
    ...{ command: null, policy: {} },
    ...change,
  }) as State;

export const http = (change: object = {}): State =>
  ({
    ...{ kind: "Http", ...common, timeout_ms: 30_000, transitions: followed, url: "https://a.example/{{input.id}}" },
    ...{ method: "POST", headers: {}, body: null, expect: { status: [], schema: null } },
    ...change,
  }) as State;

/** A run whose first state, `WORK`, calls something, and goes on to `DONE` or, failing, to `SORRY`. */
export class Calls extends RunStory {
  static of(state: State, beginning: Beginning = {}, change = {}): Calls {
    return new Calls(definitionOf({ WORK: state, DONE: noop(), SORRY: noop() }, change), beginning).start() as Calls;
  }

  /** Everything that was ever asked of an activity, in order. */
  asked(activity: string): Values[] {
    return this.sim.performed.filter((one) => one.activity === activity).map(({ input }) => input as Values);
  }
  /** The call that was made last. */
  get call(): ToolCall {
    const last = this.asked("workflow.tool").at(-1);
    if (last === undefined) throw new Error("no tool was called");
    return last as unknown as ToolCall;
  }
  answers(value: Values): this {
    this.sim.succeed(`tool:${this.call.invocation_id}`, value);
    return this.settle();
  }
  ends(outcome: "success" | "failed", result: Values): this {
    return this.answers({ is: "ended", outcome: { outcome, result } });
  }
  /** A rate refuses it for so long. */
  later(after_ms: number): this {
    const result = { status: "error", isError: true, code: "rate_limited", message: "Too many" };
    return this.answers({ is: "later", after_ms, outcome: { outcome: "failed", result } });
  }
  /** News of people, of the call or of the fleet run. */
  people(news: Values, of: Values = { invocation_id: this.call.invocation_id, tool: this.call.tool }): this {
    const type = "fleet_command_id" in of ? "fleet_waiting" : "tool_waiting";
    return this.tell(type, { ...of, asked: null, decided: null, ...news });
  }
  /** The result of `WORK`. */
  get result(): Values {
    const { details } = this.event("WorkflowStateExited");
    const first = this.events.find(({ type, state_name }) => type === "WorkflowStateExited" && state_name === "WORK");
    return (first?.details.output ?? details.output) as Values;
  }
  /** Lets the next timer fire, at its time. */
  wait(): this {
    this.sim.fireNext();
    return this.settle();
  }
}

export const asked = (now: number, minutes = 60) => ({
  asked: { approval_id: "ap", prompt: "May it?", expires_at: now + minutes * 60_000 },
});
export const decided = (status: string) => ({
  decided: { approval_id: "ap", status, decision: status, via: "approve", decided_at: "2031-05-02T06:00:00.000Z" },
});
