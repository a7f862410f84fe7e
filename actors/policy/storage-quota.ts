/** How much may be kept in volumes (docs/reference/volumes.md). */
import type { Tier } from "../identity/identity.ts";
import type { TenantTerms } from "./quota.ts";

const MiB = 2 ** 20;
const GiB = 2 ** 30;
/** What `unlimited` is on the wire. */
const unlimited = Number.MAX_SAFE_INTEGER;

export interface StorageQuota {
  readonly tier: Tier | "system";
  /** Volumes of one user, `chat-attachments` included. */
  readonly volumes: number;
  /** Bytes in all volumes of one user. */
  readonly userBytes: number;
  readonly fileBytes: number;
  /** Bytes in all volumes of the tenant. */
  readonly tenantBytes: number;
}

/** Of one user; the tenant's own bound is among its quotas. */
const byTier: Readonly<Record<Tier | "system", Omit<StorageQuota, "tier" | "tenantBytes">>> = {
  free: { volumes: 2, userBytes: 500 * MiB, fileBytes: 50 * MiB },
  pro: { volumes: 10, userBytes: 10 * GiB, fileBytes: 500 * MiB },
  business: { volumes: 50, userBytes: 100 * GiB, fileBytes: 2 * GiB },
  enterprise: { volumes: unlimited, userBytes: unlimited, fileBytes: unlimited },
  system: { volumes: unlimited, userBytes: unlimited, fileBytes: unlimited },
};

export function storageQuota({ tier, quotas: { maxStorageGb } }: TenantTerms): StorageQuota {
  return { tier, ...byTier[tier], tenantBytes: maxStorageGb < 0 ? unlimited : Math.min(maxStorageGb * GiB, unlimited) };
}

/** The size limit of a volume that is given none, and what `chat-attachments` has. */
export function volumeAllowance({ userBytes }: StorageQuota): number {
  return userBytes === unlimited ? 10 * GiB : userBytes;
}
