/** Queries that every start asks are planned once for a connection. */
import { expect, test } from "bun:test";
import { agentRecords } from "../../../src/features/agents/records.ts";
import { workflowRecords } from "../../../src/features/workflows/definitions/records.ts";
import { reading } from "../../../src/runtime/reads/reading.ts";
import { openPostgres } from "../../../src/store/postgres/pool.ts";
import { freshStores } from "../../harness/stores.ts";

test("queries of a start and a decision are planned once, not anew each time", async () => {
  const stores = await freshStores();
  const sql = openPostgres({ url: stores.databaseUrl, schema: stores.schema, poolSize: 1 });
  try {
    const agents = agentRecords(sql);
    const workflows = workflowRecords(sql);
    const { readListed } = reading(sql);
    for (let time = 0; time < 8; time++) {
      await agents.findForExecution("acme", { id: crypto.randomUUID() }, null);
      await workflows.locate("acme", { ref: "release", version: null });
      await readListed({ kind: "approval" }, "acme", ["a"]);
    }
    const plans = await sql<{ asks: string; generic: number }[]>`
      select btrim(left(statement, 40)) as asks, generic_plans::int as generic from pg_prepared_statements
      where generic_plans + custom_plans = 8`;
    expect(plans.length).toBe(3);
    expect(plans.filter(({ generic }) => generic === 0)).toEqual([]);
  } finally {
    await sql.end();
    await stores.dispose();
  }
});
