/** An opened approval, the people around it, and what it wrote and told. */
import type { Open } from "../../../actors/approval/messages.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import type { Effect } from "../../../actors/kernel/effect.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Simulation } from "../simulate.ts";
import { openBody, person, unopened } from "./fixture.ts";

export const id = "0190f3c4-0000-7000-8000-000000000001";

export const ada = person("ada");

export const bob = person("bob");

export function opened(changes: Partial<Open> = {}): Simulation {
  const one = unopened();
  one.tell("open", openBody(changes));
  return one;
}

export const stateOf = (one: Simulation) => one.state as unknown as ApprovalState;

export const types = (one: Simulation) => one.log().map((entry) => (entry as { type: string }).type);

export const notes = (one: Simulation, type: string) =>
  one.log().flatMap((entry) => {
    const event = entry as { type: string; note: string | null };
    return event.type === type ? [event.note] : [];
  });

export const tellsOf = (one: Simulation) => one.told as Extract<Effect, { effect: "tell" }>[];

/** What the owner was told last. */
export const told = (one: Simulation) => tellsOf(one).at(-1)?.message.body as { [member: string]: Json };

export const resultOf = (one: Simulation) => told(one).result as { [member: string]: Json };
