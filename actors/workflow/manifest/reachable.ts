/** Which states lead where: states that nothing leads to, and those that can come again. */
import type { Findings } from "../../manifest/findings.ts";
import type { State } from "../definition.ts";

type States = Readonly<Record<string, State>>;

/**
 * Adds the warnings `unreachable_state` and `loop`.
 * @param paths of the states in the manifest
 */
export function warnOfPaths(
  initial: string,
  states: States,
  paths: ReadonlyMap<string, string>,
  findings: Findings,
): void {
  const reach = new Map(Object.keys(states).map((name) => [name, reachedFrom(name, states)]));
  const fromStart = reach.get(initial);
  const told = new Set<string>();
  for (const name of Object.keys(states)) {
    const path = paths.get(name) ?? "spec.states";
    if (fromStart !== undefined && name !== initial && !fromStart.has(name)) {
      findings.warn(path, "unreachable_state", "No transition leads here from the initial state");
    }
    if (told.has(name) || !reach.get(name)?.has(name)) continue;
    const loop = [...(reach.get(name) ?? [])].filter((other) => reach.get(other)?.has(name));
    for (const one of loop) told.add(one);
    const limits = "ended by max_state_visits and max_total_transitions at the latest";
    findings.warn(
      path,
      "loop",
      `A run may come here again (${loop.slice(0, 10).join(", ").toWellFormed()}), ${limits}`,
    );
  }
}

/** The states that some path of at least one transition leads to. */
function reachedFrom(start: string, states: States): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [start];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const state = Object.hasOwn(states, at) ? states[at] : undefined;
    for (const { target } of state?.transitions ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      waiting.push(target);
    }
  }
  return reached;
}
