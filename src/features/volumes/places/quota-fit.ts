/** Whether what executions write into volumes fits the quotas of those. */
import type { TenantTerms } from "../../../../actors/policy/quota.ts";
import { storageQuota } from "../../../../actors/policy/storage-quota.ts";
import type { Transaction } from "../../../store/postgres/pool.ts";
import type { UserVolumeRecords } from "../user-records.ts";
import type { VolumeAt } from "./port.ts";

/**
 * Asked in a transaction that counted what is written. A volume of an agent or a workflow is bounded by its own limit and
 * the tenant's.
 */
export function quotaFit(
  records: Pick<UserVolumeRecords, "heldWith">,
  terms: (tenant: string) => Promise<TenantTerms>,
): (transaction: Transaction, volume: VolumeAt) => Promise<boolean> {
  return async (transaction, { tenant, volume_id }) => {
    const { userBytes, tenantBytes } = storageQuota(await terms(tenant));
    const held = await records.heldWith(transaction, tenant, volume_id);
    return held.volume <= held.limit && held.user <= userBytes && held.tenant <= tenantBytes;
  };
}
