/** What is put on record of the items of a child record, and the record itself. */
import type { RunState } from "../state.ts";
import type { RunTurn } from "../turn.ts";
import type { Line, WorkOf } from "../work.ts";
import type { ItemRow } from "./progress.ts";

export type BatchWork = WorkOf<"batch">;

/** @throws for a run that is no child record: a fault of the caller */
export function batchOf({ batch }: RunState["header"]) {
  if (batch === undefined) throw new Error("this run is no child record of a Map");
  return batch;
}

/** The progress of the child record, whichever line is in focus. */
export const workOf = (run: RunTurn): BatchWork => run.inLine(null, () => run.workOf("batch"));

/** Of an item without a result. */
export const row = (index: number, status: ItemRow["status"], attempts: number): ItemRow => ({
  index,
  status,
  attempts,
  result: null,
  error: null,
  execution_id: null,
});

/** The execution or run that an item has under way, once it has started. */
export function underWay({ current }: Line): string | null {
  if (current === null) return null;
  const { work } = current;
  if (work.of === "subworkflow") return work.started ? work.child : null;
  if (work.of === "agent") {
    return (
      work.ended?.execution_id ?? work.children.find(({ role, started }) => role === "agent" && started)?.id ?? null
    );
  }
  return null;
}

/** Counts by item, but for these. */
export function without(counts: BatchWork["earlier"], indices: ReadonlySet<number>): BatchWork["earlier"] {
  return Object.fromEntries(Object.entries(counts).filter(([index]) => !indices.has(Number(index))));
}
