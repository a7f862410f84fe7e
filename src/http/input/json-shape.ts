/** What a JSON text would cost to parse, told from its bytes before anything recursive or costly meets it. */

/** Deeper documents are refused: functions that recurse over them would run out of stack. */
const maxDepth = 256;
/**
 * Values and names of a document above a mebibyte: each takes up to 0.5 us of the main thread, so a body of 16 MiB could
 * hold it for most of a second. Such bodies are large for the texts in them.
 */
const maxValues = 100_000;
const largeBytes = 1_048_576;

/**
 * Why a JSON text may not be parsed; null: it may. Of bytes that are no JSON it says nothing of use, but ends.
 * @returns part of a sentence about the body
 */
export function tooComplex(bytes: Uint8Array): "is nested too deeply" | "holds too many values" | null {
  const mostValues = bytes.length > largeBytes ? maxValues : Number.POSITIVE_INFINITY;
  let depth = 0;
  let values = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === quote) i = endOfString(bytes, i + 1);
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > maxDepth) return "is nested too deeply";
      values++;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    // Behind each comma and each colon there is a value or a name.
    else if ((byte === 0x2c || byte === 0x3a) && ++values > mostValues) return "holds too many values";
  }
  return null;
}

const quote = 0x22;
const backslash = 0x5c;
/** Bytes of a string that are looked at one by one before the search for its end is left to `indexOf`. */
const lookedAt = 64;

/**
 * Where a string's closing quote is; the length when it has none. Long strings are most of a large body: looking at each
 * of their bytes would take 40 ms of the main thread for 16 MiB.
 * @param start index after its opening quote
 */
function endOfString(bytes: Uint8Array, start: number): number {
  let i = start;
  for (;;) {
    for (const near = Math.min(bytes.length, i + lookedAt); i < near; i++) {
      if (bytes[i] === quote) return i;
      if (bytes[i] === backslash) i++;
    }
    if (i >= bytes.length) return bytes.length;
    const next = bytes.indexOf(quote, i);
    if (next === -1) return bytes.length;
    // A quote behind an odd number of backslashes is a character of the string.
    let slashes = 0;
    while (next - 1 - slashes >= i && bytes[next - 1 - slashes] === backslash) slashes++;
    if (slashes % 2 === 0) return next;
    i = next + 1;
  }
}
