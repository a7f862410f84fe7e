/**
 * What is due in approvals by time alone: the overdue are told so, should neither timer nor job have done it, and what
 * was decided long ago is erased. Runs at boot and every thirty seconds on every node; each step may be repeated, and
 * by several nodes at once.
 */
import { approval } from "../../../../actors/approval/approval.ts";
import { inPortions, type Portions } from "../../../lib/portions.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { ApprovalRecords, SweepRow } from "../records.ts";

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
/** Approvals told at once, and the time that their owners have for them: 2,000 in a second on each node. */
const atOnce = 64;
const pauseMs = 32;

/** @returns a function that ends it, after a round under way */
export function startApprovalSweep(options: ApprovalSweepOptions): () => Promise<void> {
  let under: Promise<void> | null = null;
  let isStopping = false;
  const round = () => {
    under ??= sweepApprovals(options, () => isStopping)
      .catch((error: unknown) => options.report("approval_sweep_failed", { error: String(error) }))
      .finally(() => {
        under = null;
      });
  };
  round();
  const timer = setInterval(round, everyMs);
  return async () => {
    clearInterval(timer);
    isStopping = true;
    await under;
  };
}

/** One round. @throws when a store is away; what was not done is done next time */
export async function sweepApprovals(options: ApprovalSweepOptions, isStopping = () => false): Promise<void> {
  const { runtime, records, retentionDays, now, report } = options;
  const approvals = runtime.of(approval);
  const tellAll = (find: Portions<SweepRow>["find"], type: "expire" | "erase") =>
    inPortions<SweepRow>(
      {
        find,
        isMine: ({ approval_id }) => approvals.isHere(approval_id),
        work: ({ approval_id, tenant }) => approvals.at(tenant, approval_id).tell(type, {}),
        atOnce,
        pauseMs,
      },
      isStopping,
    );
  const due = new Date(now() - graceMs);
  const overdue = await tellAll((after, limit) => records.overdue(due, after, limit), "expire");
  if (overdue > 0) report("approvals_overdue", { count: overdue });
  const before = new Date(now() - retentionDays * dayMs);
  const old = await tellAll((after, limit) => records.decidedBefore(before, after, limit), "erase");
  if (old > 0) report("approvals_erased", { count: old });
}

/** Approvals of a purged tenant asked about in one round; what is left is for the next one. */
const mostErased = 1_000;

/** What a purged tenant was asked goes, what is still open too. Repeatable. @returns whether nothing was left */
export async function eraseApprovals(
  { runtime, records }: Pick<ApprovalSweepOptions, "runtime" | "records">,
  tenant: string,
): Promise<boolean> {
  const approvals = runtime.of(approval);
  const ids = await records.ofTenant(tenant, mostErased);
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = ids.slice(from, from + atOnce).map((id) => approvals.at(tenant, id));
    await Promise.all(some.map((one) => one.tellCommitted("withdraw", { reason: "tenant_deleted" })));
    await Promise.all(some.map((one) => one.tellCommitted("erase", {})));
  }
  return ids.length === 0;
}
