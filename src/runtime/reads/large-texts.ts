/** Stored texts that are large: parsed, and made answers of, one after the other, however many are read at once. */
import { FairTurns } from "../../lib/fair-turns.ts";

/** Characters of stored texts whose parsing is work. */
const large = 64 * 1024;

/** The process has one main thread, so there is one line for it. */
const turns = new FairTurns();

/** Waits until the texts may be parsed. @param owner whose turn it takes */
export async function turnFor(owner: string, texts: Iterable<string | null>): Promise<void> {
  let characters = 0;
  for (const text of texts) characters += text?.length ?? 0;
  if (characters > large) await turns.take(owner);
}
