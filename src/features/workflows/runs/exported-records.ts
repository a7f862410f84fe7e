/** Runs as an export of their tenant has them. */
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { ExportedRecords } from "../../feature.ts";
import type { RunRecords } from "./records.ts";
import type { Runs } from "./service.ts";

const atOnce = 100;
const all = {
  workflowId: null,
  workflowName: null,
  statuses: null,
  parentRunId: null,
  scheduleId: null,
  startedAfter: null,
  startedBefore: null,
};

export const exportedRuns = (records: Pick<RunRecords, "list">, runs: Pick<Runs, "record">): ExportedRecords => ({
  kind: "workflow_runs",
  async *read(tenant) {
    for (let after: readonly string[] | null = null; ; ) {
      const rows = await records.list(tenant, all, { limit: atOnce, offset: 0, after });
      for (const { run_id } of rows.slice(0, atOnce)) {
        const record = await runs.record(tenant, run_id).catch(goneAsNull);
        if (record !== null) yield { ...record };
      }
      const last = rows[atOnce - 1];
      if (last === undefined || rows.length <= atOnce) return;
      after = [last.position, last.run_id];
    }
  },
});

/** It was removed meanwhile. */
function goneAsNull(error: unknown): null {
  if (error instanceof Problem && error.status === 404) return null;
  throw error;
}
