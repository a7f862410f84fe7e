/**
 * What two errors of one kind have in common: the text without ids, numbers, paths, quoted values and times, so that
 * one mistake met twice has one signature.
 */

/** Characters of a message that are looked at; what follows is seldom more than an output. */
const readCharacters = 2_000;
const signatureCharacters = 500;
/** A replacement can bring two halves of another one together; hostile texts do so again and again. */
const maxRounds = 16;

/** In this order: what contains others comes first. Quantifiers are bounded or cannot overlap what follows them. */
const replacements: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  [/"[^"]*"|`[^`]*`|“[^”]*”|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])/gu, "<value>"],
  [/\b[a-z][a-z0-9+.-]{0,20}:\/\/\S+/g, "<url>"],
  [
    /\b\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:z|[+-]\d{2}:?\d{2}))?)?(?![\p{L}\p{N}])/gu,
    "<time>",
  ],
  [/\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?![\p{L}\p{N}])/gu, "<time>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<id>"],
  [/(?<![\p{L}\p{N}])[a-z]:\\\S*/gu, "<path>"],
  [/(?:~|\.{1,2}|[\p{L}\p{N}_.@+-]{1,255})?(?:\/[\p{L}\p{N}_.@+-]+)+\/?/gu, "<path>"],
  // A word of eight characters or more that has letters and digits, as made ids, digests and tokens do.
  [/(?<![\p{L}\p{N}_])(?=[\p{L}_-]{0,64}\d)(?=[\d_-]{0,64}\p{L})[\p{L}\p{N}_-]{8,}/gu, "<id>"],
  [/[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?%?/g, "<n>"],
  [/\*{2,}/g, "<hidden>"],
];

/**
 * @param type of the error, a word
 * @param message of any length and content
 * @returns at most about 500 characters in lower case; the signature of a signature's text is that text
 */
export function signatureOf(type: string, message: string): string {
  return `${type}: ${withoutParticulars(message)}`;
}

/** The text without what differs from one time to the next. */
export function withoutParticulars(message: string): string {
  let text = message.slice(0, readCharacters).toWellFormed().replaceAll("\0", "").toLowerCase();
  for (let round = 0; round < maxRounds; round++) {
    const before = text;
    text = text.replace(/\s+/gu, " ").trim();
    for (const [pattern, placeholder] of replacements) text = text.replace(pattern, placeholder);
    text = text.slice(0, signatureCharacters).toWellFormed().trim();
    if (text === before) break;
  }
  return text;
}
