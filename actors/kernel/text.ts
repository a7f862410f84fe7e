/** Pieces of text handling that stores and records need everywhere. */

/** `text` as PostgreSQL takes it in text and JSON: NUL and lone surrogates become U+FFFD. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

/**
 * The end of an output as text of at most `limit` UTF-8 bytes. Bytes that are not UTF-8 grow when they are decoded, so
 * the text is cut until it fits.
 */
export function utf8Tail(bytes: Uint8Array, limit: number): string {
  let text = new TextDecoder().decode(bytes.subarray(Math.max(0, bytes.length - limit)));
  while (Buffer.byteLength(text) > limit) text = text.slice(Math.ceil((Buffer.byteLength(text) - limit) / 3));
  return text;
}

/** Length of the longest prefix that does not end inside a UTF-8 character. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 4 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The text without one code fence around all of it; without such a fence, the text as it is. */
export function withoutFence(text: string): string {
  const fenced = text.trim();
  const lineEnd = fenced.indexOf("\n");
  const isFenced = fenced.startsWith("```") && fenced.endsWith("```") && lineEnd > 0 && lineEnd < fenced.length - 3;
  if (!isFenced || fenced.slice(3, lineEnd).includes("`")) return text;
  return fenced.slice(lineEnd + 1, -3).replace(/\n$/, "");
}

/** The last lines of an output for a sentence about its end: at most ten, and at most `characters` of them; "" for none. */
export function lastLines(text: string, characters = 1000): string {
  const lines = text.slice(-characters).trimEnd().split("\n");
  // The first one may be the rest of a line.
  if (text.length > characters && lines.length > 1) lines.shift();
  return lines
    .slice(-10)
    .join("\n")
    .replace(/^[\uDC00-\uDFFF]/, "")
    .trim();
}
