/** Tenants: how their names are formed and which one a request acts in. */
import { Problem } from "../kernel/problem.ts";
import { type Identity, type IdentityKind, systemTenant } from "./identity.ts";

export type TenantKind = "system" | "consumer" | "team" | "enterprise";
export type TenantStatus = "active" | "suspended" | "deleted";

const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** 1–63 of a–z, 0–9 and hyphen, no hyphen at either end. */
export const isTenantSlug = (text: string): boolean => slugPattern.test(text);

export function tenantKind(slug: string): TenantKind {
  if (slug === systemTenant) return "system";
  if (slug.startsWith("u-")) return "consumer";
  return slug.startsWith("t-") && uuidPattern.test(slug.slice(2)) ? "team" : "enterprise";
}

/** Whether a slug can name an enterprise tenant: those of consumers, teams and the platform are formed by the service. */
export const isEnterpriseSlug = (slug: string): boolean =>
  isTenantSlug(slug) && slug !== systemTenant && !/^[ut]-/.test(slug);

/**
 * The tenant a consumer owns.
 * @param sha256Hex of the subject, for subjects that make no slug
 */
export function consumerTenant(subject: string, sha256Hex: (text: string) => string): string {
  const slug = `u-${subject.replaceAll("-", "").toLowerCase()}`;
  return isTenantSlug(slug) ? slug : `u-${sha256Hex(subject).slice(0, 32)}`;
}

/**
 * Whether the caller's subject is one of the tenant's own realm: of the system realm in `svc-system`, of the consumer
 * realm in tenants of consumers and teams, of the tenant's realm elsewhere. Two realms may issue the same subject for
 * different people, so `user:<sub>` names one of this realm alone.
 */
export function isOwnSubject({ kind, homeTenant }: Pick<Identity, "kind" | "homeTenant">, tenant: string): boolean {
  switch (tenantKind(tenant)) {
    case "system":
      return kind === "operator" || kind === "service_account";
    case "enterprise":
      return kind === "tenant_user" && homeTenant === tenant;
    default:
      return kind === "consumer";
  }
}

/**
 * Whether a record of before realms were stored, which names a subject alone, may mean the caller: its realm is the one
 * that the tenant's kind implies, or the platform's.
 */
export const isImpliedSubject = (kind: IdentityKind, tenant: string): boolean =>
  kind === "operator" ||
  kind === "service_account" ||
  kind === (tenantKind(tenant) === "enterprise" ? "tenant_user" : "consumer");

export interface TenantHeaders {
  /** `X-Tenant-Id` */
  readonly delegated: string | null;
  /** `X-Svc-Tenant` */
  readonly switched: string | null;
  /** `X-Svc-Team` */
  readonly team: string | null;
}

/** What resolution found. The caller still has to look the tenant up. */
export interface TenantChoice {
  readonly slug: string;
  /**
   * `home` and `delegated` tenants come into being at first use; a `switched` one must exist;
   * a `team` one also needs the caller's membership.
   */
  readonly by: "home" | "delegated" | "switched" | "team";
}

/**
 * The effective tenant of a request. An API key acts in the tenant that it was made for, also where headers name another; that of a
 * machine which was made for its home may be sent on by `X-Tenant-Id`, as the machine's tokens are, and one that was made
 * in another tenant opens it as long as its client may act there.
 * @param mayDelegate whether the service account's client is allowed to act in a tenant
 * @throws Problem 400 `invalid_tenant_slug`, 403 `tenant_delegation_forbidden`
 */
export function chooseTenant(
  identity: Identity,
  headers: TenantHeaders,
  mayDelegate: (clientId: string | null, slug: string) => boolean,
): TenantChoice {
  const isKey = identity.keyId !== null;
  if (identity.kind === "operator" && identity.role === "admin" && headers.switched && !isKey) {
    return { slug: wellFormed(headers.switched), by: "switched" };
  }
  const mayBeSent = !isKey || identity.homeTenant === systemTenant;
  if (identity.kind === "service_account" && headers.delegated && mayBeSent) {
    const slug = wellFormed(headers.delegated);
    if (slug !== identity.homeTenant && !mayDelegate(identity.clientId, slug)) throw mayNotDelegate();
    return { slug, by: slug === identity.homeTenant ? "home" : "delegated" };
  }
  if ((identity.kind === "consumer" || identity.kind === "tenant_user") && headers.team && !isKey) {
    const id = headers.team.toLowerCase().replace(/^t-/, "");
    if (!uuidPattern.test(id)) throw malformed();
    return { slug: `t-${id}`, by: "team" };
  }
  // What the machine may do is asked of its client at each use, as the scopes of a key are.
  if (identity.kind === "service_account" && !mayBeSent) {
    if (!mayDelegate(identity.clientId, identity.homeTenant)) throw mayNotDelegate();
    return { slug: identity.homeTenant, by: "delegated" };
  }
  return { slug: identity.homeTenant, by: tenantKind(identity.homeTenant) === "team" ? "team" : "home" };
}

function wellFormed(slug: string): string {
  if (!isTenantSlug(slug)) throw malformed();
  return slug;
}

const mayNotDelegate = () => new Problem("tenant_delegation_forbidden", "This client may not act in that tenant");

const malformed = () => new Problem("invalid_tenant_slug", "This is no tenant name");
