/**
 * A state in two columns: the members that lists need (`listed` of the actor's definition), and the rest. Nothing is
 * stored twice, both are written in the turn's commit, and a list reads neither the bulk of a state nor a copy that
 * could differ from it.
 */
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { jsonText, type KnownTexts } from "../../../actors/kernel/json-text.ts";

export interface StoredState {
  /** JSON of the listed members; null for a kind without. */
  readonly listed: string | null;
  /** JSON of the others, or of the whole state. */
  readonly state: string;
}

/** Characters. */
export const sizeOf = ({ listed, state }: StoredState): number => state.length + (listed?.length ?? 0);

/** Levels of a state in which large texts are looked for that occur several times. */
const levels = 2;

/**
 * @param listed names of members of the outermost object; undefined: the state stays whole
 * @param known large texts of the same commit
 */
export function splitState(state: Json, listed: ReadonlySet<string> | undefined, known: KnownTexts = []): StoredState {
  if (listed === undefined || !isObject(state)) return { listed: null, state: jsonText(state, levels, known) };
  const shown: Record<string, Json | undefined> = {};
  const rest: Record<string, Json | undefined> = {};
  for (const name in state) (listed.has(name) ? shown : rest)[name] = state[name];
  return { listed: JSON.stringify(shown), state: jsonText(rest, levels, known) };
}

/** The whole state again; the listed members come first. */
export function joinState({ listed, state }: StoredState): Json {
  const rest = JSON.parse(state) as Json;
  return listed === null ? rest : { ...(JSON.parse(listed) as object), ...(rest as object) };
}
