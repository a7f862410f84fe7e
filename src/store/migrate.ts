/**
 * Numbered, forward-only migrations: `migrations/NNNN_name.sql`, each run once, in order, in a transaction of its own.
 *
 * Nodes of the former version run on beside the migrated schema, so a migration only adds. What the former version
 * needed goes one version later, by a migration that says which one a program must have to work without it: its first
 * lines hold `-- needs: NNNN_name.sql`. A program therefore meets a schema that is newer than it knows only where a
 * migration needs one that the program does not have; beside all others it works.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { StartFailure } from "../lib/start-failure.ts";
import type { Sql, Transaction } from "./postgres/pool.ts";

const released = join(import.meta.dir, "migrations");

export interface MigrateOptions {
  /** Where the migrations are, when they are not this program's own. */
  readonly folder?: string;
  /** How long a statement waits for a lock, and holds up those that wait behind it, before all is tried again, ms. */
  readonly lockTimeoutMs?: number;
  /** How long this goes on in all when locks cannot be had, ms. */
  readonly patienceMs?: number;
  /**
   * Whether a pooler gives each transaction another server connection: what was set for the session of one statement
   * would then hold for other statements.
   */
  readonly pooled?: boolean;
  /** One line about what takes long. */
  readonly progress?: (line: string) => void;
}

interface Migration {
  readonly name: string;
  readonly text: string;
  /** The migration that a program must have to work once this one has run; null when the former version works too. */
  readonly needs: string | null;
  /**
   * Statements such as CREATE INDEX CONCURRENTLY, which run outside of a transaction and may be repeated. In a new
   * schema, which has no writers to keep out, and behind a pooler they run inside of one, without CONCURRENTLY.
   */
  readonly apart: boolean;
}

/** A node whose heartbeat is older than this is gone, with any lease time, seconds. */
const goneAfterSeconds = 60;
const pauseMs = 200;

/**
 * Brings the schema up to date. Of programs that do this at once one works at a time.
 * @param sql with `schema` first in its search path
 * @returns the names of the migrations that it applied
 * @throws StartFailure for a schema newer than this program knows, for locks that cannot be had, and for a step that
 *   nodes that still run would not survive; other errors when a migration fails. Earlier ones stay applied
 */
export async function migrate(sql: Sql, schema: string, options: MigrateOptions = {}): Promise<readonly string[]> {
  const { lockTimeoutMs = 2000, patienceMs = 600_000, progress = () => {} } = options;
  const migrations = readMigrations(options.folder ?? released);
  const until = performance.now() + patienceMs;
  const done: string[] = [];
  const missing = await pending(sql, schema, migrations);
  const isApart = options.pooled !== true && missing.length < migrations.length;
  for (const migration of missing) {
    for (let told = false; ; ) {
      const step = await attempt(sql, schema, migration, { lockTimeoutMs, isApart });
      if (step === "applied") done.push(migration.name);
      if (step === "applied" || step === "was applied") break;
      if (performance.now() > until) throw new StartFailure(`The migration ${migration.name} cannot run: ${step}.`);
      if (!told) progress(`The migration ${migration.name} waits: ${step}`);
      told = true;
      await Bun.sleep(pauseMs);
    }
  }
  return done;
}

/** The last migration that this program has. */
export function lastMigration(): string {
  return readMigrations(released).at(-1)?.name ?? "";
}

function readMigrations(folder: string): readonly Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const head = /^(--.*\n)*/.exec(text)?.[0] ?? "";
      const needs = /^-- needs: (\d{4}_\w+\.sql)$/m.exec(head)?.[1] ?? null;
      return { name, text, needs, apart: /^-- outside of a transaction$/m.test(head) };
    });
}

/** What is to be done; takes no lock, since most starts find nothing. @throws StartFailure for a newer schema */
async function pending(sql: Sql, schema: string, known: readonly Migration[]): Promise<readonly Migration[]> {
  const [table] = await sql<{ found: boolean; needs: boolean }[]>`
    select to_regclass(${`${quoted(schema)}.migrations`}) is not null as found,
      exists (select 1 from information_schema.columns
        where table_schema = ${schema} and table_name = 'migrations' and column_name = 'needs') as needs`;
  if (table?.found !== true) return known;
  const applied = await sql<{ name: string; needs: string | null }[]>`
    select name, ${table.needs ? sql`needs` : sql`null`} as needs from ${sql(schema)}.migrations order by name`;
  const last = known.at(-1)?.name ?? "";
  const beyond = applied.filter(({ needs }) => needs !== null && needs > last).at(-1);
  if (beyond !== undefined) {
    throw new StartFailure(
      `The schema ${schema} is newer than this version of the program: ${beyond.name} needs one that has ${beyond.needs}, this one has ${last}. Start a later version.`,
    );
  }
  const names = new Set(applied.map(({ name }) => name));
  return known.filter(({ name }) => !names.has(name));
}

/** Tries one migration. @returns what came of it, or why it must wait */
async function attempt(
  sql: Sql,
  schema: string,
  migration: Migration,
  { lockTimeoutMs, isApart }: { readonly lockTimeoutMs: number; readonly isApart: boolean },
): Promise<string> {
  try {
    return await sql.begin(async (tx) => {
      // Ends with the transaction, as all of these: behind a pooler the connection has other users.
      const [turn] = await tx<{ mine: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtext(${`svc-migrate-${schema}`})) as mine`;
      if (turn?.mine !== true) return "another program migrates this schema";
      await tx`create schema if not exists ${tx(schema)}`;
      await tx`select set_config('search_path', ${quoted(schema)}, true), set_config('statement_timeout', '0', true),
        set_config('idle_in_transaction_session_timeout', '0', true),
        set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`;
      await openTable(tx);
      const [found] = await tx`select 1 from migrations where name = ${migration.name}`;
      if (found !== undefined) return "was applied";
      await refuseForNodes(tx, migration);
      if (!migration.apart) await tx.unsafe(migration.text);
      else if (isApart) await runApart(tx, sql, schema, migration);
      else await tx.unsafe(migration.text.replace(/\bconcurrently\b/gi, ""));
      await tx`insert into migrations (name, needs) values (${migration.name}, ${migration.needs})`;
      return "applied";
    });
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    // A lock that could not be had in time, or two that wait for one another.
    if (code === "55P03" || code === "40P01") return "others use what it changes";
    throw error;
  }
}

async function openTable(tx: Transaction): Promise<void> {
  await tx`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
  const [column] = await tx`
    select 1 from pg_attribute where attrelid = 'migrations'::regclass and attname = 'needs' and not attisdropped`;
  if (column === undefined) await tx`alter table migrations add column needs text`;
}

/** @throws StartFailure while nodes run that would not work after it */
async function refuseForNodes(tx: Transaction, { name, needs }: Migration): Promise<void> {
  if (needs === null) return;
  const old = await tx<{ id: string; migration: string | null }[]>`
    select id, migration from runtime_nodes
    where heartbeat_at > now() - make_interval(secs => ${goneAfterSeconds})
      and (migration is null or migration collate "C" < ${needs})`;
  if (old.length === 0) return;
  throw new StartFailure(
    `The migration ${name} takes away what nodes without ${needs} work with: stop ${old.map(({ id }) => id).join(", ")} first.`,
  );
}

/** Over a connection of its own, while the transaction beside it keeps others from migrating. */
async function runApart(tx: Transaction, sql: Sql, schema: string, { text }: Migration): Promise<void> {
  // The last query with parameters keeps its snapshot until the next query, and an index made concurrently waits for it.
  await tx.unsafe("select 1").simple();
  const connection = await sql.reserve();
  try {
    await connection`select set_config('search_path', ${quoted(schema)}, false), set_config('statement_timeout', '0', false)`;
    for (const statement of text.split(/;\s*$/m)) if (statement.trim() !== "") await connection.unsafe(statement);
  } finally {
    await connection`reset statement_timeout`.catch(() => {});
    connection.release();
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
