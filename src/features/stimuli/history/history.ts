/** What can be done with stimuli that were taken in: looking at them, and giving up those that came to nothing. */

import { notOneOf } from "../../../../actors/kernel/nearest.ts";
import { invalidAt, Problem } from "../../../../actors/kernel/problem.ts";
import { readTime } from "../../../../actors/kernel/time.ts";
import { isStorable, unusableText } from "../../../../actors/manifest/storable.ts";
import { type StimulusRecord, stimulusElement, stimulusRecord } from "../../../../actors/stimulus/record.ts";
import { discardOf, StimulusStatus } from "../../../../actors/stimulus/statuses.ts";
import { listOf, type Page } from "../../../http/paging.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Audit } from "../../audit/port.ts";
import type { HistoryRecords, StimulusFilter } from "./records.ts";
import { type Actor, stimulusNotFound } from "./replay.ts";
import type { StimuliQuery } from "./schema.ts";

export interface HistoryOptions {
  readonly sql: Sql;
  readonly records: HistoryRecords;
  readonly audit: Audit;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export type History = ReturnType<typeof createHistory>;

export function createHistory({ sql, records, audit, report, now }: HistoryOptions) {
  /** @throws Problem 404 `stimulus_not_found` */
  async function record(tenant: string, id: string): Promise<StimulusRecord> {
    const row = await records.find(tenant, id);
    if (row === null) throw stimulusNotFound();
    return stimulusRecord(row);
  }

  async function list(tenant: string, filter: StimulusFilter, order: "newest" | "oldest", page: Page) {
    const rows = await records.list(tenant, filter, order, page);
    return listOf("stimuli", rows.map(stimulusElement), page, ({ id }) => [id]);
  }

  return {
    record,

    /** Newest first. @throws Problem 422 */
    list: (tenant: string, query: StimuliQuery, page: Page) => list(tenant, readFilter(query), "newest", page),

    /** Oldest first. @throws Problem 422 */
    deadLetters: (tenant: string, query: Omit<StimuliQuery, "dead_letter">, page: Page) =>
      list(tenant, { ...readFilter(query), deadLetter: true }, "oldest", page),

    /** Repeatable. @throws Problem 404 `stimulus_not_found`, 409 `not_a_dead_letter` */
    async discard({ tenant, identity, by }: Actor, id: string, reason: string | null): Promise<StimulusRecord> {
      const isNews = await sql.begin(async (tx: Transaction) => {
        const row = await records.hold(tx, tenant, id);
        if (row === null) throw stimulusNotFound();
        const outcome = discardOf({ status: row.status, deadLetter: row.dead_letter });
        if (outcome === "not_a_dead_letter") {
          throw new Problem("not_a_dead_letter", "This stimulus is not a dead letter", { status: row.status });
        }
        if (outcome === "nothing") return false;
        const discarding = { at: new Date(now()), by: { kind: identity.kind, sub: identity.userId }, reason };
        await records.discard(tx, tenant, id, discarding);
        await audit.append(tx, by, {
          tenant,
          action: "stimulus.discarded",
          target: { type: "stimulus", id },
          details: { source: row.source, status: row.status, reason },
        });
        return true;
      });
      if (isNews) report("stimulus_discarded", { tenant, stimulus_id: id });
      return record(tenant, id);
    },
  };
}

const statuses: readonly string[] = StimulusStatus.anyOf.map((one) => one.const);

/** @throws Problem 422 */
function readFilter(query: StimuliQuery): StimulusFilter {
  const wanted = query.status?.split(",").map((status) => status.trim()) ?? null;
  const unknown = wanted?.find((status) => !statuses.includes(status));
  if (unknown !== undefined) throw invalidAt("validation_failed", "status", notOneOf(unknown, statuses));
  return {
    source: query.source?.toLowerCase() ?? null,
    statuses: wanted,
    channel: query.channel ?? null,
    deadLetter: query.dead_letter ?? null,
    workflowExecutionId: query.workflow_execution_id?.toLowerCase() ?? null,
    from: query.from === undefined ? null : readTime("from", query.from),
    to: query.to === undefined ? null : readTime("to", query.to),
  };
}

/** @throws Problem 422 */
export function readReason(reason: string | undefined): string | null {
  if (reason !== undefined && !isStorable(reason)) throw invalidAt("validation_failed", "reason", unusableText);
  return reason ?? null;
}
