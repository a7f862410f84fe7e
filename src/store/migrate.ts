/** Numbered, forward-only migrations: `migrations/NNNN_name.sql`, each run once, in order. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "./postgres.ts";

const folder = join(import.meta.dir, "migrations");

/**
 * Brings the schema of this connection up to date in one transaction; nodes that start together wait for one another.
 * @throws when a migration fails; then none is applied
 */
export async function migrate(sql: Sql, schema: string): Promise<void> {
  const files = readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort();
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext(${`svc-migrate-${schema}`}))`;
    await tx`create schema if not exists ${tx(schema)}`;
    await tx`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
    const applied = new Set((await tx<{ name: string }[]>`select name from migrations`).map((row) => row.name));
    for (const name of files) {
      if (applied.has(name)) continue;
      await tx.unsafe(readFileSync(join(folder, name), "utf8"));
      await tx`insert into migrations (name) values (${name})`;
    }
  });
}
