/** Passwords: hashed by argon2id, off the event loop, a few at a time; none of those that are guessed first. */
import { Problem } from "../../../../actors/kernel/problem.ts";

/** At least 19 MiB and two passes; what was hashed for less is hashed anew at the next sign-in. */
const cost = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** Hashes at once: each takes a core and 19 MiB. */
const atOnce = 4;
/** Sign-ins that wait for one of them; further ones are refused. */
const maxWaiting = 200;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** @param hash null: there is none; it takes the same time and is false */
  verify(password: string, hash: string | null): Promise<boolean>;
  /** Whether it was hashed for less than passwords are now. */
  isOutdated(hash: string): boolean;
  /** @param folded in lower case */
  isCommon(folded: string): boolean;
}

export async function openPasswords(): Promise<Passwords> {
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  const common = new Set(dictionary["passwords-common"].map((word) => word.toLowerCase()));
  const turns = new Turns();
  const hash = (password: string) => turns.take(() => Bun.password.hash(password, cost));
  // Of a password that is known to none: unknown accounts are checked against it.
  const nowhere = await hash(crypto.randomUUID());
  return {
    hash,
    verify: async (password, known) => {
      const isRight = await turns.take(() => Bun.password.verify(password, known ?? nowhere));
      return isRight && known !== null;
    },
    isOutdated: (known) => {
      const [, memory = "0", passes = "0"] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),/.exec(known) ?? [];
      return Number(memory) < cost.memoryCost || Number(passes) < cost.timeCost;
    },
    isCommon: (folded) => common.has(folded),
  };
}

/** So many at once, the others one after another. */
class Turns {
  private readonly waiting: (() => void)[] = [];
  private busy = 0;

  /** @throws Problem 429 `rate_limited` when too many wait */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.busy >= atOnce) {
      if (this.waiting.length >= maxWaiting)
        throw new Problem("rate_limited", "Too many people sign in at once", {}, { "Retry-After": "5" });
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else this.busy++;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.busy--;
      else next();
    }
  }
}
