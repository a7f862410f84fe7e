import { expect, test } from "bun:test";
import { partsOf } from "../../../../src/runtime/lane/commit/commit.ts";
import { openPostgres } from "../../../../src/store/postgres/pool.ts";
import { freshStores } from "../../../harness/stores.ts";
import { commitOf } from "./sample-commit.ts";

test("each part of a commit is planned once for a connection, not anew for each batch", async () => {
  const stores = await freshStores();
  const sql = openPostgres({ url: stores.databaseUrl, schema: stores.schema, poolSize: 1 });
  try {
    const { ahead, progress, others } = partsOf(commitOf(), { node: "n", host: "h" });
    const texts = [...ahead, progress, ...others].map(({ text }) => text);
    await sql.begin(async (tx) => {
      for (const { text, parameters } of [...ahead, progress, ...others]) {
        for (let time = 0; time < 8; time++) {
          await tx
            .savepoint(async (inner) => {
              await inner.unsafe(text, parameters as never[], { prepare: true });
              throw new Error("undone");
            })
            .catch(() => {});
        }
      }
    });
    const plans = await sql<{ statement: string; generic_plans: number }[]>`
      select statement, generic_plans::int from pg_prepared_statements where statement = any(${texts})`;
    const generic = new Map(plans.map((row) => [row.statement, row.generic_plans]));
    expect(texts.filter((text) => (generic.get(text) ?? 0) === 0)).toEqual([]);
  } finally {
    await sql.end();
    await stores.dispose();
  }
});
