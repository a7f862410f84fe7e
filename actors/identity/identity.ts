/** Who is calling: the facts every decision about permission and tenancy is made from. */

export const roles = ["readonly", "operator", "admin"] as const;
/** Roles of the platform's own people and machines, weakest first. */
export type Role = (typeof roles)[number];

export const tiers = ["free", "pro", "business", "enterprise"] as const;
export type Tier = (typeof tiers)[number];

export type IdentityKind = "consumer" | "operator" | "service_account" | "tenant_user";

/** What a tenant user may do inside that tenant. */
export type Membership = "owner" | "admin" | "member";

export interface Identity {
  readonly kind: IdentityKind;
  /** The token's `sub`; written on every record the caller makes. */
  readonly userId: string;
  /** Slug of the realm that vouches for the caller. */
  readonly realm: string;
  /** Only operators and service accounts hold one. */
  readonly role: Role | null;
  /** What the caller is in the effective tenant: of tenant users and team members; a consumer in an enterprise tenant is its member. */
  readonly membership: Membership | null;
  /** Tier claim of a consumer-realm token. */
  readonly tier: Tier | null;
  /** Where the caller acts when no header says otherwise. */
  readonly homeTenant: string;
  /** The OAuth client of a machine; null for people. */
  readonly clientId: string | null;
  /** Of the API key that the caller came with; null: a token of the identity provider. */
  readonly keyId: string | null;
  /** Of that key's value which the caller came with, SHA-256: a key that was rotated may have two. */
  readonly keyDigest: string | null;
  /** When the token was issued, Unix seconds; null for API keys. */
  readonly issuedAt: number | null;
  readonly email: string | null;
  /**
   * The most that the credential opens, without regard to what its holder may: an API key its own scopes, a token of a realm with
   * `restrict` those it names. Null: all that the holder may.
   */
  readonly bound: ReadonlySet<string> | null;
  /** Effective scopes, implied ones included. */
  readonly scopes: ReadonlySet<string>;
}

/** The tenant of the platform itself. */
export const systemTenant = "svc-system";

/** Whether the caller belongs to the platform: an operator, or a machine that bears a role. */
export function isPlatformOperator({ kind, role }: Identity): boolean {
  return kind === "operator" || (kind === "service_account" && role !== null);
}

/**
 * Whether the caller decides for the tenant they act in: its owner and admins, a consumer in the own tenant, and who acts
 * there for the platform with the right to write.
 */
export function administers({ kind, role, membership, homeTenant }: Identity, effectiveTenant: string): boolean {
  if (membership !== null) return membership !== "member";
  if (kind === "operator") return role === "admin";
  if (kind === "service_account") return role !== "readonly" && effectiveTenant !== homeTenant;
  return kind === "consumer";
}

/** Whether the caller may create and change what every tenant sees. */
export function isGlobalPublisher(identity: Identity, effectiveTenant: string): boolean {
  if (identity.role === "admin" || identity.role === "operator") return true;
  return identity.kind === "service_account" && effectiveTenant === systemTenant;
}
