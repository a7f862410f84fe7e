/** All that is kept of a tenant as one archive: lines of JSON for each kind of record, and the files of its volumes. */
import { join } from "node:path";
import { iso } from "../../../actors/kernel/time.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { ExportFlaw, TenantExport } from "../feature.ts";
import { type AddEntry, archive } from "./archive.ts";
import { columnsOf, eachRow } from "./rows.ts";
import { openSpool, type Spool } from "./spool.ts";

/** Tells readers which archives they know. */
const format = "svc.tenant-export/1";

export interface TenantExportsOptions {
  readonly sql: Sql;
  /** Absolute path; lines wait in a folder of it. */
  readonly dataDir: string;
  /** What all features export. */
  readonly parts: () => TenantExport;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export type TenantExports = ReturnType<typeof createTenantExports>;

export function createTenantExports({ sql, dataDir, parts, now }: TenantExportsOptions) {
  /** One file of lines, written whole before the archive gets it. */
  async function lines(add: AddEntry, name: string, write: (spool: Spool) => Promise<void>): Promise<number> {
    const spool = await openSpool(join(dataDir, "exports"));
    try {
      await write(spool);
      const size = await spool.finish();
      await add({ name, size, modifiedMs: now(), content: () => spool.content() });
      return spool.lines;
    } finally {
      await spool.close();
    }
  }

  const document = (add: AddEntry, name: string, content: object) => {
    const bytes = Buffer.from(`${JSON.stringify(content, null, 2)}\n`);
    return add({
      name,
      size: bytes.length,
      modifiedMs: now(),
      async *content() {
        yield bytes;
      },
    });
  };

  return {
    /**
     * @param signal of a reader who is still there
     * @returns the bytes of a tar archive; reading them fails where something of it could not be read
     */
    of(tenant: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
      const { tables, records, files } = parts();
      return archive(async (add) => {
        const beganAt = iso(now());
        await document(add, "export.json", {
          format,
          tenant_id: tenant,
          began_at: beganAt,
          tables: Object.fromEntries([...tables].map(([name, table]) => [name, columnsOf(table)])),
          records: records.map(({ kind }) => kind),
        });
        const counts: Record<string, number> = {};
        for (const [name, table] of tables) {
          counts[name] = await lines(add, `records/${name}.jsonl`, (spool) =>
            eachRow(sql, name, table, tenant, (line) => spool.line(line)),
          );
        }
        for (const { kind, read } of records) {
          counts[kind] = await lines(add, `records/${kind}.jsonl`, async (spool) => {
            for await (const record of read(tenant)) {
              signal.throwIfAborted();
              await spool.line(JSON.stringify(record));
            }
          });
        }
        const flaws: ExportFlaw[] = [];
        let fileCount = 0;
        for await (const file of files(tenant)) {
          if ("problem" in file) {
            flaws.push(file);
            continue;
          }
          const { path, size, modifiedMs } = file;
          const { isWhole } = await add({ name: path, size, modifiedMs, content: () => file.content() });
          if (!isWhole) flaws.push({ path, problem: "became shorter while it was read; zeros stand for the rest" });
          fileCount += 1;
        }
        // Last: an archive without it was broken off.
        await document(add, "end.json", { ended_at: iso(now()), counts, files: fileCount, flaws });
      }, signal);
    },
  };
}
