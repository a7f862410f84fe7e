/** What waits to be processed is taken up by turns of tenants, so that one with thousands that wait delays no other. */
import type { Starter } from "../../../../../actors/identity/starter.ts";
import type { Channel, Receiver, Stimulus } from "../../../../../actors/stimulus/stimulus.ts";
import { texts } from "../../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../../store/postgres/pool.ts";
import { leaseMs } from "../acceptance.ts";

/** Bytes of the contents of one tenant that are taken up at once, about; a larger one is taken up alone. */
const tenantBytes = 1_048_576;

export interface TakesDue {
  /** Takes up what is due; no other node gets it before its lease ends. */
  readonly due: (limit: number, except?: readonly string[]) => Promise<Stimulus[]>;
  /** Whether the last look saw anything that waits, due or not, of any tenant. */
  readonly waits: () => boolean;
}

/**
 * Each call takes up some of several tenants, of each the oldest first, and goes on behind the last tenant with the next
 * call. An attempt of each is begun. What belongs to a tenant that is suspended or deleted is held.
 * `limit` is about how many are taken up, `except` names tenants whose stimuli are left alone.
 * @param now Unix milliseconds
 */
export function takesDue(sql: Sql, now: () => number): TakesDue {
  let after = "";
  let waits = true;
  const due: TakesDue["due"] = async (limit, except = []) => {
    let isFromStart = after === "";
    for (;;) {
      const { rows, tenants, last } = await takePage(sql, { limit, except, after, at: now() });
      const isEnd = tenants < limit;
      waits = tenants > 0 || after !== "";
      after = isEnd ? "" : last;
      if (rows.length > 0) return rows.map(drivenStimulus);
      if (isEnd && isFromStart) return [];
      isFromStart ||= isEnd;
    }
  };
  return { due, waits: () => waits };
}

interface PageOptions {
  readonly limit: number;
  readonly except: readonly string[];
  /** Tenants behind this one, at most `limit` of them. */
  readonly after: string;
  /** Unix milliseconds. */
  readonly at: number;
}

interface Page {
  readonly rows: readonly DrivenRow[];
  /** How many tenants have something that waits, due or not. */
  readonly tenants: number;
  readonly last: string;
}

async function takePage(sql: Sql, { limit, except, after, at }: PageOptions): Promise<Page> {
  // Tenants are found by leaping from one to the next over the index, so that what waits of them is not looked at.
  const found = await sql<(DrivenRow & { readonly tenants: number; readonly last: string | null })[]>`
    with recursive waiting as (
      (select tenant, 1 as place from stimuli where status = 'received' and tenant > ${after} order by tenant limit 1)
      union all
      select (select s.tenant from stimuli s where s.status = 'received' and s.tenant > w.tenant order by s.tenant limit 1),
        w.place + 1
      from waiting w where w.tenant is not null and w.place < ${limit}
    ), shares as (
      select count(tenant)::int as tenants, max(tenant) as last, count(tenant) filter (where tenant <> all(${texts(except)}::text[])) as served
      from waiting
    ), taken as (
      select f.tenant, f.id from waiting w cross join shares
      cross join lateral (
        select first.*, sum(size) over (order by due_at, id) - size as before
        from (
          select s.tenant, s.id, s.due_at, octet_length(s.content) as size from stimuli s
          where s.tenant = w.tenant and s.status = 'received' and s.due_at <= ${new Date(at)}
          order by s.due_at limit greatest(1, ${limit}::int / shares.served) for update skip locked) first) f
      where w.tenant <> all(${texts(except)}::text[])
        and not exists (select from tenants n where n.slug = w.tenant and n.status <> 'active')
        and f.before < ${tenantBytes}
    ), begun as (
      update stimuli s set due_at = ${new Date(at + leaseMs)}, attempts = s.attempts + 1
      from taken t where s.tenant = t.tenant and s.id = t.id
      returning s.tenant, s.id, s.source, s.channel, s.acknowledge, s.content, s.content_encoding, s.content_type,
        s.content_size, s.content_sha256, s.headers, s.headers_truncated, s.idempotency_key,
        encode(s.guard_digest, 'hex') as guard, s.source_id, s.override,
        s.run_id, s.router_execution_id, s.attempts, s.failures, s.replay_of, s.received_by_kind, s.received_by_sub,
        s.received_by_email, s.received_by_tier, s.received_by_realm, s.received_at, s.starter
    )
    select shares.tenants, shares.last, begun.* from shares left join begun on true`;
  const rows = found.filter(({ id }) => id !== null).sort((one, other) => (one.id < other.id ? -1 : 1));
  return { rows, tenants: found[0]?.tenants ?? 0, last: found[0]?.last ?? "" };
}

interface DrivenRow {
  readonly tenant: string;
  readonly id: string;
  readonly source: string;
  readonly channel: Channel;
  readonly acknowledge: Stimulus["acknowledge"];
  readonly content: string;
  readonly content_encoding: Stimulus["contentEncoding"];
  readonly content_type: string | null;
  readonly content_size: number;
  readonly content_sha256: string;
  readonly headers: string;
  readonly headers_truncated: boolean;
  readonly idempotency_key: string | null;
  readonly guard: string | null;
  readonly source_id: string | null;
  readonly override: Stimulus["override"];
  readonly run_id: string;
  readonly router_execution_id: string | null;
  readonly attempts: number;
  readonly failures: number;
  readonly replay_of: string | null;
  readonly received_by_kind: Receiver["kind"];
  readonly received_by_sub: string;
  readonly received_by_email: string | null;
  readonly received_by_tier: Receiver["tier"];
  readonly received_by_realm: string | null;
  readonly starter: Starter | null;
  readonly received_at: Date;
}

function drivenStimulus(row: DrivenRow): Stimulus {
  return {
    tenant: row.tenant,
    id: row.id,
    source: row.source,
    channel: row.channel,
    acknowledge: row.acknowledge,
    content: row.content,
    contentEncoding: row.content_encoding,
    contentType: row.content_type,
    contentSize: row.content_size,
    contentSha256: row.content_sha256,
    headers: JSON.parse(row.headers) as Record<string, string>,
    headersTruncated: row.headers_truncated,
    key: row.idempotency_key,
    guard: row.guard,
    sourceId: row.source_id,
    override: row.override,
    executionId: row.run_id,
    routerExecutionId: row.router_execution_id,
    attempts: row.attempts,
    failures: row.failures,
    replayOf: row.replay_of,
    receivedBy: {
      kind: row.received_by_kind,
      sub: row.received_by_sub,
      email: row.received_by_email,
      tier: row.received_by_tier,
      realm: row.received_by_realm,
    },
    startedBy: row.starter,
    receivedAt: row.received_at.getTime(),
  };
}
