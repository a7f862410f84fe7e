/** Passwords of the embedded identity provider and locks of its accounts (docs/reference/embedded-issuer.md). */
import { expect, test } from "bun:test";
import { beginSignIn, isLocked, passwordFault, withoutAttempt } from "../../../actors/identity/password.ts";

const common = (word: string) => ["password", "qwerty123456", "dragon"].includes(word);
const minute = 60_000;

test.each([
  ["too short12", "12 to 128"],
  ["x".repeat(129), "12 to 128"],
  ["Qwerty123456", "tried first"],
  ["PASSWORD!2024", "tried first"],
  ["dragondragondragon", "tried first"],
  ["aaaaaaaaaaaaaaaa", "tried first"],
  ["123456789012345", "tried first"],
  ["Ann.Example@Acme.test", "your address"],
  ["Ann.Example1", null],
  ["correct horse battery staple", null],
  ["пароль длинный очень", null],
])("the password %s", (password, fault) => {
  const found = passwordFault(password, "ann.example@acme.test", common);
  if (fault === null) expect(found).toBeNull();
  else expect(found).toContain(fault);
});

test("ten failures within a quarter of an hour lock for a quarter of an hour", () => {
  let failures = { at: [] as readonly number[], lockedUntil: null as number | null };
  for (let count = 0; count < 10; count++) {
    const begun = beginSignIn(failures, count * minute);
    expect(begun.isAllowed).toBe(true);
    failures = begun.failures;
  }
  const last = 9 * minute;
  expect(beginSignIn(failures, last + 14 * minute).isAllowed).toBe(false);
  expect(isLocked(failures, last + 15 * minute)).toBe(false);
  expect(beginSignIn(failures, last + 15 * minute).isAllowed).toBe(true);
});

test("failures spread over more than a quarter of an hour lock nothing", () => {
  let failures = { at: [] as readonly number[], lockedUntil: null as number | null };
  for (let count = 0; count < 50; count++) {
    const begun = beginSignIn(failures, count * 2 * minute);
    expect(begun.isAllowed).toBe(true);
    failures = begun.failures;
  }
});

test("an attempt that was right does not count, and unlocks what it alone locked", () => {
  const at = Array.from({ length: 9 }, (_, index) => index);
  const begun = beginSignIn({ at, lockedUntil: null }, 10);
  expect(isLocked(begun.failures, 11)).toBe(true);
  expect(withoutAttempt(begun.failures, 10)).toEqual({ at, lockedUntil: null });
});
