/**
 * The last check of an envelope, and its record: one statement for all that arrive together. It locks the sessions, looks
 * whether they and their executions are still there, takes tool calls out of their bursts, and inserts one row for each
 * envelope, which is unique: what any node, before or after a restart, has seen once is told from what is new.
 */
import { inBatches } from "../../../store/batches.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { attemptsBurst, attemptsPerSecond } from "../sessions/records.ts";

/** A tool call as its record shows it. */
export interface CallOnRecord {
  readonly tool_name: string;
  /** As they were received, as far as they are kept. */
  readonly arguments: string;
  readonly arguments_sha256: string;
}

export interface AskedAdmission {
  /** Of the record: a UUIDv7. */
  readonly id: string;
  readonly sessionId: string;
  readonly signature: Uint8Array;
  /** Null: the envelope asks for no tool. */
  readonly call: CallOnRecord | null;
  readonly requestId: string;
}

export type Admission =
  | "admitted"
  | "session_inactive"
  | "token_expired"
  | "execution_not_running"
  | "rate_limited"
  | "replay_detected";

export type Admit = (asked: AskedAdmission) => Promise<Admission>;

interface Row {
  readonly ord: number;
  readonly standing: "active" | "session_inactive" | "token_expired" | "execution_not_running" | null;
  readonly within: boolean;
  readonly fresh: boolean;
}

const statement = `
with asked as materialized (
  select * from json_to_recordset($1::text::json) as r (ord int, id uuid, session_id uuid, signature text,
    tool_name text, arguments text, arguments_sha256 text, request_id text)),
held as materialized (
  select s.id, s.tenant, s.execution_id, s.agent_id, s.detached, s.principal, s.security_context, s.iteration_number,
    s.status, s.expires_at, s.attempts_left, s.attempts_at
  from seal_sessions s where s.id in (select session_id from asked) order by s.id for no key update),
standing as materialized (
  select h.*,
    least(${attemptsBurst}, h.attempts_left + ${attemptsPerSecond}
      * greatest(0, extract(epoch from clock_timestamp() - h.attempts_at)::float8)) as available,
    case when h.status <> 'active' then 'session_inactive'
      when h.expires_at <= clock_timestamp() then 'token_expired'
      when not h.detached and e.status is distinct from 'running' then 'execution_not_running'
      else 'active' end as standing
  from held h left join executions e on not h.detached and e.execution_id = h.execution_id and e.tenant = h.tenant),
judged as materialized (
  select a.*, s.standing, s.available, s.tenant, s.execution_id, s.agent_id, s.detached, s.principal, s.security_context,
    s.iteration_number, a.tool_name is null or
      count(a.tool_name) over (partition by a.session_id order by a.ord) <= floor(s.available) as within
  from asked a left join standing s on s.id = a.session_id),
taken as (
  insert into tool_invocations (id, tenant, execution_id, iteration_number, agent_id, session_id, principal, entry,
    tool_name, arguments, arguments_sha256, decision, security_context, outcome, started_at, request_id, node, signature)
  select id, tenant, case when not detached then execution_id end, iteration_number,
    case when not detached then agent_id::text end, session_id, principal, 'seal', tool_name, arguments,
    arguments_sha256, case when tool_name is not null then 'allow' end, security_context,
    case when tool_name is not null then 'running' end, clock_timestamp(), request_id, $2, decode(signature, 'base64')
  from judged where standing = 'active' and within order by session_id, ord
  on conflict (session_id, signature) where signature is not null do nothing
  returning id, session_id),
counted as (
  update seal_sessions s set last_used_at = clock_timestamp(), attempts_at = clock_timestamp(),
    attempts_left = t.available - t.tries, calls = s.calls + (select count(*) from taken where session_id = t.session_id)
  from (
    select session_id, available, count(tool_name) filter (where within) as tries from judged
    where standing = 'active' group by session_id, available) t
  where s.id = t.session_id)
select j.ord, j.standing, j.within, t.id is not null as fresh from judged j left join taken t on t.id = j.id`;

const limits = { rows: 128, statements: 2 };

/** @param node this node's id, which runs the calls */
export function createAdmission(sql: Sql, node: string): Admit {
  return inBatches(async (asked: readonly AskedAdmission[]): Promise<readonly Admission[]> => {
    const values = asked.map(({ id, sessionId, signature, call, requestId }, ord) => ({
      ...call,
      ...{ ord, id, session_id: sessionId, request_id: requestId },
      signature: Buffer.from(signature).toString("base64"),
    }));
    const rows = await sql.unsafe<Row[]>(statement, [JSON.stringify(values), node], { prepare: true });
    const byOrd = new Map(rows.map((row) => [row.ord, row]));
    return asked.map((_, ord) => admissionOf(byOrd.get(ord)));
  }, limits);
}

function admissionOf(row: Row | undefined): Admission {
  const standing = row?.standing ?? "session_inactive";
  if (standing !== "active") return standing;
  if (row?.within !== true) return "rate_limited";
  return row.fresh ? "admitted" : "replay_detected";
}
