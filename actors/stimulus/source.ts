/** Names of the places stimuli come from (docs/reference/stimuli.md). */

/** Reserved for routes of their own; never stimuli over HTTP hooks. */
const reserved: readonly string[] = ["stripe", "git", "keycloak"];

/**
 * A source as it is compared and stored.
 * @param text of a path: percent-decoded once; what is still encoded then is refused, as `%` is
 * @returns lower case; null unless it is 1–128 printable ASCII characters without `/ ? # %` and blanks, the first one
 *   alphanumeric
 */
export function parseSource(text: string): string | null {
  return /^[A-Za-z0-9][!-~]{0,127}$/.test(text) && !/[/?#%]/.test(text) ? text.toLowerCase() : null;
}

/** @param source as `parseSource` returns it */
export const isReservedSource = (source: string): boolean => reserved.includes(source);
