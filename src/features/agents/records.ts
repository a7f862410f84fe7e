/** The SQL of agents, tenant first. Readers see their own tenant's agents and the global ones. */
import type { Fragment, PendingQuery, Row } from "postgres";
import type { AgentSpec, Metadata } from "../../../actors/agent/manifest/spec.ts";
import { completeSpec } from "../../../actors/agent/manifest/spec.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import { gather } from "../../store/gather.ts";
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { AgentFilter, AgentScope, AgentStatus } from "./schema.ts";

/** An agent with one of its versions, as far as lists need it. */
export interface AgentRow {
  readonly agent_id: string;
  readonly tenant: string;
  readonly name: string;
  readonly scope: AgentScope;
  readonly status: AgentStatus;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly version_id: string;
  readonly version: string;
  readonly revision: number;
  readonly agent_type: string;
  readonly metadata: Metadata;
  readonly input_schema: Json;
  readonly deployed_at: Date;
}

export interface AgentDocumentRow extends AgentRow {
  readonly document: Json;
  readonly manifest_yaml: string;
}

export interface VersionRow {
  readonly version_id: string;
  readonly agent_id: string;
  /** The agent's owner. */
  readonly tenant: string;
  readonly name: string;
  readonly version: string;
  readonly revision: number;
  readonly current: boolean;
  readonly deployed_at: Date;
  readonly deployed_by: string;
  readonly document: Json;
  readonly manifest_yaml: string;
}

/** As much of an agent as a start needs to know. */
export type RunnableRow = Pick<
  AgentRow,
  "agent_id" | "tenant" | "scope" | "name" | "status" | "version_id" | "version" | "revision" | "deployed_at"
> & {
  readonly deployed_by: string;
  readonly deployed_realm: string | null;
  readonly context_ceilings: readonly string[] | null;
};

interface Runnable {
  readonly tenant: string;
  readonly agentId: string;
}

const runnableName = ({ tenant, agentId }: Runnable): string => `${tenant} ${agentId.toLowerCase()}`;

/** What callers may run by name, as lists of tools show it. */
export interface OfferedRow {
  readonly name: string;
  readonly description: string | null;
  readonly input_schema: Json;
}

/** Which of them: one name, or those behind one; all without either. */
export interface Offered {
  readonly name?: string;
  readonly after?: string;
}

/** How an agent is named in a request. */
export type AgentKey = { readonly id: string } | { readonly name: string };

/** Of the manifests of one page of versions: all of them are in memory at once, and sent in one piece. */
const maxPageBytes = 4 * 1024 * 1024;

export function agentRecords(sql: Sql) {
  const visible = (tenant: string): Fragment =>
    sql`a.deleted_at is null and (a.tenant = ${tenant} or a.scope = 'global')`;
  const columns = sql`
    a.agent_id, a.tenant, a.name, a.scope, a.status, a.created_at, a.updated_at,
    v.version_id, v.version, v.revision, v.agent_type, v.metadata, v.input_schema, v.deployed_at`;

  const runnable = sql`
    a.agent_id, a.tenant, a.scope, a.name, a.status, v.version_id, v.version, v.revision,
    v.deployed_at, v.deployed_by, v.deployed_realm, v.context_ceilings`;

  /** The current version, or the latest revision of the one named. */
  const versionJoin = (version: string | null): Fragment =>
    version === null
      ? sql`join agent_versions v on v.version_id = a.current_version_id`
      : sql`join lateral (
          select * from agent_versions w where w.agent_id = a.agent_id and w.version = ${version}
          order by w.revision desc limit 1) v on true`;

  const named = (key: AgentKey): Fragment => ("id" in key ? sql`a.agent_id = ${key.id}` : sql`a.name = ${key.name}`);

  async function first<T extends Row>(query: PendingQuery<T[]>): Promise<T | null> {
    return (await query)[0] ?? null;
  }

  /** Starts come in bursts: those of one moment share a query. With its limit it is planned once. */
  const findCurrent = gather<Runnable, RunnableRow>(async (keys) => {
    const tenants = texts(keys.map((key) => key.tenant));
    const rows = await sql<(RunnableRow & { asker: string })[]>`
        select u.tenant as asker, ${runnable}
        from (
          select * from unnest(${tenants}::text[], ${texts(keys.map((key) => key.agentId))}::uuid[]) as u (tenant, agent_id)
          limit cardinality(${tenants}::text[])
        ) u
        join agents a on a.agent_id = u.agent_id and a.deleted_at is null and (a.tenant = u.tenant or a.scope = 'global')
        join agent_versions v on v.version_id = a.current_version_id`;
    return new Map(rows.map((row) => [runnableName({ tenant: row.asker, agentId: row.agent_id }), row]));
  }, runnableName);

  return {
    /** An agent's own tenant shadows the global one of the same name. */
    find(tenant: string, key: AgentKey, version: string | null): Promise<AgentDocumentRow | null> {
      return first(sql<AgentDocumentRow[]>`
        select ${columns}, v.document, v.manifest_yaml from agents a ${versionJoin(version)}
        where ${visible(tenant)} and ${named(key)}
        order by a.tenant = ${tenant} desc limit 1`);
    },

    /** Which version a start would run; the specification itself is read by `spec`. */
    findForExecution(tenant: string, key: AgentKey, version: string | null): Promise<RunnableRow | null> {
      if (version === null && "id" in key) return findCurrent({ tenant, agentId: key.id });
      return first(sql<RunnableRow[]>`
        select ${runnable} from agents a ${versionJoin(version)} where ${visible(tenant)} and ${named(key)}
        order by a.tenant = ${tenant} desc limit 1`);
    },

    async exists(tenant: string, key: AgentKey): Promise<boolean> {
      return (await sql`select 1 from agents a where ${visible(tenant)} and ${named(key)} limit 1`).length > 0;
    },

    /** @returns the resolved manifest and the length of its JSON */
    async spec(tenant: string, versionId: string): Promise<{ spec: AgentSpec; characters: number } | null> {
      const row = await first(sql<{ spec: string }[]>`
        select v.spec::text as spec from agent_versions v join agents a using (agent_id)
        where ${visible(tenant)} and v.version_id = ${versionId}`);
      return row === null ? null : { spec: completeSpec(JSON.parse(row.spec)), characters: row.spec.length };
    },

    /** Of the given names and ids, those the tenant can reach an agent by. */
    async known(tenant: string, references: readonly string[]): Promise<ReadonlySet<string>> {
      const ids = references.filter(isUuid);
      const rows = await sql<{ name: string; agent_id: string }[]>`
        select a.name, a.agent_id from agents a
        where ${visible(tenant)}
          and (a.name = any(${texts(references)}::text[]) or a.agent_id = any(${texts(ids)}::text[]::uuid[]))`;
      const found = new Set(rows.flatMap(({ name, agent_id }) => [name, agent_id]));
      return new Set(references.filter((one) => found.has(one) || (isUuid(one) && found.has(one.toLowerCase()))));
    },

    /** By name, then id; one row more than the page holds when more follow. */
    list(tenant: string, filter: AgentFilter, labels: Readonly<Record<string, string>>, page: Page) {
      const within = filter.visible ? visible(tenant) : sql`a.deleted_at is null and a.tenant = ${tenant}`;
      const { after } = page;
      const text = filter.q === undefined ? null : `%${filter.q.replace(/[\\%_]/g, "\\$&")}%`;
      return sql<AgentRow[]>`
        select ${columns} from agents a ${versionJoin(null)}
        where ${within}
          and ${filter.status === undefined ? sql`a.status <> 'archived'` : sql`a.status = ${filter.status}`}
          ${filter.scope === undefined ? sql`` : sql`and a.scope = ${filter.scope}`}
          ${filter.agent_type === undefined ? sql`` : sql`and v.agent_type = ${filter.agent_type}`}
          ${Object.keys(labels).length === 0 ? sql`` : sql`and v.labels @> ${JSON.stringify(labels)}::text::jsonb`}
          ${text === null ? sql`` : sql`and (a.name ilike ${text} or v.metadata->>'description' ilike ${text})`}
          ${after === null ? sql`` : sql`and (a.name, a.agent_id::text) > (${after[0] ?? ""}, ${after[1] ?? ""})`}
        order by a.name, a.agent_id::text
        limit ${page.limit + 1} offset ${page.offset}`;
    },

    /**
     * The active agents that names mean in the tenant, by name: its own hide global ones, also while they are paused.
     */
    offered(tenant: string, { name, after }: Offered, limit: number): PendingQuery<OfferedRow[]> {
      return sql<OfferedRow[]>`
        select name, description, input_schema from (
          select distinct on (a.name) a.name, a.status, v.metadata->>'description' as description, v.input_schema
          from agents a ${versionJoin(null)}
          where ${visible(tenant)}
            ${name === undefined ? sql`` : sql`and a.name = ${name}`} ${after === undefined ? sql`` : sql`and a.name > ${after}`}
          order by a.name, a.tenant = ${tenant} desc) offered
        where status = 'active' order by name limit ${limit}`;
    },

    /** Newest first; a page ends early, behind its first element, where its manifests come to more than 4 MiB. */
    versions(tenant: string, agentId: string, everyRevision: boolean, page: Page) {
      const latest = everyRevision
        ? sql``
        : sql`and not exists (
            select 1 from agent_versions w
            where w.agent_id = v.agent_id and w.version = v.version and w.revision > v.revision)`;
      return sql<VersionRow[]>`
        with page as (
          select v.version_id, v.deployed_at, octet_length(v.manifest_yaml) as bytes
          from agents a join agent_versions v using (agent_id)
          where ${visible(tenant)} and a.agent_id = ${agentId} ${latest}
          order by v.deployed_at desc, v.version_id desc
          limit ${page.limit} offset ${page.offset}),
        bounded as (
          select version_id, sum(bytes) over (order by deployed_at desc, version_id desc) - bytes as before from page)
        select v.version_id, v.agent_id, a.tenant, a.name, v.version, v.revision, v.version_id = a.current_version_id as current,
          v.deployed_at, v.deployed_by, v.document, v.manifest_yaml
        from bounded join agent_versions v using (version_id) join agents a using (agent_id)
        where bounded.before < ${maxPageBytes}
        order by v.deployed_at desc, v.version_id desc`;
    },

    async erase(tenant: string, agentId: string): Promise<void> {
      await sql`delete from agents where tenant = ${tenant} and agent_id = ${agentId} and deleted_at is not null`;
    },

    /** Of the given agents, whosever they are, those that are there. */
    async present(agentIds: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await sql<{ agent_id: string }[]>`
        select agent_id from agents where agent_id = any(${texts(agentIds)}::uuid[]) and deleted_at is null`;
      return new Set(rows.map((row) => row.agent_id));
    },

    /** Of every tenant: agents whose deletion was begun and not ended. */
    markedDeleted() {
      return sql<{ tenant: string; agent_id: string }[]>`
        select tenant, agent_id from agents where deleted_at is not null order by deleted_at limit 1000`;
    },
  };
}

/** Whether a deployed agent names the security context. @param tenant of the agents; null: any */
export async function nameContext(sql: Sql, tenant: string | null, context: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from agents a join agent_versions v on v.version_id = a.current_version_id
      where a.deleted_at is null and (${tenant}::text is null or a.tenant = ${tenant})
        and v.spec ->> 'security_context' = ${context}) as found`;
  return row?.found === true;
}
