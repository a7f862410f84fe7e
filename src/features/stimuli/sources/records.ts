/** The SQL of the table `stimulus_sources`, tenant first. */
import type { Starter } from "../../../../actors/identity/starter.ts";
import type { Acknowledge } from "../../../../actors/stimulus/stimulus.ts";
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { IgnoredMessage, PresetName } from "./port.ts";
import type { SourceSettings } from "./settings.ts";

/** Candidates of a bare URL per source: the oldest sources of its name. */
const bareUrlSources = 20;

export interface SourceRow {
  readonly id: string;
  readonly tenant: string;
  readonly source: string;
  readonly workflow: string | null;
  readonly workflow_version: string | null;
  readonly enabled: boolean;
  readonly preset: PresetName;
  readonly tolerance_seconds: number;
  readonly replay_guard: boolean | null;
  readonly require_timestamp: boolean;
  readonly acknowledge: Acknowledge;
  readonly idempotency_fallback: "none" | "body_sha256";
  readonly forward_headers: string[];
  readonly events: string[];
  readonly match: string | null;
  readonly rate_per_minute: number | null;
  readonly description: string;
  readonly secret_version: number;
  /** Encrypted. */
  readonly secret: string | null;
  readonly previous_secret: string | null;
  readonly previous_expires_at: Date | null;
  readonly revision: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly created_by: { readonly kind: string; readonly sub: string };
  /** The same with the permissions held then; null: a former version made it, or the configuration file. */
  readonly creator: Starter | null;
}

/** With its rank among the sources of its name, and when it brought something last. */
export interface ShownRow extends SourceRow {
  readonly last_received_at: Date | null;
  /** A whole number. */
  readonly ignored_count: string;
  readonly last_ignored_at: Date | null;
  readonly last_ignored_reason: string | null;
  readonly last_ignored_event: string | null;
  /** Whether it is one of the oldest of its name, in any tenant. */
  readonly is_among_oldest: boolean;
}

/** The secrets of a row as they are stored. */
export type StoredSecrets = Pick<SourceRow, "secret_version" | "secret" | "previous_secret" | "previous_expires_at">;

export interface NewRow {
  readonly id: string;
  readonly tenant: string;
  readonly settings: SourceSettings;
  readonly secrets: StoredSecrets;
  readonly createdBy: { readonly kind: string; readonly sub: string };
  /** Null: the configuration file made it. */
  readonly creator: Starter | null;
  readonly at: Date;
}

/** A change of the row that was read at this revision. */
export interface RowChange {
  readonly tenant: string;
  readonly id: string;
  readonly revision: number;
  readonly settings: SourceSettings;
  /** Null: they stay as they are. */
  readonly secrets: StoredSecrets | null;
  readonly at: Date;
}

/** Messages that a source passed over, and the last one of them. */
export interface IgnoredMark extends IgnoredMessage {
  readonly tenant: string;
  readonly id: string;
  readonly count: number;
  readonly at: Date;
}

export type SourceRecords = ReturnType<typeof sourceRecords>;

export function sourceRecords(sql: Sql) {
  const columns = sql`r.id, r.tenant, r.source, r.workflow, r.workflow_version, r.enabled, r.preset,
    r.tolerance_seconds, r.replay_guard, r.require_timestamp, r.acknowledge, r.idempotency_fallback, r.forward_headers, r.events, r.match, r.rate_per_minute, r.description, r.secret_version,
    r.secret, r.previous_secret, r.previous_expires_at, r.revision, r.created_at, r.updated_at,
    r.created_by, r.creator`;
  const ignored = sql`r.ignored_count, r.last_ignored_at, r.last_ignored_reason, r.last_ignored_event`;
  const rank = sql`(select count(*) < ${bareUrlSources} from (select from stimulus_sources o
    where o.source = r.source and (o.created_at, o.id) < (r.created_at, r.id) limit ${bareUrlSources}) as older)
    as is_among_oldest`;

  // What is noted in memory is lost with the node; the stimuli themselves are not. Ids begin with the time.
  const lastReceived = sql`greatest(r.last_received_at, (select s.received_at from stimuli s
    where s.tenant = r.tenant and s.source = r.source and s.source_id = r.id and s.channel <> 'replay'
      and s.id > (lpad(to_hex(floor(extract(epoch from r.created_at) * 1000)::bigint - 60000), 12, '0')
        || repeat('0', 20))::uuid
    order by s.id desc limit 1)) as last_received_at`;

  return {
    async find(tenant: string, id: string): Promise<ShownRow | null> {
      const [row] = await sql<ShownRow[]>`
        select ${columns}, ${ignored}, ${lastReceived}, ${rank} from stimulus_sources r where r.tenant = ${tenant} and r.id = ${id}`;
      return row ?? null;
    },

    /** By source; one row more than `limit` when there are more. */
    list(
      tenant: string,
      source: string | null,
      { limit, offset, after }: { limit: number; offset: number; after: readonly string[] | null },
    ) {
      return sql<ShownRow[]>`
        select ${columns}, ${ignored}, ${lastReceived}, ${rank} from stimulus_sources r
        where r.tenant = ${tenant} ${source === null ? sql`` : sql`and r.source = ${source}`}
          ${after === null ? sql`` : sql`and r.source collate "C" > ${after[0] ?? ""}`}
        order by r.source collate "C" limit ${limit + 1} offset ${offset}`;
    },

    /** Holds the tenant's number of sources still until the transaction ends. @returns how many there are */
    async hold(tx: Transaction, tenant: string): Promise<number> {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`stimulus_sources ${tenant}`}, 0))`;
      const [row] = await tx<{ count: number }[]>`
        select count(*)::int as count from stimulus_sources where tenant = ${tenant}`;
      return row?.count ?? 0;
    },

    async idOf(tx: Transaction, tenant: string, source: string): Promise<string | null> {
      const [row] = await tx<{ id: string }[]>`
        select id from stimulus_sources where tenant = ${tenant} and source = ${source}`;
      return row?.id ?? null;
    },

    async insert(tx: Transaction, { id, tenant, settings, secrets, createdBy, creator, at }: NewRow): Promise<void> {
      await tx`
        insert into stimulus_sources (id, tenant, source, workflow, workflow_version, enabled, preset, tolerance_seconds,
          replay_guard, require_timestamp, acknowledge, idempotency_fallback, forward_headers, events, match, rate_per_minute, description, secret_version, secret, previous_secret,
          previous_expires_at, created_at, updated_at, created_by, creator)
        values (${id}, ${tenant}, ${settings.source}, ${settings.workflow}, ${settings.workflowVersion},
          ${settings.enabled}, ${settings.preset}, ${settings.toleranceSeconds}, ${settings.replayGuard},
          ${settings.requireTimestamp}, ${settings.acknowledge},
          ${settings.idempotencyFallback}, ${texts(settings.forwardHeaders)}::text[], ${texts(settings.events)}::text[], ${settings.match}, ${settings.ratePerMinute}, ${settings.description},
          ${secrets.secret_version}, ${secrets.secret}, ${secrets.previous_secret}, ${secrets.previous_expires_at},
          ${at}, ${at}, ${JSON.stringify(createdBy)}::text::jsonb, ${JSON.stringify(creator)}::text::jsonb)`;
    },

    /** @returns whether the row was still as it had been read */
    async update(tx: Transaction, { tenant, id, revision, settings, secrets, at }: RowChange): Promise<boolean> {
      const changed =
        secrets === null
          ? tx``
          : tx`, secret_version = ${secrets.secret_version},
        secret = ${secrets.secret}, previous_secret = ${secrets.previous_secret},
        previous_expires_at = ${secrets.previous_expires_at}`;
      const { count } = await tx`
        update stimulus_sources set workflow = ${settings.workflow}, workflow_version = ${settings.workflowVersion},
          enabled = ${settings.enabled}, preset = ${settings.preset}, tolerance_seconds = ${settings.toleranceSeconds},
          replay_guard = ${settings.replayGuard}, require_timestamp = ${settings.requireTimestamp},
          acknowledge = ${settings.acknowledge}, idempotency_fallback = ${settings.idempotencyFallback},
          forward_headers = ${texts(settings.forwardHeaders)}::text[], events = ${texts(settings.events)}::text[],
          match = ${settings.match}, rate_per_minute = ${settings.ratePerMinute},
          description = ${settings.description}, updated_at = ${at}, revision = revision + 1 ${changed}
        where tenant = ${tenant} and id = ${id} and revision = ${revision}`;
      return count > 0;
    },

    /** @returns its source; null when there is no such row */
    async remove(tx: Transaction, tenant: string, id: string): Promise<string | null> {
      const [row] = await tx<{ source: string }[]>`
        delete from stimulus_sources where tenant = ${tenant} and id = ${id} returning source`;
      return row?.source ?? null;
    },

    /** The oldest rows of each source, in any tenant; by source. */
    async oldest(sources: readonly string[]): Promise<ReadonlyMap<string, readonly SourceRow[]>> {
      const rows = await sql<SourceRow[]>`
        select ${columns} from unnest(${texts(sources)}::text[]) as asked (source), lateral
          (select * from stimulus_sources s where s.source = asked.source
            order by s.created_at, s.id limit ${bareUrlSources}) as r
        order by r.created_at, r.id`;
      return Map.groupBy(rows, ({ source }) => source);
    },

    /** The rows of these tenants' sources. */
    ofTenants(keys: readonly { readonly tenant: string; readonly source: string }[]): Promise<readonly SourceRow[]> {
      return sql<SourceRow[]>`
        select ${columns} from unnest(${texts(keys.map(({ tenant }) => tenant))}::text[],
          ${texts(keys.map(({ source }) => source))}::text[]) as asked (tenant, source)
        join stimulus_sources r on r.tenant = asked.tenant and r.source = asked.source`;
    },

    /** Rows by id and source, in any tenant: what their own URLs name. */
    ofUrls(keys: readonly { readonly id: string; readonly source: string }[]): Promise<readonly SourceRow[]> {
      return sql<SourceRow[]>`
        select ${columns} from unnest(${texts(keys.map(({ id }) => id))}::uuid[],
          ${texts(keys.map(({ source }) => source))}::text[]) as asked (id, source)
        join stimulus_sources r on r.id = asked.id and r.source = asked.source`;
    },

    /** Adds messages that sources passed over, and tells of the last one of each. */
    async ignored(marks: readonly IgnoredMark[]): Promise<void> {
      await sql`
        with asked as (select * from unnest(${texts(marks.map(({ tenant }) => tenant))}::text[],
            ${texts(marks.map(({ id }) => id))}::uuid[], ${numbers(marks.map(({ count }) => count))}::bigint[],
            ${texts(marks.map(({ at }) => at.toISOString()))}::timestamptz[],
            ${texts(marks.map(({ reason }) => reason))}::text[],
            ${texts(marks.map(({ event }) => event ?? ""))}::text[]) as u (tenant, id, count, at, reason, event)),
          held as materialized (select r.id, r.tenant from stimulus_sources r join asked using (tenant, id)
            order by r.id for update of r)
        update stimulus_sources r set ignored_count = r.ignored_count + asked.count,
          last_ignored_at = greatest(r.last_ignored_at, asked.at),
          last_ignored_reason = case when (asked.at < r.last_ignored_at) is not true then asked.reason
            else r.last_ignored_reason end,
          last_ignored_event = case when (asked.at < r.last_ignored_at) is not true then nullif(asked.event, '')
            else r.last_ignored_event end
        from held join asked using (tenant, id) where r.tenant = held.tenant and r.id = held.id`;
    },

    /** Notes when deliveries came in last; never earlier than what is noted already. */
    async received(
      marks: readonly { readonly tenant: string; readonly id: string; readonly at: Date }[],
    ): Promise<void> {
      // Rows are held in one order, so that two nodes cannot wait for each other.
      await sql`
        with asked as (select * from unnest(${texts(marks.map(({ tenant }) => tenant))}::text[],
            ${texts(marks.map(({ id }) => id))}::uuid[],
            ${texts(marks.map(({ at }) => at.toISOString()))}::timestamptz[]) as u (tenant, id, at)),
          held as materialized (select r.id, r.tenant from stimulus_sources r join asked using (tenant, id)
            order by r.id for update of r)
        update stimulus_sources r set last_received_at = greatest(r.last_received_at, asked.at)
        from held join asked using (tenant, id) where r.tenant = held.tenant and r.id = held.id`;
    },
  };
}
