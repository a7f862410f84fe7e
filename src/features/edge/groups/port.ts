/** What other features may use of groups. */

import type { Selector } from "../../../../actors/edge/selector.ts";
import { isGroupId } from "../../../../actors/edge/target.ts";
import type { GroupRecords } from "./records.ts";

export interface KnownGroup {
  readonly id: string;
  readonly selector: Selector | null;
}

export interface GroupsByName {
  /** A group by its id or its name; null: the tenant has none. */
  find(tenant: string, group: string): Promise<KnownGroup | null>;
}

export const groupsByName = (records: Pick<GroupRecords, "find" | "named">): GroupsByName => ({
  find: async (tenant, group) =>
    (isGroupId(group) ? await records.find(tenant, group) : null) ?? (await records.named(tenant, group)),
});
