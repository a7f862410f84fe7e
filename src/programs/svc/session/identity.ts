/** Who calls: a key that was given, what a sign-in left, or the operator of a development node. */
import { Unreachable } from "../../client/errors.ts";
import { Failure } from "../process/exit.ts";
import type { Globals } from "../process/globals.ts";
import { type Io, variable } from "../process/io.ts";
import { developmentToken } from "./development.ts";
import { changeGrant, type Developer, type Grant, grantOf } from "./tokens.ts";

export interface Identity {
  readonly kind: "api_key" | "login" | "development" | "none";
  /** Where it comes from, for people: `--api-key`, `SVC_USER_TOKEN`, `context prod`. */
  readonly source: string;
  /**
   * The bearer token for the next request; null: there is none.
   * @param refused the token that was just refused; another one is sought
   */
  readonly token: (refused: string | null) => Promise<string | null>;
}

type Reach = (request: Request) => Promise<Response>;

/** A token is renewed this long before it ends. */
const earlyMs = 30_000;

/**
 * @param context whose service this is; null: of none
 * @param reach calls the service
 */
export async function identityOf(
  io: Io,
  globals: Globals,
  url: string,
  context: string | null,
  reach: Reach,
): Promise<Identity> {
  const developer = (person: Developer | null, source: string) => developing(io, { url, person, source, reach });
  if (globals.apiKey !== null) return given("--api-key", globals.apiKey);
  const token = variable(io, "SVC_USER_TOKEN");
  if (token !== null) return given("SVC_USER_TOKEN", token);
  const grant = context === null ? null : await grantOf(io, context);
  if (context === null || grant === null || grant.url !== url) return developer(null, "development node");
  const source = `context ${context}`;
  if (grant.kind === "api_key") return given(source, grant.api_key);
  if (grant.kind === "development") return developer(grant, source);
  return { kind: "login", source, token: (refused) => current(io, context, refused) };
}

const given = (source: string, key: string): Identity => ({
  kind: "api_key",
  source,
  // Another one cannot be had.
  token: async (refused) => (refused === null ? key : null),
});

interface Developing {
  readonly url: string;
  /** Null: the operator that every development node knows. */
  readonly person: Developer | null;
  readonly source: string;
  readonly reach: Reach;
}

function developing(io: Io, { url, person, source, reach }: Developing): Identity {
  let known: { readonly token: string; readonly until: number } | null = null;
  return {
    kind: "development",
    source: person === null ? source : `${source}, as ${person.person}`,
    async token(refused) {
      if (known !== null && known.token !== refused && known.until > io.now()) return known.token;
      const made = await developmentToken(url, person, reach).catch((error) => {
        // A follower comes back to a service that is away for a moment.
        throw error instanceof Failure && error.exit === "unavailable" ? new Unreachable(error) : error;
      });
      known = made === null ? null : { token: made.token, until: io.now() + made.lifetimeMs - earlyMs };
      return known?.token ?? null;
    },
  };
}

/** The access token that a context holds, renewed where it ends soon or was refused. */
async function current(io: Io, context: string, refused: string | null): Promise<string | null> {
  const isGood = (grant: Grant | null) =>
    grant?.kind === "login" && grant.access_token !== refused && grant.expires_at - earlyMs > io.now();
  const stored = await grantOf(io, context);
  if (stored?.kind !== "login") return null;
  if (isGood(stored)) return stored.access_token;
  const renewed = await changeGrant(io, context, async (now) => {
    // Another process may have renewed it while this one waited for the lock.
    if (now?.kind !== "login" || isGood(now)) return now;
    if (now.refresh_token === null) return null;
    const { refreshed } = await import("./refresh.ts");
    return refreshed(io, now);
  });
  if (renewed?.kind !== "login")
    throw new Failure(
      "authentication",
      `The sign-in of context ${context} has ended`,
      "Sign in again with `svc login`.",
    );
  return renewed.access_token;
}
