/**
 * The end of deleted tenants: what they have under way is ended at once, and after their time all of it is erased. Both
 * go in steps that may be repeated and that every node may do, so that a crash leaves nothing behind.
 */
import type { Sql } from "../../store/postgres/pool.ts";
import { type PurgeOptions, purgeDue } from "./purge.ts";

const everyMs = 3_000;
/** Tenants of one round. */
const atOnce = 50;
/** By then every node knows that the tenant is deleted, and starts that were under way are stored, s. */
const settledSeconds = 60;

export interface Ending {
  /** Has a round come now. */
  begin(): void;
  /** Resolves after a round under way. */
  stop(): Promise<void>;
}

export function startEnding(options: PurgeOptions): Ending {
  let stopping = false;
  let wake = () => {};
  const rounds = (async () => {
    while (!stopping) {
      await round(options).catch((error: unknown) => options.failed("tenants", { error: String(error) }));
      if (stopping) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  })();
  return {
    begin: () => wake(),
    stop() {
      stopping = true;
      wake();
      return rounds;
    },
  };
}

async function round(options: PurgeOptions): Promise<void> {
  await endWork(options);
  await purgeDue(options);
}

/** Asks until nothing is under way, and no start of before the deletion can come any more. */
async function endWork({ sql, work, failed }: Pick<PurgeOptions, "sql" | "work" | "failed">): Promise<void> {
  for (const slug of await ending(sql)) {
    try {
      if (await work.endWork(slug)) await noteEnded(sql, slug);
    } catch (error) {
      failed("tenant_work", { tenant: slug, error: String(error) });
    }
  }
}

async function ending(sql: Sql): Promise<string[]> {
  const rows = await sql<{ slug: string }[]>`
    select slug from tenants where status = 'deleted' and work_ended_at is null
    order by deleted_at limit ${atOnce}`;
  return rows.map((row) => row.slug);
}

async function noteEnded(sql: Sql, slug: string): Promise<void> {
  await sql`
    update tenants set work_ended_at = now()
    where slug = ${slug} and status = 'deleted'
      and deleted_at < now() - ${`${settledSeconds} seconds`}::text::interval`;
}
