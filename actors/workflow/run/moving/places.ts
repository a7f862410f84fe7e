/** Where a run is at work: in its main line and in each of its others. */
import type { RunTurn } from "../turn.ts";
import { type Current, linesOf } from "../work.ts";

export interface Place {
  /** Its name; null: the main line. */
  readonly line: string | null;
  readonly current: Current;
}

/** The lines before the state that goes along them. */
export function placesOf(current: Current | null): readonly Place[] {
  if (current === null) return [];
  const lines = linesOf(current).flatMap(({ name, current }) => (current === null ? [] : [{ line: name, current }]));
  return [...lines, { line: null, current }];
}

/** Takes a step at this entry, with its line in focus; nothing where it is over. */
export function atEntry(run: RunTurn, entry: number, step: (current: Current) => void): void {
  const place = placesOf(run.state.current).find(({ current }) => current.entry === entry);
  if (place !== undefined) run.inLine(place.line, () => step(place.current));
}
