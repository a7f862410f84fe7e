/** Semantic versions as texts whose byte order is their precedence (semver.org 2.0.0, section 11). */

const form =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

/** Characters of a version. */
const maxVersionLength = 64;

export const isSemanticVersion = (text: string): boolean => text.length <= maxVersionLength && form.test(text);

/**
 * A key to sort by, byte by byte. Versions that differ in build metadata only have the same key.
 * @throws TypeError for what is no semantic version
 */
export function versionOrder(version: string): string {
  const match = isSemanticVersion(version) ? form.exec(version) : null;
  if (match === null) throw new TypeError("not a semantic version");
  const [, major = "", minor = "", patch = "", prerelease] = match;
  const core = [major, minor, patch].map(numberKey).join("");
  // A release comes after all of its pre-releases.
  return `${core}${prerelease === undefined ? "~" : prerelease.split(".").map(identifierKey).join("")}`;
}

/** The number of digits goes first: at most 64, so two of them do. */
const numberKey = (digits: string): string => `${String(digits.length).padStart(2, "0")}${digits}`;

/** Numbers before words; the blank, below every letter, ends a word so that a longer one comes later. */
const identifierKey = (identifier: string): string =>
  /^\d+$/.test(identifier) ? `0${numberKey(identifier)}` : `1${identifier} `;
