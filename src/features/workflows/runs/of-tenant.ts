/** The end of a tenant: its runs are cancelled when it is deleted, and erased when it is purged. */
import { workflowRun } from "../../../../actors/workflow/run/run.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { Volumes } from "../../volumes/port.ts";
import type { RunRecords } from "./records.ts";

interface EndOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: Pick<RunRecords, "ofTenant">;
}

/** Runs of one portion: they share commits, and leave the lane to others' work. */
const atOnce = 64;
/** Of one round; what is left is for the next one. */
const mostPortions = 100;

/** Cancels what has not ended, and undoes nothing. Repeatable. @returns whether nothing was under way */
export async function endRuns({ runtime, records }: EndOptions, tenant: string): Promise<boolean> {
  const runs = runtime.of(workflowRun);
  for (let portion = 0; portion < mostPortions; portion++) {
    const ids = await records.ofTenant(tenant, { isUnderWay: true, limit: atOnce });
    if (ids.length === 0) return portion === 0;
    const cancel = (id: string) =>
      runs.at(tenant, id).ask("cancel", { reason: "tenant_deleted", compensate: false }, { repeatable: true });
    await Promise.all(ids.map(cancel));
  }
  return false;
}

/** Erases every record, log and volume of a run. Repeatable. @returns whether nothing is left */
export async function eraseRuns(
  { runtime, records, volumes }: EndOptions & { readonly volumes: Pick<Volumes, "removeOfErased"> },
  tenant: string,
): Promise<boolean> {
  const runs = runtime.of(workflowRun);
  for (let portion = 0; portion < mostPortions; portion++) {
    const ids = await records.ofTenant(tenant, { isUnderWay: false, limit: atOnce });
    if (ids.length === 0) return true;
    await volumes.removeOfErased(ids);
    await Promise.all(ids.map((id) => runs.at(tenant, id).ask("erase", {}, { repeatable: true })));
  }
  return false;
}
