/** What passwords of the embedded identity provider may be, and when an account is locked. */

/** Characters. */
const passwordBounds = { min: 12, max: 128 } as const;

/**
 * @param isCommon whether a text in lower case is among the passwords that are tried first
 * @returns what is wrong with it, for its owner; null when nothing is
 */
export function passwordFault(password: string, address: string, isCommon: (folded: string) => boolean): string | null {
  const length = [...password].length;
  const { min, max } = passwordBounds;
  if (length < min || length > max) return `A password has ${min} to ${max} characters.`;
  const folded = password.toLowerCase();
  const [name = ""] = address.toLowerCase().split("@");
  if (folded === address.toLowerCase() || folded === name) return "The password must not be your address.";
  if (cores(folded).some(isCommon) || isRun(folded))
    return "This password is among those that are tried first. Choose another one.";
  return null;
}

/** What a password is made of: a word with digits around it, or one many times, is as easy to guess as the word. */
function cores(folded: string): readonly string[] {
  const word = folded.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  const unit = /^(.+?)\1+$/u.exec(folded)?.[1] ?? "";
  return [folded, word, unit, unit.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "")].filter((core) => core !== "");
}

/** Whether it is one character many times, or characters one after another in their order. */
function isRun(folded: string): boolean {
  const codes = [...folded].map((character) => character.codePointAt(0) ?? 0);
  const steps = codes.slice(1).map((code, index) => (code - (codes[index] ?? 0) + 10) % 10);
  return steps.every((step) => step === steps[0]) && [0, 1, 9].includes(steps[0] ?? 0);
}

/** Wrong passwords or codes of an account. */
export interface SignInFailures {
  /** When they were, Unix milliseconds, the newest last. */
  readonly at: readonly number[];
  /** Unix milliseconds; null: not locked. */
  readonly lockedUntil: number | null;
}

const windowMs = 15 * 60_000;
/** How many of them within the window lock. */
const mostFailures = 10;

/**
 * An attempt begins, and counts as failed until it is known to be right: many at once are not more than one after
 * another.
 * @returns whether it may succeed, and what is to be remembered
 */
export function beginSignIn(
  known: SignInFailures,
  now: number,
): { readonly isAllowed: boolean; readonly failures: SignInFailures } {
  if (isLocked(known, now)) return { isAllowed: false, failures: known };
  const at = [...known.at.filter((moment) => moment > now - windowMs), now];
  return { isAllowed: true, failures: { at, lockedUntil: at.length >= mostFailures ? now + windowMs : null } };
}

/** The same without the attempt that began then and turned out to be right as far as it went. */
export function withoutAttempt(known: SignInFailures, began: number): SignInFailures {
  const index = known.at.lastIndexOf(began);
  const at = known.at.filter((_, place) => place !== index);
  return { at, lockedUntil: at.length < mostFailures ? null : known.lockedUntil };
}

export const isLocked = ({ lockedUntil }: Pick<SignInFailures, "lockedUntil">, now: number): boolean =>
  lockedUntil !== null && lockedUntil > now;
