/** Tests begin with an empty audit log; its table lets entries go by age alone, in transactions that say so. */
import type { Sql } from "../../src/store/postgres/pool.ts";

export async function emptyAudit(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select set_config('svc.audit_change', 'retention', true)`;
    await tx`truncate audit_entries, audit_chains`;
  });
}
