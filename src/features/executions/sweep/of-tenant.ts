/** The end of a tenant: its executions are cancelled when it is deleted, and erased when it is purged. */
import { execution } from "../../../../actors/execution/execution.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { Volumes } from "../../volumes/port.ts";
import type { ExecutionRecords } from "../records.ts";

interface EndOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: Pick<ExecutionRecords, "ofTenant">;
}

/** Executions of one portion: they share commits, and leave the lane to others' work. */
const atOnce = 64;
/** Of one round; what is left is for the next one. */
const mostPortions = 100;

/** Cancels what has not ended. Repeatable. @returns whether nothing was under way */
export async function endExecutions({ runtime, records }: EndOptions, tenant: string): Promise<boolean> {
  const executions = runtime.of(execution);
  for (let portion = 0; portion < mostPortions; portion++) {
    const ids = await records.ofTenant(tenant, { isUnderWay: true, limit: atOnce });
    if (ids.length === 0) return portion === 0;
    const cancel = (id: string) =>
      executions.at(tenant, id).ask("cancel", { reason: "tenant_deleted" }, { repeatable: true });
    await Promise.all(ids.map(cancel));
  }
  return false;
}

/** Erases every record, log and workspace. Repeatable. @returns whether nothing is left */
export async function eraseExecutions(
  { runtime, records, volumes }: EndOptions & { readonly volumes: Pick<Volumes, "removeOfErased"> },
  tenant: string,
): Promise<boolean> {
  const executions = runtime.of(execution);
  for (let portion = 0; portion < mostPortions; portion++) {
    const ids = await records.ofTenant(tenant, { isUnderWay: false, limit: atOnce });
    if (ids.length === 0) return true;
    await volumes.removeOfErased(ids);
    await Promise.all(ids.map((id) => executions.at(tenant, id).ask("erase", {}, { repeatable: true })));
  }
  return false;
}
