/** Entries that name people, as `approvers` and `usable_by` hold them: `user:<sub>`, `email:<address>`, `role:<role>`. */

/** What is known of a person or machine. */
export interface Claims {
  readonly sub: string | null;
  readonly email: string | null;
  readonly roles: readonly string[];
  /** Whether the subject is one of the realm that the tenant's people are of; absent: it is. */
  readonly own_realm?: boolean;
}

/** Whether one of the entries names the caller. */
export function isNamed(entries: readonly string[], { sub, email, roles, own_realm = true }: Claims): boolean {
  return entries.some((entry) => {
    const [, claim, value = ""] = /^(user|email|role):(.*)$/s.exec(entry) ?? [];
    if (claim === "user") return own_realm && sub === value;
    if (claim === "role") return roles.includes(value);
    return claim === "email" && email !== null && folded(email) === folded(value);
  });
}

/**
 * Addresses are told apart without regard to the case of ASCII letters. There are others whose small letter is an
 * ASCII one (the Kelvin sign, K): an address with them is another address.
 */
export const folded = (address: string): string => address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
