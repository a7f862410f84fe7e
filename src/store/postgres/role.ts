/**
 * Settings of the role that nodes log in with, in this database: the bound of a statement, and behind a pooler the
 * schema. A role's settings hold for each of its sessions from the first statement on, through any pooler.
 */
import { StartFailure } from "../../lib/start-failure.ts";
import type { Weakness } from "./facts.ts";
import type { Sql } from "./pool.ts";

export interface RoleSettings {
  readonly schema: string;
  /** Bound of a statement, ms. */
  readonly statementMs: number;
  readonly pooled: boolean;
}

/**
 * Brings the role's settings up to date, once: a role may always alter its own.
 * @returns what the role does not allow
 * @throws StartFailure when the schema cannot be had
 */
export async function settleRole(sql: Sql, settings: RoleSettings): Promise<readonly Weakness[]> {
  const { schema, statementMs, pooled } = settings;
  const wanted = new Map([["statement_timeout", `${statementMs}ms`]]);
  if (pooled) wanted.set("search_path", schema);
  const missing = await missingOf(sql, wanted);
  if (missing.length === 0) return [];
  try {
    await sql.begin(async (tx) => {
      // Two sessions that change one role at once fail.
      await tx`select pg_advisory_xact_lock(hashtext('svc-role'))`;
      for (const name of await missingOf(tx, wanted)) {
        const [statement] = await tx<{ text: string }[]>`
          select format('alter role %I in database %I set %I = %L', current_user, current_database(), ${name}::text,
            ${wanted.get(name) ?? ""}::text) as text`;
        await tx.unsafe(statement?.text ?? "");
      }
    });
  } catch (error) {
    if (missing.includes("search_path")) {
      throw new StartFailure(
        `Behind a pooler the schema is that of the role, which cannot be altered (${(error as Error).message}): have search_path of the role set to ${schema} in this database.`,
      );
    }
    const message = `The role cannot be altered: statements are ended after ${statementMs} ms by the nodes alone`;
    return [{ code: "postgres_statement_timeout", message }];
  }
  return [];
}

/** @throws StartFailure when another schema is set already, which others may use */
async function missingOf(sql: Pick<Sql, "unsafe">, wanted: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const rows = await sql.unsafe<{ setting: string }[]>(`
    select unnest(setconfig) as setting from pg_db_role_setting
    where setrole = (select oid from pg_roles where rolname = current_user)
      and setdatabase = (select oid from pg_database where datname = current_database())`);
  const present = new Map(rows.map(({ setting }) => setting.split(/=(.*)/s, 2) as [string, string]));
  const path = wanted.get("search_path");
  const other = present.get("search_path");
  if (path !== undefined && other !== undefined && other !== path && other !== `"${path}"`) {
    throw new StartFailure(
      `Behind a pooler the schema is that of the role, whose search_path is ${other}: give this service a role of its own, or set SVC_DATABASE_SCHEMA.`,
    );
  }
  return [...wanted]
    .filter(([name, value]) => present.get(name) !== value && present.get(name) !== `"${value}"`)
    .map(([name]) => name);
}

/** Server connections that a pooler opened before the role was altered are asked for and ended, one by one. */
export async function renewPooled(sql: Sql, schema: string, width: number): Promise<void> {
  let failure: unknown = null;
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.allSettled(
      Array.from({ length: width }, async () => {
        const [row] = await sql<{ schema: string | null }[]>`select current_schema() as schema`;
        if (row?.schema === schema) return true;
        // The statement ends the connection that runs it, and no other.
        await sql`select pg_terminate_backend(pg_backend_pid()) where current_schema() is distinct from ${schema}`;
        return false;
      }),
    );
    if (answers.every((answer) => answer.status === "fulfilled" && answer.value)) return;
    failure = answers.find((answer) => answer.status === "rejected")?.reason ?? null;
    await Bun.sleep(100);
  }
  if (failure !== null) throw failure;
  throw new StartFailure(`The pooler hands out connections whose search_path does not lead to the schema ${schema}.`);
}
