/** The forms in which a value that must not be shown may be met. */

/** Shorter ones would hide common words. */
export const shortestHidden = 8;

/**
 * The value itself, its base64 (both alphabets, also within a longer text), and as URLs and JSON escape it.
 * @returns those of at least 8 characters, each once
 */
export function formsOf(value: string): string[] {
  if (value.length < shortestHidden) return [];
  const url = value.isWellFormed() ? encodeURIComponent(value) : value;
  const json = JSON.stringify(value).slice(1, -1);
  const forms = [
    value,
    ...base64Forms(Buffer.from(value)),
    url,
    // As forms are sent, and with the escapes in small letters.
    url.replaceAll("%20", "+"),
    url.replace(/%[0-9A-F]{2}/g, (each) => each.toLowerCase()),
    // Of programs that leave only letters, digits and `-_.~` as they are.
    url.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`),
    json,
    json.replaceAll("/", "\\/"),
    // Of programs that write ASCII alone.
    json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  ];
  return [...new Set(forms)].filter((form) => form.length >= shortestHidden);
}

/** What base64 makes of the bytes wherever they begin in a longer text: the characters that depend on them alone. */
function base64Forms(bytes: Buffer): string[] {
  const within = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64url");
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  // By itself the last character is its own as well.
  return [bytes.toString("base64url"), ...within].flatMap((text) => [
    text,
    text.replaceAll("-", "+").replaceAll("_", "/"),
  ]);
}
