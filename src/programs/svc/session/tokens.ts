/**
 * What was given at a sign-in, by context, in `tokens.json` (mode 0600). Refresh tokens are good once: a lock keeps two
 * processes from spending the same one.
 */
import { join } from "node:path";
import type { Io } from "../process/io.ts";
import { configDirectory, locked, readText, replaceText } from "./files.ts";

/** Tokens of a person who signed in at an issuer. */
export interface SignedIn {
  readonly kind: "login";
  readonly issuer: string;
  readonly client_id: string;
  readonly access_token: string;
  /** Milliseconds since 1970. */
  readonly expires_at: number;
  readonly refresh_token: string | null;
}
/** A key or token that was given as it is. */
export interface GivenKey {
  readonly kind: "api_key";
  readonly api_key: string;
}
/** One of the people of a development node; tokens are asked for when they are needed. */
export interface Developer {
  readonly kind: "development";
  readonly person: string;
  readonly realm: string;
  readonly password: string;
}
export type Grant = (SignedIn | GivenKey | Developer) & {
  /** Of the service that it was given for: it is sent nowhere else. */
  readonly url: string;
};

type Grants = Readonly<Record<string, Grant>>;

const tokensFile = (io: Pick<Io, "env">): string => join(configDirectory(io), "tokens.json");

async function readGrants(io: Io): Promise<Grants> {
  const text = await readText(tokensFile(io));
  try {
    // Written by this program alone; what was damaged counts as not signed in.
    return text === null ? {} : (JSON.parse(text) as Grants);
  } catch {
    return {};
  }
}

export const grantOf = async (io: Io, context: string): Promise<Grant | null> =>
  (await readGrants(io))[context] ?? null;

/**
 * Replaces what a context holds, while no other process does.
 * @param change gets what it holds now, and returns what it shall hold; null removes it
 */
export function changeGrant(
  io: Io,
  context: string,
  change: (now: Grant | null) => Promise<Grant | null>,
): Promise<Grant | null> {
  return locked(io, `${tokensFile(io)}.lock`, async () => {
    const former = (await readGrants(io))[context] ?? null;
    const next = await change(former);
    if (next === former) return next;
    const { [context]: _, ...others } = await readGrants(io);
    await replaceText(
      io,
      tokensFile(io),
      `${JSON.stringify(next === null ? others : { ...others, [context]: next })}\n`,
    );
    return next;
  });
}
