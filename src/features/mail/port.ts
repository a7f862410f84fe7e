/** Mail to people that the service writes to by itself: invitations, links to set a password (docs/reference/colony.md). */
import type { Transaction } from "../../store/postgres/pool.ts";

export interface Letter {
  /** Whose mail it is counted as. */
  readonly tenant: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Unix ms: it is of no use later, and given up. */
  readonly expiresAt: number;
}

export interface Letters {
  /** Whether a mail server is configured; without one `post` does nothing. */
  readonly isConfigured: boolean;
  /**
   * Takes a letter with the change that it tells of. It is stored encrypted and sent once `tx` is committed; tried again
   * for as long as it is of use.
   * @throws Problem 429 `rate_limited` where the tenant has written 20 in the last hour, or anyone 3 to the address in a day
   */
  post(tx: Transaction, letter: Letter): Promise<void>;
  /** What was posted is sent now. Call it after the commit; without it the next round sends. Never throws. */
  sendSoon(): void;
}
