/** Access tokens of the identity providers: from the compact text to the identity, or a refusal. */
import { createHash } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { claimedMembership, displayName, foreignTenant, identityFromClaims } from "../../../actors/identity/claims.ts";
import type { Identity, Membership } from "../../../actors/identity/identity.ts";
import { isEnterpriseSlug, tenantKind } from "../../../actors/identity/tenant.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { isStorable } from "../../../actors/manifest/storable.ts";
import type { Members } from "../callers/members.ts";
import type { Seen } from "../callers/users.ts";
import { RefusedCaller } from "../refused-caller.ts";
import { isTokenAlgorithm, type VerificationKey } from "./keys.ts";
import type { Realm, Realms } from "./realms.ts";

export interface TokenVerifier {
  /** @throws Problem 401 `invalid_token`, `token_expired` and what the claims lack; 503 `identity_provider_unavailable` */
  verify(token: string): Promise<Identity>;
}

export interface TokenVerifierOptions {
  readonly realms: Realms;
  readonly leewaySeconds: number;
  /** Longest lifetime of an access token. */
  readonly maxTokenHours: number;
  /** Asked of the enterprise tenant that a consumer's token names. */
  readonly tenantExists: (slug: string) => Promise<boolean>;
  /** What tenant users are in their tenants; null: what their tokens say. */
  readonly members: Members | null;
  /** Told of each token once it has passed, and of one whose bearer lost every role. Must not throw. */
  readonly saw: (seen: Seen) => void;
  readonly now: () => number;
}

interface Verified {
  /** As the token says. */
  readonly identity: Identity;
  readonly claimed: Membership | null;
  readonly name: string | null;
  /** As a member of this role. */
  readonly as: (role: Membership) => Identity;
  readonly realm: Realm;
  readonly key: VerificationKey;
  /** Unix milliseconds. */
  readonly until: number;
}

/** Verified tokens remembered, so that a busy client costs no signature check per request. */
const maxRemembered = 10_000;

export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  // Keyed by digest: tokens themselves are not kept.
  const remembered = new LRUCache<string, Verified>({ max: maxRemembered });

  /** A tenant user is in their tenant what its members' records say. */
  async function known({ identity, claimed, as }: Verified): Promise<Identity> {
    const { kind, homeTenant } = identity;
    if (kind === "consumer" && isEnterpriseSlug(homeTenant) && !(await options.tenantExists(homeTenant)))
      throw foreignTenant();
    const role = await recordedRole(identity, claimed, options).catch((error: unknown) => {
      throw RefusedCaller.from(error, identity);
    });
    return role === null || role === identity.membership ? identity : as(role);
  }

  return {
    async verify(token) {
      const digest = createHash("sha256").update(token).digest("base64url");
      const earlier = remembered.get(digest);
      // A key that the realm withdrew takes its tokens with it.
      if (earlier && options.now() < earlier.until && earlier.realm.keys.holds(earlier.key)) return known(earlier);
      const verified = await verifyAnew(token, options);
      remembered.set(digest, verified);
      const identity = await known(verified);
      options.saw({ ...identity, name: verified.name, claimed: verified.claimed });
      return identity;
    },
  };
}

/** What the records say the caller is at home; null: they are not asked. @throws Problem 401, 403 for who is no member */
async function recordedRole(
  identity: Identity,
  claimed: Membership | null,
  { members }: Pick<TokenVerifierOptions, "members">,
): Promise<Membership | null> {
  if (identity.kind === "tenant_user") return members?.roleOf(identity, claimed) ?? null;
  if (tenantKind(identity.homeTenant) !== "team") return null;
  const role = (await members?.find(identity.homeTenant, identity)) ?? null;
  if (role === null) throw foreignTenant();
  return role;
}

async function verifyAnew(
  token: string,
  { realms, leewaySeconds, maxTokenHours, saw, now }: TokenVerifierOptions,
): Promise<Verified> {
  const { kid, algorithm, issuer } = readUnverified(token);
  const realm = await realms.byIssuer(issuer);
  if (!realm?.algorithms.includes(algorithm)) throw invalidToken();
  const key = await realm.keys.find(kid, algorithm);
  if (!key) throw invalidToken();

  const { payload } = await jwtVerify(token, key.key, {
    algorithms: [algorithm],
    issuer: realm.issuer,
    audience: [...realm.audience],
    clockTolerance: leewaySeconds,
    currentDate: new Date(now()),
    requiredClaims: ["exp", "iat", "sub"],
  }).catch((error: unknown) => {
    throw error instanceof errors.JWTExpired
      ? new Problem("token_expired", "The token has expired")
      : error instanceof errors.JOSEError
        ? invalidToken()
        : error;
  });
  const { sub, iat, exp } = payload;
  if (typeof sub !== "string" || sub.length < 1 || sub.length > 255) throw invalidToken();
  // Stored, broken Unicode of any kind is the same text: two people would be one.
  if (!isStorable(sub)) throw invalidToken();
  if (typeof iat !== "number" || iat > now() / 1000 + leewaySeconds) throw invalidToken();
  if (!isAccessToken(payload) || (exp ?? 0) - iat > maxTokenHours * 3600) throw invalidToken();
  const as = memoized((role: Membership) => identityFromClaims(sub, payload, realm.rules, role));
  const name = displayName(payload);
  return {
    identity: recognised(
      () => identityFromClaims(sub, payload, realm.rules),
      () => {
        const lost = { kind: "operator", clientId: null, email: null, role: null, claimed: null } as const;
        saw({ ...lost, realm: realm.rules.realm, userId: sub, name, issuedAt: Math.floor(iat) });
      },
    ),
    claimed: claimedMembership(payload, realm.rules),
    name,
    as,
    realm,
    key,
    until: ((exp ?? 0) + leewaySeconds) * 1000,
  };
}

/** Who has no role any more is no caller, which the keys made before have to know. */
function recognised(read: () => Identity, lost: () => void): Identity {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem && error.code === "identity_not_recognized") lost();
    throw error;
  }
}

/** Providers sign other tokens with the same keys: an ID token tells an application who signed in, and opens nothing. */
const isAccessToken = ({ typ, token_use }: Readonly<Record<string, unknown>>): boolean =>
  (typ === undefined || typ === "Bearer") && (token_use === undefined || token_use === "access");

/** Each identity of a token is made once. */
function memoized<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

/** What picks the realm and the key; nothing here is trusted yet. */
function readUnverified(token: string) {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw invalidToken();
  let header: ReturnType<typeof decodeProtectedHeader>;
  let issuer: unknown;
  try {
    header = decodeProtectedHeader(token);
    issuer = decodeJwt(token).iss;
  } catch {
    throw invalidToken();
  }
  const { alg, kid, crit, typ } = header;
  if (!isTokenAlgorithm(alg) || typeof kid !== "string" || kid === "" || crit !== undefined) throw invalidToken();
  if (typ !== undefined && !(typeof typ === "string" && /^(jwt|at\+jwt)$/i.test(typ))) throw invalidToken();
  if (typeof issuer !== "string") throw invalidToken();
  return { kid, algorithm: alg, issuer };
}

/** One answer for every fault: which check failed is not told to the caller. */
export const invalidToken = () => new Problem("invalid_token", "The token is not valid");
