/**
 * Patterns of `spec.security.filesystem` (docs/reference/volumes.md): absolute paths in which `*` stands for any text
 * within a segment and a segment `**` for any number of segments. What a pattern names, it names with everything
 * below it.
 */

/** Most bytes of a pattern, as of a path. */
const maxBytes = 4096;
/** Every directory on the way is held open while mounts are prepared. */
const maxSegments = 64;

export interface Pattern {
  readonly text: string;
  readonly segments: readonly string[];
  /** The part before the first segment with a wildcard, as a path; what mounts can apply. */
  readonly prefix: string;
  /** Whether there is a wildcard at all. */
  readonly wild: boolean;
}

/** Reads a pattern. Null for what is none: relative, with `..`, with NUL, too long or too deep. */
export function readPattern(text: string): Pattern | null {
  if (!text.startsWith("/") || text.includes("\0") || text.length > maxBytes) return null;
  const segments = segmentsOf(text);
  if (segments.includes("..") || segments.length > maxSegments) return null;
  const first = segments.findIndex((segment) => segment.includes("*"));
  const literal = first < 0 ? segments : segments.slice(0, first);
  return { text, segments, prefix: `/${literal.join("/")}`, wild: first >= 0 };
}

/** The parts of a path; doubled slashes and `.` collapse. */
export function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

/** Whether the pattern names the path or a directory above it. */
export function covers(pattern: Pattern, path: readonly string[]): boolean {
  return follow(pattern.segments, path) === "covered";
}

/** Whether the path may be a directory above something the pattern names. */
export function leadsTo(pattern: Pattern, path: readonly string[]): boolean {
  return follow(pattern.segments, path) === "above";
}

/** Walks both side by side, keeping every place in the pattern that the path may have reached. */
function follow(segments: readonly string[], path: readonly string[]): "covered" | "above" | "apart" {
  let places = skippingStars(segments, [0]);
  for (const name of path) {
    if (places.at(-1) === segments.length) return "covered";
    const next: number[] = [];
    for (const place of places) {
      const segment = segments[place] ?? "";
      if (segment === "**") next.push(place);
      else if (matchesSegment(segment, name)) next.push(place + 1);
    }
    if (next.length === 0) return "apart";
    places = skippingStars(segments, next);
  }
  return places.at(-1) === segments.length ? "covered" : "above";
}

/** Adds the places behind every `**`, which may stand for nothing. @returns in rising order */
function skippingStars(segments: readonly string[], places: readonly number[]): number[] {
  const all = new Set<number>();
  for (const start of places) {
    let place = start;
    all.add(place);
    while (segments[place] === "**") all.add(++place);
  }
  return [...all].sort((a, b) => a - b);
}

/** One segment, in steps proportional to both lengths multiplied at the worst. */
function matchesSegment(segment: string, name: string): boolean {
  if (!segment.includes("*")) return segment === name;
  let at = 0;
  let read = 0;
  let star = -1;
  let retry = 0;
  while (read < name.length) {
    if (segment[at] === "*") {
      star = at++;
      retry = read;
    } else if (at < segment.length && segment[at] === name[read]) {
      at++;
      read++;
    } else if (star >= 0) {
      at = star + 1;
      read = ++retry;
    } else return false;
  }
  while (segment[at] === "*") at++;
  return at === segment.length;
}
