/** Versions of daemons and releases: SemVer 2.0.0, by precedence. */

const pattern =
  /^(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

const maxLength = 64;

export const isVersion = (text: string): boolean => text.length <= maxLength && pattern.test(text);

/** Less than 0 where the first one is older; what is no version is older than every one. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [partsOf(one), partsOf(other)];
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  for (const at of [0, 1, 2]) {
    const difference = (left.numbers[at] ?? 0) - (right.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePreviews(left.preview, right.preview);
}

function partsOf(text: string) {
  const found = isVersion(text) ? pattern.exec(text) : null;
  if (found === null) return null;
  const [, major, minor, patch, preview] = found;
  return { numbers: [major, minor, patch].map(Number), preview: preview?.split(".") ?? [] };
}

/** A version without a preview part is newer than its previews. */
function comparePreviews(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length;
  for (const [at, left] of one.entries()) {
    const right = other[at];
    if (right === undefined) return 1;
    const difference = compareIdentifiers(left, right);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Numbers come before words, and by their size. */
function compareIdentifiers(one: string, other: string): number {
  const [left, right] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (left && right && one.length !== other.length) return one.length - other.length;
  if (left !== right) return left ? -1 : 1;
  return one < other ? -1 : Number(one > other);
}
