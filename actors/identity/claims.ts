/** From the claims of a verified token to the identity they speak of. */
import { Problem } from "../kernel/problem.ts";
import {
  type Identity,
  type IdentityKind,
  type Membership,
  type Role,
  roles,
  systemTenant,
  type Tier,
  tiers,
} from "./identity.ts";
import { boundOf, effectiveScopes, type ScopeMode } from "./scopes.ts";
import { consumerTenant, isEnterpriseSlug, isTenantSlug, tenantKind } from "./tenant.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** What a realm says about reading its tokens. */
export interface ClaimRules {
  /** Slug of the realm; of a tenant realm `tenant-<tenant slug>`. */
  readonly realm: string;
  readonly kind: "system" | "consumer" | "tenant";
  /** Where the claims stand, dotted paths allowed; the first present wins. */
  readonly claims: {
    readonly tier: readonly string[];
    readonly role: readonly string[];
    readonly tenant: readonly string[];
  };
  readonly scopeMode: ScopeMode;
  /** Clients whose tokens are a machine's even when they look like a person's. */
  readonly machineClients: ReadonlySet<string>;
  /** Clients that are machines of this installation: without a role a machine is known by this list alone. */
  readonly listedClients: ReadonlySet<string>;
  /** What a tenant user is without a claim that says so. */
  readonly defaultMembership: Membership;
  sha256Hex(text: string): string;
}

/**
 * A consumer may claim an enterprise tenant or a team as home; whether it exists, and whether the consumer is a member
 * of the team, the reader of the token has to look up.
 * @param recorded of a tenant user and of a member of a team, where the tenant's own records say what they are; null: as the token says
 * @throws Problem 401 `invalid_role`, `invalid_tier`, `invalid_tenant_slug`, `identity_not_recognized`
 */
export function identityFromClaims(
  subject: string,
  claims: Claims,
  rules: ClaimRules,
  recorded: Membership | null = null,
): Identity {
  const tier = tierClaim(firstClaim(claims, rules.claims.tier));
  const tenant = tenantClaim(firstClaim(claims, rules.claims.tenant));
  const role = roleClaim(firstClaim(claims, rules.claims.role));
  const machine = rules.kind === "system" && isMachine(subject, claims, rules.machineClients);
  const client = machine ? machineClient(claims) : null;
  const isListed = client !== null && rules.listedClients.has(client);
  if (rules.kind === "system" && role.platform === null && !isListed) {
    throw new Problem("identity_not_recognized", "The caller is not known here");
  }
  const kind = kindOf(rules.kind, machine);
  const home = homeTenant(kind, subject, tenant, rules);
  const facts = {
    kind,
    role: rules.kind === "system" ? role.platform : null,
    membership: membershipIn(home, kind, recorded, role.membership ?? rules.defaultMembership),
  };
  return {
    ...facts,
    userId: subject,
    realm: rules.realm,
    tier: kind === "consumer" ? tier : null,
    homeTenant: home,
    clientId: client,
    keyId: null,
    keyDigest: null,
    issuedAt: typeof claims.iat === "number" ? Math.floor(claims.iat) : null,
    email: provenAddress(claims),
    bound: boundOf(scopeWords(claims), rules.scopeMode),
    scopes: effectiveScopes(facts, scopeWords(claims), rules.scopeMode),
  };
}

/** What the token claims its bearer to be in the tenant; null: nothing. @throws Problem 401 `invalid_role` */
export const claimedMembership = (claims: Claims, rules: ClaimRules): Membership | null =>
  roleClaim(firstClaim(claims, rules.claims.role)).membership;

function kindOf(realm: ClaimRules["kind"], machine: boolean): IdentityKind {
  if (realm === "consumer") return "consumer";
  if (realm === "tenant") return "tenant_user";
  return machine ? "service_account" : "operator";
}

/** A consumer is at home in the own tenant, or in an enterprise tenant or a team that the token names; in no other person's. */
function homeTenant(kind: IdentityKind, subject: string, claimed: string | null, rules: ClaimRules): string {
  if (kind === "tenant_user") return rules.realm.slice("tenant-".length);
  if (kind !== "consumer") return systemTenant;
  const own = consumerTenant(subject, rules.sha256Hex);
  if (claimed === null || claimed === own) return own;
  if (!isEnterpriseSlug(claimed) && tenantKind(claimed) !== "team") throw foreignTenant();
  return claimed;
}

/** @returns 401 `invalid_tenant_slug`: the tenant is none that the token's bearer may be at home in */
export const foreignTenant = () =>
  new Problem("invalid_tenant_slug", "The token names a tenant it may not", {}, {}, 401);

/** A consumer in an enterprise tenant is a member there, never more; in a team what its records say. */
function membershipIn(
  home: string,
  kind: IdentityKind,
  recorded: Membership | null,
  ofUser: Membership,
): Membership | null {
  if (kind === "tenant_user") return recorded ?? ofUser;
  if (kind !== "consumer") return null;
  if (tenantKind(home) === "team") return recorded ?? "member";
  return isEnterpriseSlug(home) ? "member" : null;
}

/** What the token calls its bearer, shortened; null: it does not say. Never more than a name. */
export const displayName = (claims: Claims): string | null => text(claims.name)?.slice(0, 128) ?? null;

/** A path of mail has at most 256 octets (RFC 5321, 4.5.3.1); what is longer than 64 + 1 + 255 is no address. */
const maxAddress = 320;

/**
 * The caller's address. One that the provider does not vouch for proves nothing (users write what they like into their
 * profile), and approvers are named by address: a token without `email_verified: true` carries none.
 */
function provenAddress(claims: Claims): string | null {
  const address = claims.email_verified === true ? text(claims.email) : null;
  return address !== null && address.length <= maxAddress ? address : null;
}

function isMachine(subject: string, claims: Claims, machineClients: ReadonlySet<string>): boolean {
  const azp = text(claims.azp);
  const client = text(claims.client_id) ?? azp;
  const username = text(claims.preferred_username);
  return (
    // A person may be called `service-account-x`; only the client x itself is that machine.
    (client !== null && username?.toLowerCase() === `service-account-${client}`.toLowerCase()) ||
    claims.gty === "client-credentials" ||
    subject === text(claims.client_id) ||
    subject === azp ||
    (azp !== null && machineClients.has(azp))
  );
}

const machineClient = (claims: Claims): string | null => text(claims.client_id) ?? text(claims.azp);

/** The strongest recognised value of a role claim; one lone unrecognised word is refused. */
function roleClaim(claim: unknown): { platform: Role | null; membership: Membership | null } {
  if (claim === undefined || claim === null || claim === "") return { platform: null, membership: null };
  const words = Array.isArray(claim) ? claim.filter((word) => typeof word === "string") : [claim];
  let platform: Role | null = null;
  let membership: Membership | null = null;
  for (const word of words) {
    const plain = typeof word === "string" ? word : "";
    const role = roles.find((known) => plain === known || plain === `svc:${known}` || plain === `aegis:${known}`);
    const member = (["owner", "admin", "member"] as const).find((known) => plain === `tenant:${known}`);
    if (role && (platform === null || roles.indexOf(role) > roles.indexOf(platform))) platform = role;
    if (member && (membership === null || memberships.indexOf(member) > memberships.indexOf(membership)))
      membership = member;
    if (!role && !member && !Array.isArray(claim))
      throw new Problem("invalid_role", "The token carries an unknown role");
  }
  return { platform, membership };
}

const memberships: readonly Membership[] = ["member", "admin", "owner"];

function tierClaim(claim: unknown): Tier | null {
  if (claim === undefined || claim === null || claim === "") return null;
  const tier = typeof claim === "string" ? tiers.find((known) => known === claim.toLowerCase()) : undefined;
  if (!tier) throw new Problem("invalid_tier", "The token carries an unknown tier");
  return tier;
}

function tenantClaim(claim: unknown): string | null {
  if (claim === undefined || claim === null || claim === "") return null;
  if (typeof claim !== "string" || !isTenantSlug(claim)) {
    throw new Problem("invalid_tenant_slug", "The token carries no valid tenant name", {}, {}, 401);
  }
  return claim;
}

function scopeWords(claims: Claims): string[] {
  const words = typeof claims.scope === "string" ? claims.scope.split(" ") : [];
  const list = Array.isArray(claims.scp) ? claims.scp : typeof claims.scp === "string" ? claims.scp.split(" ") : [];
  return [...words, ...list.filter((word): word is string => typeof word === "string")];
}

function firstClaim(claims: Claims, paths: readonly string[]): unknown {
  for (const path of paths) {
    const value = Object.hasOwn(claims, path) ? claims[path] : at(claims, path.split("."));
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function at(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string, unknown>)[step];
  }
  return here;
}

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
