/** What a tenant's state does to its schedules: held ones go on once it may begin work, and all go with it. */
import { workflowSchedule } from "../../../../actors/workflow/schedule/schedule.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { ScheduleRecords } from "./records.ts";

interface OfTenantOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: Pick<ScheduleRecords, "idsOf" | "remove">;
}

/** They share commits, and leave the lane to others' work. */
const atOnce = 64;
/** Of one round of an erasure; what is left is for the next one. */
const mostPortions = 100;
/** Above every revision there will be. */
const lastRevision = Number.MAX_SAFE_INTEGER;

/** Has the held schedules of a tenant judge their missed times. Repeatable. */
export async function releaseSchedules({ runtime, records }: OfTenantOptions, tenant: string): Promise<void> {
  const schedules = runtime.of(workflowSchedule);
  for (let after: string | null = null; ; ) {
    const ids: string[] = await records.idsOf(tenant, after, atOnce);
    await Promise.all(ids.map((id) => schedules.at(tenant, id).ask("release", {}, { repeatable: true })));
    after = ids.at(-1) ?? null;
    if (ids.length < atOnce) return;
  }
}

/** Ends every schedule of a tenant. Repeatable. @returns whether nothing is left */
export async function eraseSchedules({ runtime, records }: OfTenantOptions, tenant: string): Promise<boolean> {
  const schedules = runtime.of(workflowSchedule);
  const end = { revision: lastRevision, terms: null, paused: false, since: 0 };
  for (let portion = 0; portion < mostPortions; portion++) {
    const ids = await records.idsOf(tenant, null, atOnce);
    if (ids.length === 0) return true;
    await Promise.all(ids.map((id) => schedules.at(tenant, id).ask("settle", end, { repeatable: true })));
    await records.remove(tenant, ids);
  }
  return false;
}
