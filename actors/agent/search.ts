/** How well an agent fits a search in words. Pure. */

/** What is looked at. */
export interface SearchedAgent {
  readonly name: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Words of a query that count; more are left out. */
const maxWords = 32;
/** What a word of the query is worth by where it was found: as a word, as the beginning of one, within one. */
const worth = { word: 1, beginning: 0.8, within: 0.5 } as const;
/** Of what is found in descriptions and labels alone, beside names and tags. */
const aside = 0.7;

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The words of a query, each once. */
export const queryWords = (query: string): readonly string[] => [...new Set(wordsOf(query))].slice(0, maxWords);

/** @returns 0 (nothing of the query is in it) to 1 (every word is a word of its name or its tags) */
export function searchScore(words: readonly string[], { name, description, tags, labels }: SearchedAgent): number {
  if (words.length === 0) return 0;
  const first = [name, ...tags].flatMap(wordsOf);
  const second = [description ?? "", ...Object.entries(labels).flat()].flatMap(wordsOf);
  const total = words.reduce((sum, word) => sum + Math.max(worthOf(word, first), aside * worthOf(word, second)), 0);
  return Math.round((total / words.length) * 1000) / 1000;
}

function worthOf(word: string, found: readonly string[]): number {
  if (found.includes(word)) return worth.word;
  if (found.some((one) => one.startsWith(word) || (one.length > 3 && word.startsWith(one)))) return worth.beginning;
  return found.some((one) => one.includes(word)) ? worth.within : 0;
}
