/** Which states lead where, over transitions and into branches. */
import type { State } from "../../definition.ts";

export type States = Readonly<Record<string, State>>;

/** What is found of a manifest is told where it stands there: the paths of its states. */
export type Paths = ReadonlyMap<string, string>;

export const pathOf = (name: string, paths: Paths): string => paths.get(name) ?? "spec.states";

/** Each state by its name; undefined also where it could not be read. */
export const stateIn = (states: States, name: string): State | undefined =>
  Object.hasOwn(states, name) ? states[name] : undefined;

/** States that undo others. No transition leads to them, and theirs lead nowhere. */
const undoingIn = (states: States): ReadonlySet<string> =>
  new Set(Object.values(states).flatMap(({ compensate }) => compensate ?? []));

export class Ways {
  private readonly reach = new Map<string, ReadonlySet<string>>();
  readonly undoing: ReadonlySet<string>;

  constructor(readonly states: States) {
    this.undoing = undoingIn(states);
  }

  /** Whether a state undoes others, or stands in a branch of one that does. */
  isUndoing(name: string): boolean {
    const around = stateIn(this.states, name)?.branch?.state;
    return this.undoing.has(name) || (around !== undefined && this.undoing.has(around));
  }

  /** The states that some way of at least one step leads to. */
  from(name: string): ReadonlySet<string> {
    const known = this.reach.get(name);
    if (known !== undefined) return known;
    const reached = new Set<string>();
    const waiting = [name];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (const target of this.stepsFrom(at)) {
        if (reached.has(target)) continue;
        reached.add(target);
        waiting.push(target);
      }
    }
    this.reach.set(name, reached);
    return reached;
  }

  private stepsFrom(name: string): readonly string[] {
    const state = stateIn(this.states, name);
    if (state === undefined) return [];
    const next = this.undoing.has(name) ? [] : state.transitions.map(({ target }) => target);
    return state.kind === "Branch" ? [...next, ...state.branches.map(({ initial_state }) => initial_state)] : next;
  }
}
