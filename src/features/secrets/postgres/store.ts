/** Secrets in PostgreSQL, encrypted; the default. */
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { EncryptedColumn, Encryption, EncryptionContext } from "../../encryption/port.ts";
import { sizeOf, textOf } from "../content.ts";
import { versionConflict } from "../path.ts";
import type { SecretContent, SecretEntry, SecretStore, SecretWrite, WrittenSecret } from "../store.ts";

/** Of a tenant, deleted ones left out. */
export const maxSecrets = 10_000;
/** A deleted secret's row keeps its version for so long. */
const deletedForDays = 30;

interface Row {
  readonly id: string;
  readonly tenant: string;
  readonly version: number;
  readonly encoding: SecretContent["form"];
  readonly ciphertext: string | null;
  readonly written_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** For the replacing of the master key. */
export const encryptedColumns: readonly EncryptedColumn[] = [
  { table: "secrets", column: "ciphertext", version: ({ version }) => versionName(Number(version)) },
];

const versionName = (version: number): string => `secret/${version}`;
const contextOf = (tenant: string, record: string, version: number): EncryptionContext => ({
  tenant,
  record,
  version: versionName(version),
});

export interface PostgresSecretsOptions {
  readonly sql: Sql;
  readonly encryption: Pick<Encryption, "encrypt" | "decrypt">;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function postgresSecrets({ sql, encryption, now, newId }: PostgresSecretsOptions): SecretStore {
  const columns = sql`
    id, tenant, version::double precision as version, encoding, ciphertext, written_by, created_at, updated_at`;

  async function find(query: Sql | Transaction, tenant: string, path: string): Promise<Row | null> {
    const [row] = await query<Row[]>`select ${columns} from secrets where tenant = ${tenant} and path = ${path}`;
    return row ?? null;
  }

  /** Writes of one tenant take turns: what was counted or compared is still so when they commit. */
  function inTurn<T>(tenant: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`secrets ${tenant}`}, 0))`;
      return work(tx);
    }) as Promise<T>;
  }

  /** @throws Problem 402 `quota_exceeded` */
  async function requireRoom(tx: Transaction, tenant: string): Promise<void> {
    const [row] = await tx<{ used: number }[]>`
      select count(*)::int as used from secrets where tenant = ${tenant} and ciphertext is not null`;
    const used = row?.used ?? 0;
    if (used < maxSecrets) return;
    const extras = { quota: "secrets", limit: maxSecrets, used };
    throw new Problem("quota_exceeded", `A tenant may have ${maxSecrets} secrets`, extras);
  }

  /** @param before the row of the path, of a deleted secret too */
  async function put(
    tx: Transaction,
    { tenant, path }: { readonly tenant: string; readonly path: string },
    before: Row | null,
    { content, workId }: SecretWrite,
  ): Promise<WrittenSecret> {
    const at = new Date(now());
    const id = before?.id ?? newId();
    const version = (before?.version ?? 0) + 1;
    const createdAt = before === null || before.ciphertext === null ? at : before.created_at;
    const ciphertext = encryption.encrypt(contextOf(tenant, id, version), textOf(content));
    await tx`
      insert into secrets
        (id, tenant, path, version, encoding, ciphertext, size_bytes, written_by, created_at, updated_at)
      values (${id}, ${tenant}, ${path}, ${version}, ${content.form}, ${ciphertext}, ${sizeOf(content)}, ${workId},
        ${createdAt}, ${at})
      on conflict (tenant, path) do update set version = excluded.version, encoding = excluded.encoding,
        ciphertext = excluded.ciphertext, size_bytes = excluded.size_bytes, written_by = excluded.written_by,
        created_at = excluded.created_at, updated_at = excluded.updated_at, deleted_at = null`;
    return { version, createdAt, updatedAt: at };
  }

  return {
    async list(tenant, { prefix, after, offset, limit }) {
      // `0` is the character behind `/`.
      const within =
        prefix === null ? sql`true` : sql`(path = ${prefix} or (path > ${`${prefix}/`} and path < ${`${prefix}0`}))`;
      const behind = after === null ? sql`true` : sql`path > ${after}`;
      return sql<SecretEntry[]>`
        select path, updated_at as "updatedAt", size_bytes as "sizeBytes", version::double precision as version
        from secrets where tenant = ${tenant} and ciphertext is not null and ${within} and ${behind}
        order by path limit ${limit} offset ${offset}`;
    },

    async read(tenant, path) {
      const row = await find(sql, tenant, path);
      if (row === null || row.ciphertext === null) return null;
      const { id, version, encoding, created_at: createdAt, updated_at: updatedAt } = row;
      const text = encryption.decrypt(contextOf(tenant, id, version), row.ciphertext);
      const content: SecretContent =
        encoding === "data" ? { form: encoding, data: JSON.parse(text) } : { form: encoding, value: text };
      return { path, content, version, createdAt, updatedAt };
    },

    write: (tenant, path, write, record) =>
      inTurn(tenant, async (tx) => {
        const before = await find(tx, tenant, path);
        if (before?.written_by === write.workId && before.ciphertext !== null) {
          return { version: before.version, createdAt: before.created_at, updatedAt: before.updated_at };
        }
        const current = before === null || before.ciphertext === null ? null : before.version;
        const { condition } = write;
        if (condition === "new" ? current !== null : condition !== null && condition !== current) {
          throw versionConflict();
        }
        if (current === null) await requireRoom(tx, tenant);
        const written = await put(tx, { tenant, path }, before, write);
        await record.within(tx, { version: written.version });
        return written;
      }),

    remove: (tenant, path, record) =>
      inTurn(tenant, async (tx) => {
        const [gone] = await tx<{ version: number }[]>`
          update secrets set ciphertext = null, size_bytes = 0, deleted_at = ${new Date(now())}
          where tenant = ${tenant} and path = ${path} and ciphertext is not null
          returning version::double precision as version`;
        if (gone === undefined) return false;
        await record.within(tx, { version: gone.version });
        return true;
      }),

    async erase(tenant) {
      await sql`delete from secrets where tenant = ${tenant}`;
    },

    async probe() {
      await sql`select 1 from secrets limit 1`;
    },
  };
}

/** Removes rows of secrets that were deleted long ago. @returns how many there were */
export async function sweepDeleted(sql: Sql): Promise<number> {
  const gone = await sql`delete from secrets where deleted_at < now() - ${deletedForDays} * interval '1 day'`;
  return gone.count;
}
