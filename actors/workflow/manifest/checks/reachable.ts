/** States that nothing leads to, and those that can come again. */
import type { Findings } from "../../../manifest/findings.ts";
import { type Paths, pathOf, type Ways } from "./ways.ts";

/** Adds the warnings `unreachable_state` and `loop`. */
export function warnOfPaths(initial: string, ways: Ways, paths: Paths, findings: Findings): void {
  const fromStart = Object.hasOwn(ways.states, initial) ? ways.from(initial) : undefined;
  const undoing = new Set([...ways.undoing].flatMap((name) => [name, ...ways.from(name)]));
  const told = new Set<string>();
  for (const name of Object.keys(ways.states)) {
    const path = pathOf(name, paths);
    const isMeant = name === initial || undoing.has(name);
    if (fromStart !== undefined && !isMeant && !fromStart.has(name)) {
      findings.warn(path, "unreachable_state", "No transition leads here from the initial state");
    }
    const reached = ways.from(name);
    if (told.has(name) || !reached.has(name)) continue;
    const loop = [...reached].filter((other) => ways.from(other).has(name));
    for (const one of loop) told.add(one);
    const limits = "ended by max_state_visits and max_total_transitions at the latest";
    findings.warn(
      path,
      "loop",
      `A run may come here again (${loop.slice(0, 10).join(", ").toWellFormed()}), ${limits}`,
    );
  }
}
