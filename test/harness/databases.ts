/**
 * Databases for tests, copied from one that was migrated once: a copy costs a small part of what the migrations cost.
 * The template belongs to the migrations as they stand, and stays on the server for later runs.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";

const migrations = join(import.meta.dir, "../../src/store/migrations");
const program = join(import.meta.dir, "../../src/store/migrate.ts");
/** The schema of a template; a copy has it under the name of the copy. */
const schema = "svc";
const templates = "svc_template_";

/** One server's databases, as one test process makes them. */
export class TestDatabases {
  readonly #sql: Sql;
  #template: Promise<string> | null = null;

  /** @param url of a database on the server, by a role that may make others */
  constructor(private readonly url: string) {
    this.#sql = openPostgres({ url, schema: "public", poolSize: 1 });
  }

  /** Makes a database with a migrated schema, both of this name. @returns its URL */
  async make(name: string): Promise<string> {
    this.#template ??= this.#openTemplate();
    await this.#sql.unsafe(`create database ${name} template ${await this.#template}`);
    const url = this.#urlOf(name);
    const sql = openPostgres({ url, schema: name, poolSize: 1 });
    await sql.unsafe(`alter schema ${schema} rename to ${name}`);
    await sql.end();
    return url;
  }

  /** Takes a database away, also from connections that are still open. */
  async drop(name: string): Promise<void> {
    await this.#sql.unsafe(`drop database if exists ${name} with (force)`);
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 5 });
  }

  /** The name of the migrated template, which is made where no process has made it. */
  async #openTemplate(): Promise<string> {
    const digest = createHash("sha256").update(readFileSync(program));
    for (const file of readdirSync(migrations).sort()) digest.update(file).update(readFileSync(join(migrations, file)));
    const name = `${templates}${digest.digest("hex").slice(0, 16)}`;
    const found = () => this.#sql<{ datname: string }[]>`
      select datname from pg_database where starts_with(datname, ${templates})`;
    if ((await found()).some(({ datname }) => datname === name)) return name;
    await this.#sql`select pg_advisory_lock(hashtext(${templates}))`;
    try {
      const names = (await found()).map(({ datname }) => datname);
      if (names.includes(name)) return name;
      // What a process left half-way, and those of earlier migrations.
      for (const former of names) await this.drop(former);
      const draft = `${name}_draft`;
      await this.#sql.unsafe(`create database ${draft}`);
      const sql = openPostgres({ url: this.#urlOf(draft), schema, poolSize: 2 });
      await migrate(sql, schema);
      await sql.end();
      await this.#sql.unsafe(`alter database ${draft} with allow_connections false`);
      await this.#sql.unsafe(`alter database ${draft} rename to ${name}`);
      return name;
    } finally {
      await this.#sql`select pg_advisory_unlock(hashtext(${templates}))`;
    }
  }

  #urlOf(database: string): string {
    const url = new URL(this.url);
    url.pathname = `/${database}`;
    return url.href;
  }
}
