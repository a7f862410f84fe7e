/** Reading records of tool calls, tenant first. */
import type { Json } from "../../../actors/kernel/json.ts";
import { readTime } from "../../../actors/kernel/time.ts";
import { canonicalName } from "../../../actors/tool/catalog.ts";
import type { InvocationEntry, InvocationOutcome } from "../../../actors/tool/invocation.ts";
import { type List, listOf, type Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { InvocationFilter, InvocationRecord } from "./schema.ts";

/** A record as the store has it. */
export interface StoredInvocation {
  readonly record: InvocationRecord;
  /** Whose it is: the execution's id, or `<realm>/<sub>` of a caller without one; null: not known. */
  readonly principal: string | null;
  /** Null: nothing more is to come. */
  readonly ended_at: Date | null;
  /** Where the log of the execution has the result. */
  readonly in_log: { readonly log: string; readonly seq: number } | null;
}

const columns = `id, tenant, execution_id, iteration_number, agent_id, session_id, principal, entry, tool_name, arguments,
  arguments_sha256, edited_arguments, decision, code, violation_type, security_context, context_version,
  capability_index, approval_id, outcome, count, duration_ms::float8, result_bytes::float8, started_at, ended_at,
  request_id, result_log, result_seq::float8`;

export interface InvocationReader {
  /** Newest first. @throws Problem 422 for times that are none */
  list(tenant: string, filter: InvocationFilter, page: Page): Promise<List<"invocations", InvocationRecord>>;
  one(tenant: string, id: string): Promise<StoredInvocation | null>;
  /** Of a call outside of a loop, as JSON; null: none yet, or not any more. */
  resultOf(tenant: string, id: string): Promise<Json>;
}

export function createInvocationReader(sql: Sql): InvocationReader {
  return {
    async list(tenant, filter, page) {
      const conditions = conditionsOf(sql, tenant, filter);
      if (conditions === null) return listOf("invocations", [], page, () => []);
      const [from = ""] = page.after ?? [];
      if (page.after !== null) {
        // A cursor that was tampered with finds nothing.
        if (!isUuid(from)) return listOf("invocations", [], page, () => []);
        conditions.push(sql`id < ${from}`);
      }
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
      const rows = await sql<Row[]>`
        select ${sql.unsafe(columns)} from tool_invocations where ${where}
        order by id desc limit ${page.limit + 1} offset ${page.offset}`;
      return listOf("invocations", rows.map(shown), page, ({ id }) => [id]);
    },

    async one(tenant, id) {
      const [row] = await sql<Row[]>`
        select ${sql.unsafe(columns)} from tool_invocations
        where tenant = ${tenant} and id = ${id} and tool_name is not null`;
      if (row === undefined) return null;
      const { principal, ended_at, result_log, result_seq } = row;
      const in_log = result_log === null || result_seq === null ? null : { log: result_log, seq: result_seq };
      return { record: shown(row), principal, ended_at, in_log };
    },

    async resultOf(tenant, id) {
      const [row] = await sql<{ result: string }[]>`
        select result from tool_results where tenant = ${tenant} and id = ${id}`;
      return row === undefined ? null : (JSON.parse(row.result) as Json);
    },
  };
}

/** @returns null: nothing can fit */
function conditionsOf(sql: Sql, tenant: string, filter: InvocationFilter) {
  const conditions = [sql`tenant = ${tenant} and tool_name is not null`];
  const { execution_id, session_id, tool_name, decision, outcome, since, until } = filter;
  if (execution_id !== undefined) {
    if (!isUuid(execution_id)) return null;
    conditions.push(sql`execution_id = ${execution_id}`);
  }
  if (session_id !== undefined) {
    if (!isUuid(session_id)) return null;
    conditions.push(sql`session_id = ${session_id}`);
  }
  if (tool_name !== undefined) conditions.push(sql`tool_name in (${tool_name}, ${canonicalName(tool_name)})`);
  if (decision !== undefined) conditions.push(sql`decision = ${decision}`);
  if (outcome !== undefined) conditions.push(sql`outcome = ${outcome}`);
  if (since !== undefined) conditions.push(sql`started_at >= ${readTime("since", since)}`);
  if (until !== undefined) conditions.push(sql`started_at <= ${readTime("until", until)}`);
  return conditions;
}

interface Row {
  readonly id: string;
  readonly tenant: string;
  readonly execution_id: string | null;
  readonly iteration_number: number | null;
  readonly agent_id: string | null;
  readonly session_id: string | null;
  readonly principal: string | null;
  readonly entry: InvocationEntry;
  readonly tool_name: string;
  readonly arguments: string | null;
  readonly arguments_sha256: string | null;
  readonly edited_arguments: string | null;
  readonly decision: "allow" | "deny" | null;
  readonly code: string | null;
  readonly violation_type: string | null;
  readonly security_context: string | null;
  readonly context_version: number | null;
  readonly capability_index: number | null;
  readonly approval_id: string | null;
  readonly outcome: InvocationOutcome | null;
  readonly count: number;
  readonly duration_ms: number | null;
  readonly result_bytes: number | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly request_id: string | null;
  readonly result_log: string | null;
  readonly result_seq: number | null;
}

function shown(row: Row): InvocationRecord {
  const { tenant, principal: _, ended_at: _ended, result_log: _log, result_seq: _seq, ...rest } = row;
  const { id, execution_id, iteration_number, agent_id, session_id, entry, tool_name, ...more } = rest;
  return {
    id,
    tenant_id: tenant,
    execution_id,
    iteration_number,
    agent_id,
    session_id,
    entry,
    tool_name,
    ...more,
    arguments: readArguments(row.arguments),
    edited_arguments: readArguments(row.edited_arguments),
    decision: row.decision ?? "allow",
    outcome: row.outcome ?? "running",
    started_at: row.started_at.toISOString(),
  };
}

/** What was cut is no JSON any more, and stands as text. */
function readArguments(text: string | null): Json {
  if (text === null) return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return { trimmed: text };
  }
}
