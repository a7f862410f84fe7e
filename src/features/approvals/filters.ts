/** The filters of the two lists, as a query asks for them. */

import { notOneOf } from "../../../actors/kernel/nearest.ts";
import { invalidField } from "../../../actors/kernel/problem.ts";
import { readTime } from "../../../actors/kernel/time.ts";
import type { HistoryFilter, PendingFilter } from "./records.ts";
import type { HistoryQuery, PendingQuery } from "./schema.ts";

const decidedStatuses: readonly string[] = ["approved", "rejected", "responded", "timed_out", "withdrawn"];

export function readPendingFilter(query: PendingQuery): PendingFilter {
  if (query.descendants && query.execution_id === undefined) throw invalidField("descendants", "needs an execution_id");
  return {
    // Ids are kept in lower case.
    executionId: query.execution_id?.toLowerCase() ?? null,
    descendants: query.descendants,
    workflowName: query.workflow_name ?? null,
    kind: query.kind ?? null,
  };
}

/** @throws Problem 422 for a status or a time that is none */
export function readHistoryFilter(query: HistoryQuery): HistoryFilter {
  const statuses = query.status?.split(",").map((status) => status.trim()) ?? null;
  const unknown = statuses?.find((status) => !decidedStatuses.includes(status));
  if (unknown !== undefined) throw invalidField("status", notOneOf(unknown, decidedStatuses));
  return {
    statuses,
    executionId: query.execution_id?.toLowerCase() ?? null,
    workflowName: query.workflow_name ?? null,
    decidedBy: query.decided_by ?? null,
    from: query.from === undefined ? null : readTime("from", query.from),
    to: query.to === undefined ? null : readTime("to", query.to),
  };
}
