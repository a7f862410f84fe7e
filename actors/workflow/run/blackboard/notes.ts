/** How much room it takes what the lines of a run lay over its blackboard. */
import type { Line } from "../work.ts";
import { memberBytes } from "./size.ts";

/** Bytes of what a line lays over the blackboard. */
export const notesBytes = (notes: Line["notes"]): number =>
  Object.entries(notes).reduce((sum, [key, value]) => sum + memberBytes(key, value), 0);

/** Of several lines together, as far as they are counted among those of the blackboard. */
export const allNotesBytes = (lines: readonly Line[]): number =>
  lines.reduce((sum, { notes, bytes }) => (bytes === undefined ? sum + notesBytes(notes) : sum), 0);

/** By how many bytes the notes of a run's lines grow when these lines take the place of those. */
export function notesGrowth(had: readonly Line[], has: readonly Line[]): number {
  if (had === has) return 0;
  const [before, after] = [had, has].map((lines) => new Set(lines.map(({ notes }) => notes)));
  const come = has.filter(({ notes }) => before?.has(notes) !== true);
  const gone = had.filter(({ notes }) => after?.has(notes) !== true);
  return allNotesBytes(come) - allNotesBytes(gone);
}
