/**
 * What is due in approvals by time alone: the overdue are told so, in case Redis lost their timer, and what
 * was decided long ago is erased. Runs at boot and every thirty seconds on every node; each step may be repeated, and
 * by several nodes at once.
 */
import { approval } from "../../../actors/approval/approval.ts";
import type { Runtime } from "../../runtime/port.ts";
import type { ApprovalRecords, SweepRow } from "./records.ts";

export interface ApprovalSweepOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: ApprovalRecords;
  /** SVC_APPROVAL_RETENTION_DAYS */
  readonly retentionDays: number;
  /** Unix ms. */
  readonly now: () => number;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

const everyMs = 30_000;
/** Time that a timer has to do its work by itself. */
const graceMs = 2_000;
const dayMs = 24 * 3600 * 1000;
/** Approvals told per round; the next one takes more. */
const atOnce = 500;

/** @returns a function that ends it, after a round under way */
export function startApprovalSweep(options: ApprovalSweepOptions): () => Promise<void> {
  let under: Promise<void> | null = null;
  const round = () => {
    under ??= sweepApprovals(options)
      .catch((error: unknown) => options.report("approval_sweep_failed", { error: String(error) }))
      .finally(() => {
        under = null;
      });
  };
  round();
  const timer = setInterval(round, everyMs);
  return async () => {
    clearInterval(timer);
    await under;
  };
}

/** One round. @throws when a store is away; what was not done is done next time */
export async function sweepApprovals(options: ApprovalSweepOptions): Promise<void> {
  const { runtime, records, retentionDays, now, report } = options;
  const tellAll = (rows: readonly SweepRow[], type: "expire" | "erase") =>
    Promise.all(rows.map(({ approval_id, tenant }) => runtime.of(approval).at(tenant, approval_id).tell(type, {})));
  const overdue = await records.overdue(new Date(now() - graceMs), atOnce);
  await tellAll(overdue, "expire");
  if (overdue.length > 0) report("approvals_overdue", { count: overdue.length });
  const old = await records.decidedBefore(new Date(now() - retentionDays * dayMs), atOnce);
  await tellAll(old, "erase");
  if (old.length > 0) report("approvals_erased", { count: old.length });
}
