/** How much may be kept in volumes (docs/reference/volumes.md). */
import { systemTenant, type Tier } from "../identity/identity.ts";
import { type Standing, tierOf } from "./quota.ts";

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

const byTier: Readonly<Record<Tier, Omit<StorageQuota, "tier">>> = {
  free: { volumes: 2, userBytes: 500 * MiB, fileBytes: 50 * MiB, tenantBytes: GiB },
  pro: { volumes: 10, userBytes: 10 * GiB, fileBytes: 500 * MiB, tenantBytes: 25 * GiB },
  business: { volumes: 50, userBytes: 100 * GiB, fileBytes: 2 * GiB, tenantBytes: 50 * GiB },
  enterprise: { volumes: unlimited, userBytes: unlimited, fileBytes: unlimited, tenantBytes: 100 * GiB },
};

/** @param caller null when no person acts: the kind of tenant decides */
export function storageQuota(caller: Standing | null, tenant: string): StorageQuota {
  if (tenant === systemTenant) {
    return { tier: "system", volumes: unlimited, userBytes: unlimited, fileBytes: unlimited, tenantBytes: unlimited };
  }
  const tier = tierOf(caller, tenant);
  return { tier, ...byTier[tier] };
}

/** The largest size limit a user may give a volume, and what `chat-attachments` has. */
export function volumeAllowance({ userBytes }: StorageQuota): number {
  return userBytes === unlimited ? 10 * GiB : userBytes;
}
