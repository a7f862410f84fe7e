/**
 * Array parameters as PostgreSQL array literals, to be cast in the statement (`$1::text[]`). Many times
 * faster than the driver's general serializer, which matters for batches of hundreds of rows.
 */

/** Strings must not hold U+0000, which PostgreSQL's text cannot. */
export function texts(values: readonly string[]): string {
  // Names, nearly always: one look at all of them.
  if (!special.test(values.join(""))) return values.length === 0 ? "{}" : `{"${values.join('","')}"}`;
  let literal = "{";
  for (let index = 0; index < values.length; index++) {
    if (index > 0) literal += ",";
    literal += `"${(values[index] as string).replace(/["\\]/g, "\\$&")}"`;
  }
  return `${literal}}`;
}

const special = /["\\]/;

/**
 * Strings that are JSON texts. Those hold no raw control characters, so the only escapes that quoting them
 * as JSON once more adds are the two that array literals know, and the engine's own quoting is the fastest.
 */
export function jsonTexts(values: readonly string[]): string {
  return `{${values.map((value) => JSON.stringify(value)).join(",")}}`;
}

/**
 * Strings that are JSON texts, as one text that `string_to_array($1, E'\n')` takes apart: they hold no raw control
 * characters. For long ones this is cheaper on both sides than quoting them once more; no text may be empty.
 */
export function jsonLines(values: readonly string[]): string {
  return values.join("\n");
}

/** The character that divides units of information; hardly a text holds it. */
const unitSeparator = "\u001f";

/**
 * Texts of any kind as one, and the separator that `string_to_array($1, $2)` takes it apart by. A text with many quotes
 * and backslashes, such as a body in JSON, would cost more to be quoted than everything else that is done with it.
 *
 * PostgreSQL makes no element of a single empty text: the statement reads null as an empty one.
 */
export function separated(values: readonly string[]): { readonly text: string; readonly separator: string } {
  const separator = values.some((value) => value.includes(unitSeparator)) ? crypto.randomUUID() : unitSeparator;
  return { text: values.join(separator), separator };
}

export function numbers(values: readonly number[]): string {
  return `{${values.join(",")}}`;
}

export function booleans(values: readonly boolean[]): string {
  return `{${values.map((value) => (value ? "t" : "f")).join(",")}}`;
}
