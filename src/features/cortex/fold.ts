/**
 * Folds lessons into patterns, each exactly once: a lesson is deleted in the transaction that counts it. One node folds
 * at a time, in the order in which lessons were written, so that what an execution lost is counted before it passes.
 */
import { firstFencedBlock } from "../../../actors/cortex/fence.ts";
import { signatureOf } from "../../../actors/cortex/signature.ts";
import { sha256Hex } from "../../lib/digest.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

export interface FoldOptions {
  readonly sql: Sql;
  readonly newId: () => string;
  /** SVC_CORTEX_MAX_PATTERNS */
  readonly maxPatterns: number;
}

/** Lessons of one transaction; each has at most 8 KiB of text. */
const atOnce = 200;

interface Row {
  readonly tenant: string;
  readonly at: Date;
  readonly execution_id: string;
  readonly kind: "lost" | "passed";
  readonly error_type: string | null;
  readonly content: string;
  readonly is_last: boolean;
}

/** @returns whether there may be more; false as well while another node folds */
export async function foldLessons({ sql, newId, maxPatterns }: FoldOptions): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [lock] = await tx<{ is_ours: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' cortex', 0)) as is_ours`;
    if (lock?.is_ours !== true) return false;
    const rows = await tx<(Row & { readonly seq: string })[]>`
      delete from cortex_lessons where seq in (select seq from cortex_lessons order by seq limit ${atOnce})
      returning seq, tenant, at, execution_id, kind, error_type, content, is_last`;
    const made = new Set<string>();
    for (const row of rows.toSorted((one, other) => Number(BigInt(one.seq) - BigInt(other.seq)))) {
      if (row.kind === "passed") await countSuccess(tx, row);
      else if (await countLoss(tx, row, newId())) made.add(row.tenant);
    }
    for (const tenant of made) await keepWithin(tx, tenant, maxPatterns);
    return rows.length === atOnce;
  });
}

/** @returns whether the pattern is new */
async function countLoss(tx: Transaction, row: Row, id: string): Promise<boolean> {
  const { tenant, at, execution_id, content } = row;
  const type = row.error_type ?? "";
  const signature = signatureOf(type, content);
  const hash = sha256Hex(signature);
  const first = await tx`
    insert into cortex_losses (tenant, execution_id, error_signature_hash, at)
    values (${tenant}, ${execution_id}, ${hash}, ${at}) on conflict do nothing returning at`;
  const [pattern] = await tx<{ is_new: boolean }[]>`
    insert into cortex_patterns as known (tenant, error_signature_hash, id, error_signature, error_type, error_message,
      frequency, total_count, created_at, last_used_at)
    values (${tenant}, ${hash}, ${id}, ${signature}, ${type}, ${content}, 1, 1, ${at}, ${at})
    on conflict (tenant, error_signature_hash) do update set
      error_message = excluded.error_message, frequency = known.frequency + 1,
      total_count = known.total_count + ${first.length},
      last_used_at = greatest(known.last_used_at, excluded.last_used_at)
    returning xmax = 0 as is_new`;
  if (row.is_last) await tx`delete from cortex_losses where tenant = ${tenant} and execution_id = ${execution_id}`;
  return pattern?.is_new === true;
}

async function countSuccess(tx: Transaction, { tenant, at, execution_id, content }: Row): Promise<void> {
  // An answer without words solves, but says nothing that would be worth more than an earlier one.
  const solution = content.trim() === "" ? null : content;
  const code = solution === null ? null : firstFencedBlock(solution);
  await tx`
    with lost as (
      delete from cortex_losses where tenant = ${tenant} and execution_id = ${execution_id}
      returning error_signature_hash)
    update cortex_patterns as pattern set
      success_count = success_count + 1,
      solution = coalesce(${solution}, solution, ''),
      solution_code = case when ${solution}::text is null then solution_code else ${code} end,
      last_used_at = greatest(last_used_at, ${at})
    from lost where pattern.tenant = ${tenant} and pattern.error_signature_hash = lost.error_signature_hash`;
}

/** Those that were not met for the longest time go. */
async function keepWithin(tx: Transaction, tenant: string, most: number): Promise<void> {
  await tx`
    delete from cortex_patterns where tenant = ${tenant} and error_signature_hash in (
      select error_signature_hash from cortex_patterns where tenant = ${tenant}
      order by last_used_at desc offset ${most})`;
}
