/** The end of old records and results, and of calls whose node died. On every node; what another took is left to it. */
import { repeatedly } from "../../lib/timers.ts";
import type { Runtime } from "../../runtime/port.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { firstIdAt, longestCallMs } from "./ids.ts";
import { interruptCalls } from "./interrupted.ts";
import { resultKeptMs } from "./routes.ts";

export interface SweepOptions {
  readonly sql: Sql;
  readonly runtime: Pick<Runtime, "silentNodes">;
  /** SVC_TOOL_AUDIT_RETENTION_DAYS */
  readonly retentionDays: number;
  /** Unix ms. */
  readonly now: () => number;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

const everyMs = 60_000;
/** Of records and results; of one node only, by turns of luck. */
const eraseEveryMs = 3_600_000;
const dayMs = 86_400_000;
/** A node that says nothing for so long is dead: its heartbeat is due every few seconds. */
const silentMs = 60_000;
/** As far back as calls of forgotten nodes are looked for when this node starts, and later. */
const forgottenForMs = { atStart: 3 * dayMs, later: longestCallMs + 2 * eraseEveryMs };
/** Rows per statement: none locks a table for long. */
const atOnce = 2_000;

/** @returns a function that ends it, after a round under way */
export function startInvocationSweep(options: SweepOptions): () => Promise<void> {
  const failed = (error: unknown) => options.report("tool_invocations_not_swept", { error: String(error) });
  const swept = new Set<string>();
  let isFirst = true;
  const ends = [
    repeatedly(everyMs, () => endOfDeadNodes(options, swept), failed),
    repeatedly(
      eraseEveryMs,
      async () => {
        await endOfForgottenNodes(options, forgottenForMs[isFirst ? "atStart" : "later"]);
        isFirst = false;
      },
      failed,
    ),
    repeatedly(eraseEveryMs, () => eraseOld(options), failed),
  ];
  return async () => void (await Promise.all(ends.map((end) => end())));
}

/** Calls that ran on nodes which died: whether they took effect is not known. */
export async function endOfDeadNodes(
  { sql, runtime, report }: Pick<SweepOptions, "sql" | "runtime" | "report">,
  swept: Set<string>,
): Promise<void> {
  for (const { id, lastSeenAt } of await runtime.silentNodes(silentMs)) {
    const seen = lastSeenAt.getTime();
    // One that was frozen may go on, and die later.
    const silence = `${id} ${seen}`;
    if (swept.has(silence)) continue;
    const [from, to] = [firstIdAt(seen - longestCallMs), firstIdAt(seen + silentMs)];
    const count = await interruptCalls(sql, sql`id between ${from} and ${to} and node = ${id}`);
    swept.add(silence);
    if (count > 0) report("tool_invocations_interrupted", { node: id, count });
  }
}

/**
 * Likewise of nodes that nothing is known of any more: all nodes were away for a day, or the runtime was resized.
 * @param backMs how far back calls are looked for
 */
export async function endOfForgottenNodes(
  { sql, now, report }: Omit<SweepOptions, "runtime" | "retentionDays">,
  backMs: number,
): Promise<void> {
  const count = await interruptCalls(
    sql,
    sql`id between ${firstIdAt(now() - backMs)} and ${firstIdAt(now() - longestCallMs)}
      and node is not null and not exists (select from runtime_nodes n where n.id = tool_invocations.node)`,
  );
  if (count > 0) report("tool_invocations_interrupted", { node: null, count });
}

/** Everything that is kept no longer. @returns how many records and results went */
export async function eraseOld({ sql, retentionDays, now, report }: Omit<SweepOptions, "runtime">): Promise<void> {
  const oldest = firstIdAt(now() - retentionDays * dayMs);
  const endedBefore = new Date(now() - resultKeptMs);
  const records = await inStatements(
    () => sql`
      delete from tool_invocations where id in (
        select id from tool_invocations where id < ${oldest} order by id limit ${atOnce} for update skip locked)`,
  );
  const results = await inStatements(
    () => sql`
      delete from tool_results where id in (
        select id from tool_results where ended_at < ${endedBefore} order by ended_at limit ${atOnce}
        for update skip locked)`,
  );
  if (records + results > 0) report("tool_invocations_erased", { records, results });
}

async function inStatements(erase: () => Promise<{ readonly count: number }>): Promise<number> {
  for (let erased = 0; ; ) {
    const { count } = await erase();
    erased += count;
    if (count < atOnce) return erased;
  }
}
