/** How records of tool calls are written: many at a time, as parts of a commit or by statements of their own. */

import { madeStorable } from "../../../actors/manifest/storable.ts";
import {
  type InvocationBegin,
  type InvocationChange,
  type InvocationFact,
  isEnded,
} from "../../../actors/tool/invocation.ts";
import type { Statement } from "../../runtime/port.ts";
import { jsonTexts } from "../../store/postgres/array-literal.ts";
import { addSelected } from "../usage/activities/port.ts";

/** A record that is new to the table. */
export interface NewInvocation extends InvocationChange {
  readonly id: string;
  readonly tenant: string;
  /** Unix ms. */
  readonly at: number;
  readonly begin: InvocationBegin;
  /** Null: a turn of an actor runs it, on whichever node. */
  readonly node: string | null;
  /** Equal refusals that share it. */
  readonly count?: number;
}

/** What policy says of a call whose record was begun before it was asked. */
export type InvocationPolicy = Pick<
  InvocationBegin,
  "tool_name" | "workflow_name" | "security_context" | "context_version" | "capability_index"
>;

/** What became of a call, or is known of it now. */
export interface ChangedInvocation extends Omit<InvocationChange, "outcome">, Partial<InvocationPolicy> {
  /** Absent: as it was. */
  readonly outcome?: InvocationChange["outcome"];
  readonly id: string;
  readonly tenant: string;
  /** Unix ms. */
  readonly at: number;
  /** JSON; kept for a day. */
  readonly result?: string;
}

const inserting = `
insert into tool_invocations
  (id, tenant, execution_id, iteration_number, agent_id, workflow_name, session_id, principal, entry, tool_name, arguments,
   arguments_sha256, edited_arguments, decision, code, violation_type, security_context, context_version,
   capability_index, approval_id, outcome, count, duration_ms, result_bytes, started_at, ended_at, request_id, node,
   result_log, result_seq)
select id, tenant, execution_id, iteration_number, agent_id, workflow_name, session_id, principal, entry, tool_name, arguments,
  arguments_sha256, edited_arguments, decision, code, violation_type, security_context, context_version,
  capability_index, approval_id, outcome, count, duration_ms, result_bytes, started_at, ended_at, request_id, node,
  result_log, result_seq
from json_to_recordset($1::text::json) as r (id uuid, tenant text, execution_id uuid, iteration_number int,
  agent_id text, workflow_name text, session_id uuid, principal text, entry text, tool_name text, arguments text, arguments_sha256 text,
  edited_arguments text, decision text, code text, violation_type text, security_context text, context_version int,
  capability_index int, approval_id uuid, outcome text, count int, duration_ms bigint, result_bytes bigint,
  started_at timestamptz, ended_at timestamptz, request_id text, node text, result_log text, result_seq bigint)
on conflict (id) do nothing`;

export function insertInvocations(rows: readonly NewInvocation[]): Statement {
  const values = rows.map(({ begin, at, count = 1, ...row }) => ({
    ...begin,
    ...row,
    count,
    started_at: new Date(at).toISOString(),
    ended_at: isEnded(row.outcome) ? new Date(at + (row.duration_ms ?? 0)).toISOString() : null,
  }));
  return { text: inserting, parameters: [jsonOf(values)] };
}

/**
 * JSON objects of a parameter, one a row: few, and read before the table that they are joined with, for the planner. It
 * takes an index of that table then, where it would read all of it for the hundred rows that it expects of
 * `json_to_recordset`.
 */
const eachOf = (parameter: string, columns: string): string => `(
  select r.* from (select one from unnest(${parameter}::text[]) as u (one) limit cardinality(${parameter}::text[])) each,
    lateral json_to_record(each.one::json) as r (${columns})
  offset 0) as r`;

/** A call that has ended stays as it ended: what comes late, or twice, changes nothing. */
const changing = `
update tool_invocations as known set
  outcome = coalesce(r.outcome, known.outcome),
  tool_name = coalesce(r.tool_name, known.tool_name),
  workflow_name = coalesce(r.workflow_name, known.workflow_name),
  security_context = coalesce(r.security_context, known.security_context),
  context_version = coalesce(r.context_version, known.context_version),
  capability_index = coalesce(r.capability_index, known.capability_index),
  decision = coalesce(r.decision, known.decision),
  code = coalesce(r.code, known.code),
  violation_type = coalesce(r.violation_type, known.violation_type),
  approval_id = coalesce(r.approval_id, known.approval_id),
  edited_arguments = coalesce(r.edited_arguments, known.edited_arguments),
  duration_ms = coalesce(r.duration_ms, known.duration_ms),
  result_bytes = coalesce(r.result_bytes, known.result_bytes),
  result_log = coalesce(r.result_log, known.result_log),
  result_seq = coalesce(r.result_seq, known.result_seq),
  -- What waits is no node's.
  node = case when r.outcome = 'waiting' then null else known.node end,
  ended_at = r.ended_at
from ${eachOf(
  "$1",
  `id uuid, tenant text, outcome text, ran boolean, tool_name text, workflow_name text, security_context text, context_version int, capability_index int, decision text, code text, violation_type text, approval_id uuid, edited_arguments text, duration_ms bigint, result_bytes bigint, result_log text, result_seq bigint, ended_at timestamptz`,
)}
where known.id = r.id and known.tenant = r.tenant and known.ended_at is null`;

const changesOf = (rows: readonly ChangedInvocation[]): readonly string[] => {
  const values = rows.map(({ at, result: _, ...row }) => ({
    ...row,
    ended_at: row.outcome !== undefined && isEnded(row.outcome) ? new Date(at).toISOString() : null,
  }));
  return [jsonTexts(values.map(jsonOf))];
};

/** As part of a commit, whose turns state what was used themselves. */
export const changeInvocations = (rows: readonly ChangedInvocation[]): Statement => ({
  text: changing,
  parameters: changesOf(rows),
});

/** What a call that has ended and has run counts as, of rows that a part named `changed` returns. */
export const usedCalls = addSelected(
  "tool_call",
  "select id, tenant, agent_id, workflow_name, tool_name from changed where ran and tool_name is not null",
);

const changingAlone = `
with changed as (${changing}
  returning known.id, known.tenant, known.agent_id, known.workflow_name, known.tool_name,
    coalesce(r.ran, false) and known.ended_at is not null as ran)
${usedCalls}`;

/** By itself: calls that end with it and have run count as used. */
export const changeAlone = (rows: readonly ChangedInvocation[]): Statement => ({
  text: changingAlone,
  parameters: changesOf(rows),
});

const baring = `
update tool_invocations as known set tool_name = null, arguments = null, code = null, outcome = null
from ${eachOf("$1", "id uuid, tenant text")}
where known.id = r.id and known.tenant = r.tenant`;

/** Records that turned out to be none: they keep their envelopes from coming twice, and tell no more. */
export const bareInvocations = (rows: readonly { readonly id: string; readonly tenant: string }[]): Statement => ({
  text: baring,
  parameters: [jsonTexts(rows.map(jsonOf))],
});

const counting = `
update tool_invocations as known set count = known.count + r.more
from ${eachOf("$1", "id uuid, more int")} where known.id = r.id`;

/** Further refusals that equal those on record. */
export const countInvocations = (rows: readonly { readonly id: string; readonly more: number }[]): Statement => ({
  text: counting,
  parameters: [jsonTexts(rows.map(jsonOf))],
});

const keeping = `
insert into tool_results (id, tenant, ended_at, result)
select id, tenant, ended_at, result
from json_to_recordset($1::text::json) as r (id uuid, tenant text, ended_at timestamptz, result text)
on conflict (id) do nothing`;

/** @returns null: none of them has a result */
export function keepResults(rows: readonly ChangedInvocation[]): Statement | null {
  const values = rows.flatMap(({ id, tenant, at, result }) =>
    result === undefined ? [] : [{ id, tenant, ended_at: new Date(at).toISOString(), result }],
  );
  return values.length === 0 ? null : { text: keeping, parameters: [jsonOf(values)] };
}

/** What one commit states of each call, as one change: a row that is inserted there cannot be updated there. */
export function gathered(
  facts: readonly { readonly tenant: string; readonly at: number; readonly fact: InvocationFact }[],
) {
  const begun = new Map<string, NewInvocation>();
  const changed = new Map<string, ChangedInvocation>();
  for (const { tenant, at, fact } of facts) {
    const { id, begin, change } = fact;
    const known = begun.get(id);
    if (begin !== undefined) begun.set(id, { ...change, id, tenant, at, begin, node: null });
    else if (known !== undefined) begun.set(id, { ...known, ...change });
    else changed.set(id, { ...changed.get(id), ...change, id, tenant, at });
  }
  return { begun: [...begun.values()], changed: [...changed.values()] };
}

/** Texts within may be a caller's or a model's: what the store would refuse in them must not fail the commit. */
const jsonOf = (value: object): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? madeStorable(part) : part));
