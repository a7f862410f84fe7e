/** Content negotiation: `Accept` (a manifest as text or as JSON) and `Prefer` (RFC 7240: how long to wait). */

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

/** The parts of a header's value, where a separator within a quoted string separates nothing. */
export function outsideQuotes(text: string, separator: "," | ";"): string[] {
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

/** The media types under which a manifest is sent as text. */
export const manifestTextTypes = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain"];

/** The text type that the client prefers to JSON; null for JSON, also where it likes both alike. */
export const preferredText = (accept: string | null): string | null => preferredToJson(accept, manifestTextTypes);

/** The one of these media types that the client likes best, where it prefers it to JSON; else null. */
export function preferredToJson(accept: string | null, types: readonly string[]): string | null {
  if (accept === null) return null;
  const ranges = accept.slice(0, 4096).split(",").map(readRange);
  const weight = (type: string): number => {
    const [family = ""] = type.split("/", 1);
    // The most specific range that covers the type decides.
    for (const range of [type, `${family}/*`, "*/*"]) {
      const match = ranges.find((candidate) => candidate.range === range);
      if (match !== undefined) return match.weight;
    }
    return 0;
  };
  const [best] = types.toSorted((one, other) => weight(other) - weight(one));
  return best !== undefined && weight(best) > weight("application/json") ? best : null;
}

function readRange(text: string): { readonly range: string; readonly weight: number } {
  const [range = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return { range, weight: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality) : 0 };
}
