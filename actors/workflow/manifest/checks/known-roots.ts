/** What templates can find on the blackboard, by where in a manifest they stand. */
import type { Definition, State } from "../../definition.ts";
import { systemKeys } from "../../run/blackboard/variables.ts";
import { type Paths, pathOf, type Ways } from "./ways.ts";

/** Known in some templates beside the blackboard: those of judges and output handlers. */
const elsewhere = ["output", "iteration_number"];

/** What a template sees. */
export interface Scope {
  /** Keys of the blackboard. */
  readonly roots: ReadonlySet<string>;
  /** Keys that only states write which never come before. */
  readonly late: ReadonlySet<string>;
  readonly isUndoing: boolean;
}

interface Stretch {
  /** Of what the scope is. */
  readonly path: string;
  readonly scope: Scope;
}

/** Says what templates at a path see. */
export function scopesOf(definition: Definition, ways: Ways, paths: Paths): (path: string) => Scope {
  const { states } = definition;
  const base = brought(definition);
  const outer = Object.entries(states).filter(([name, state]) => isOuter(name, state, ways));
  const everything: Scope = scopeOf(new Set([...base, ...outer.flatMap(written)]));
  const stretches = Object.entries(states).flatMap(([name, state]): Stretch[] => {
    const path = pathOf(name, paths);
    const near = beside(state, states, ways).flatMap(written);
    const scope = ways.isUndoing(name)
      ? { ...scopeOf(new Set([...everything.roots, ...ways.undoing, ...near])), isUndoing: true }
      : scopeOf(new Set([...everything.roots, ...near]));
    const seen = ways.isUndoing(name) ? scope : { ...scope, late: lateFor(name, state, base, definition, ways) };
    // Its own result is there when its transitions are decided on.
    const after = { ...seen, late: new Set([...seen.late].filter((key) => !written([name, state]).includes(key))) };
    return [{ path, scope: seen }, { path: `${path}.transitions`, scope: after }, ...itemStretches(state, path, seen)];
  });
  return (path) => {
    const around = stretches.filter((one) => path === one.path || path.startsWith(`${one.path}.`));
    return around.reduce<Stretch>((one, other) => (other.path.length > one.path.length ? other : one), {
      path: "",
      scope: everything,
    }).scope;
  };
}

const scopeOf = (roots: ReadonlySet<string>): Scope => ({ roots, late: new Set(), isUndoing: false });

/** An item finds itself and its position. */
function itemStretches(state: State, path: string, seen: Scope): Stretch[] {
  if (state.kind !== "Map") return [];
  const own = [state.as, "index"];
  const late = new Set([...seen.late].filter((key) => !own.includes(key)));
  const scope = { ...seen, roots: new Set([...seen.roots, ...own]), late };
  return ["state", "workflow", "input"].map((member) => ({ path: `${path}.${member}`, scope }));
}

/** What stays on the blackboard once a state has ended: what branches write goes with them. */
const isOuter = (name: string, state: State, { undoing }: Ways): boolean =>
  state.branch === undefined && !undoing.has(name);

/** The states of the same branch. */
function beside({ branch }: State, states: Definition["states"], { undoing }: Ways): [string, State][] {
  if (branch === undefined) return [];
  return Object.entries(states).filter(
    ([name, other]) => other.branch?.state === branch.state && other.branch.name === branch.name && !undoing.has(name),
  );
}

/** Keys that no state writes which can come before this one. */
function lateFor(
  name: string,
  state: State,
  base: readonly string[],
  { states, initial_state }: Definition,
  ways: Ways,
): ReadonlySet<string> {
  const isReached = name === initial_state || ways.from(initial_state).has(name);
  // Of what never comes nothing is before or after.
  if (!isReached) return new Set();
  const outer = Object.entries(states).filter(([one, other]) => isOuter(one, other, ways));
  const place = state.branch?.state ?? name;
  const early = new Set([
    ...base,
    ...outer.filter(([one]) => ways.from(one).has(place)).flatMap(written),
    ...beside(state, states, ways)
      .filter(([one]) => ways.from(one).has(name))
      .flatMap(written),
  ]);
  const all = [...outer, ...beside(state, states, ways)].flatMap(written);
  return new Set(all.filter((key) => !early.has(key)));
}

/** Keys that a state writes. */
function written([name, state]: readonly [string, State]): string[] {
  if (state.kind === "Subworkflow") return [name, ...(state.result_key === null ? [] : [state.result_key])];
  if (state.kind !== "System" || state.command.form !== "text") return [name];
  return state.command.text.trim() === "update_blackboard" ? [name, ...Object.keys(state.env)] : [name];
}

/** Keys that are there before the first state. */
function brought({ context, storage: { workspace, shared_volumes } }: Definition): readonly string[] {
  return [
    ...systemKeys,
    ...elsewhere,
    ...Object.keys(context),
    ...shared_volumes.map(({ name }) => `${name}_volume_id`),
    ...(workspace === null ? [] : [workspace.blackboard_key]),
  ];
}
