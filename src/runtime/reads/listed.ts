/**
 * A state in two columns: the members that lists need (`listed` of the actor's definition), and the rest. Nothing is
 * stored twice, both are written in the turn's commit, and a list reads neither the bulk of a state nor a copy that
 * could differ from it.
 */
import { isObject, type Json } from "../../../actors/kernel/json.ts";

export interface StoredState {
  /** JSON of the listed members; null for a kind without. */
  readonly listed: string | null;
  /** JSON of the others, or of the whole state. */
  readonly state: string;
}

/** Characters. */
export const sizeOf = ({ listed, state }: StoredState): number => state.length + (listed?.length ?? 0);

/** @param listed names of members of the outermost object; undefined: the state stays whole */
export function splitState(state: Json, listed: ReadonlySet<string> | undefined): StoredState {
  const parts = partsOfState(state, listed);
  return { listed: parts.listed, state: JSON.stringify(parts.rest) };
}

/** The same, the others as they are. */
export function partsOfState(
  state: Json,
  listed: ReadonlySet<string> | undefined,
): { readonly listed: string | null; readonly rest: Json } {
  if (listed === undefined || !isObject(state)) return { listed: null, rest: state };
  const shown: Record<string, Json | undefined> = {};
  const rest: Record<string, Json | undefined> = {};
  for (const name in state) (listed.has(name) ? shown : rest)[name] = state[name];
  return { listed: JSON.stringify(shown), rest: rest as Json };
}

/** The whole state again; the listed members come first. */
export function joinState({ listed, state }: StoredState): Json {
  const rest = JSON.parse(state) as Json;
  return listed === null ? rest : { ...(JSON.parse(listed) as object), ...(rest as object) };
}
