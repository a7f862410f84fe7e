/** Which run an actor of the kind stands for: a child record of items stands for the run whose Map it is of. */
import type { RunHeader } from "../../../../../actors/workflow/run/state.ts";

/**
 * @param actor its key
 * @returns the run's id, and who hears of what it starts in the run's place
 */
export function runOf({ key }: { readonly key: string }, { batch }: Pick<RunHeader, "batch">) {
  return batch === undefined ? { executionId: key, told: {} } : { executionId: batch.run_id, told: { told: key } };
}
