/** The right name that a wrong one was probably meant to be. */

/** Longer names are not compared: the time is the product of both lengths. */
const maxLength = 64;
/** More candidates are not looked through. */
const maxCandidates = 500;

/**
 * The candidate with the fewest edits (insert, delete, replace, swap neighbours: the optimal string alignment distance)
 * from the text, if at most a third of it has to change. Case counts for nothing, `-` and `_` are alike.
 */
export function nearest(text: string, candidates: Iterable<string>): string | null {
  const wanted = folded(text);
  if (wanted.length === 0 || wanted.length > maxLength) return null;
  let best: string | null = null;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  let looked = 0;
  for (const candidate of candidates) {
    if (candidate === text || candidate.length > maxLength || Math.abs(candidate.length - wanted.length) >= least)
      continue;
    if (++looked > maxCandidates) break;
    const edits = distance(wanted, folded(candidate));
    if (edits >= least) continue;
    best = candidate;
    least = edits;
  }
  return best;
}

/** The end of a sentence that names the nearest candidate; empty where none is near. */
export function suggestion(text: string, candidates: Iterable<string>): string {
  const meant = nearest(text, candidates);
  return meant === null ? "" : `; did you mean ${meant}?`;
}

/** What is wrong with a text that is none of the choices. */
export const notOneOf = (text: string, choices: Iterable<string>): string =>
  `${text.slice(0, maxLength)} is not one of ${[...choices].join(", ")}${suggestion(text, choices)}`;

const folded = (text: string): string => text.toLowerCase().replaceAll("-", "_");

/** Three rows of the table of distances between the beginnings of both texts. */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      let fewest = Math.min(replaced, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) fewest = Math.min(fewest, (before[column - 2] ?? 0) + 1);
      current.push(fewest);
    }
    before = last;
    last = current;
  }
  return last[other.length] ?? 0;
}
