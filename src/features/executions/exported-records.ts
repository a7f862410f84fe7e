/** Executions as an export of their tenant has them: their records with all iterations and what models were told. */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { ExportedRecords } from "../feature.ts";
import type { ExecutionRecords } from "./records.ts";
import type { Executions } from "./service.ts";

const atOnce = 100;
const all = {
  agentId: null,
  statuses: null,
  workflowName: null,
  workflowExecutionId: null,
  parentExecutionId: null,
  labels: {},
  startedAfter: null,
  startedBefore: null,
};

export const exportedExecutions = (
  records: Pick<ExecutionRecords, "list">,
  executions: Pick<Executions, "find" | "record">,
): ExportedRecords => ({
  kind: "executions",
  async *read(tenant) {
    for (let after: readonly string[] | null = null; ; ) {
      const rows = await records.list(tenant, all, { limit: atOnce, offset: 0, after });
      for (const { execution_id } of rows.slice(0, atOnce)) {
        const record = await recordOf(executions, tenant, execution_id);
        if (record !== null) yield record;
      }
      const last = rows[atOnce - 1];
      if (last === undefined || rows.length <= atOnce) return;
      after = [last.position, last.execution_id];
    }
  },
});

/** Null: it was removed meanwhile. */
async function recordOf(executions: Pick<Executions, "find" | "record">, tenant: string, id: string) {
  try {
    return await executions.record(await executions.find(tenant, id), true, 0, new AbortController().signal);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}
