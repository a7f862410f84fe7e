/** `Prefer` (RFC 7240): how long a client is willing to wait for an answer, and whether at all. */

/**
 * The seconds of the first `wait` preference; null when there is none. Other preferences, and what is not
 * understood, are ignored, as the RFC asks.
 * @param maxSeconds more than this counts as this much
 */
export function preferredWait(headers: Headers, maxSeconds: number): number | null {
  const header = headers.get("prefer");
  if (header === null) return null;
  for (const preference of outsideQuotes(header.slice(0, 4096), ",")) {
    const [name = "", value = ""] = (outsideQuotes(preference, ";")[0] ?? "").split(/=(.*)/s);
    if (name.trim().toLowerCase() !== "wait") continue;
    const seconds = /^\s*(?:(\d{1,9})|"(\d{1,9})")\s*$/.exec(value);
    return seconds === null ? null : Math.min(maxSeconds, Number(seconds[1] ?? seconds[2]));
  }
  return null;
}

/** Whether a client would rather not wait for the work to be done (`respond-async`). */
export function prefersAsync(headers: Headers): boolean {
  const header = headers.get("prefer");
  if (header === null) return false;
  return outsideQuotes(header.slice(0, 4096), ",").some(
    (preference) => (outsideQuotes(preference, ";")[0] ?? "").trim().toLowerCase() === "respond-async",
  );
}

function outsideQuotes(text: string, separator: "," | ";"): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    if (isQuoted && text[index] === "\\") index += 1;
    else if (text[index] === '"') isQuoted = !isQuoted;
    else if (!isQuoted && text[index] === separator) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}
