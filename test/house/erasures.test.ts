/** Every table that holds something of a tenant is named by the feature that erases it, or stays for a reason. */
import { afterAll, expect, test } from "bun:test";
import { features } from "../../src/node/features.ts";
import { freshStores } from "../harness/stores.ts";

const stores = await freshStores();
afterAll(() => stores.dispose());

/** Not erased by `tenantTables` of a feature. */
const others: Readonly<Record<string, string>> = {
  tenants: "the slug stays taken",
  tenant_purges: "the purge itself, whose end takes it away",
  audit_entries: "the log stays for its retention",
  audit_chains: "the log's chain stays with it",
  seal_keys: "they sign for all tenants",
  edge_signing_keys: "they sign for all tenants",
  runtime_actors: "go by messages to their owners",
  runtime_timers: "go with their actors",
  runtime_rearm: "go with their actors",
  runtime_activities: "src/runtime/erasing.ts",
  runtime_counters: "src/runtime/erasing.ts",
  runtime_dead_letters: "src/runtime/erasing.ts",
  runtime_inbox: "src/runtime/erasing.ts",
  runtime_parked: "src/runtime/erasing.ts",
};

test("a purge erases every table with a tenant column, or the reason it stays is told", async () => {
  const rows = await stores.sql<{ table_name: string }[]>`
    select table_name from information_schema.columns
    where table_schema = current_schema() and column_name = 'tenant' order by table_name`;
  const tables = rows.map((row) => row.table_name);
  expect(tables.length).toBeGreaterThan(20);
  const erased = features.flatMap(({ tenantTables = [] }) => [...tenantTables]);
  expect(tables.filter((table) => !erased.includes(table) && others[table] === undefined)).toEqual([]);
  expect(erased.filter((table) => !tables.includes(table))).toEqual([]);
});
