/** The SQL of tool servers, tenant first. */
import type { ServerDefinition } from "../../../actors/tool-server/definition.ts";
import type { ServerStatus } from "../../../actors/tool-server/life.ts";
import type { Definitions, Digests, ListedTool } from "../../../actors/tool-server/listing.ts";
import type { Page } from "../../http/paging.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

export interface ServerRow {
  readonly id: string;
  /** Null: of all tenants. */
  readonly tenant: string | null;
  readonly name: string;
  readonly source: "api" | "file";
  readonly definition: ServerDefinition;
  readonly version: number;
  readonly generation: number;
  readonly defined_by: { readonly realm: string | null; readonly user_id: string | null };
  readonly protocol_version: string | null;
  readonly tools: readonly ListedTool[] | null;
  readonly digests: Digests;
  readonly accepted: Digests | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface InstanceRow {
  readonly server_id: string;
  readonly node_id: string;
  readonly status: ServerStatus;
  readonly pid: number | null;
  readonly restarts: number;
  readonly last_error: string | null;
  readonly unenforced: readonly string[];
  readonly sandboxes: readonly string[];
  readonly started_at: Date | null;
  readonly last_health_at: Date | null;
}

export type NewServer = Pick<ServerRow, "id" | "tenant" | "name" | "source" | "definition" | "defined_by">;
export interface Listing extends Pick<ServerRow, "tools" | "digests" | "accepted" | "protocol_version"> {
  /** What tools were when they were accepted, of those that are not listed as such. */
  readonly accepted_tools: Definitions;
}

/** A node that has not said for so long that it is there is gone, s. */
const goneAfterSeconds = 45;

export type ToolServerRecords = ReturnType<typeof toolServerRecords>;

export function toolServerRecords(sql: Sql) {
  const columns = sql`s.id, s.tenant, s.name, s.source, s.definition, s.version, s.generation, s.defined_by,
    s.protocol_version, s.tools, s.digests, s.accepted, s.created_at, s.updated_at`;
  const instanceColumns = sql`i.server_id, i.node_id, i.status, i.pid, i.restarts, i.last_error, i.unenforced,
    i.sandboxes, i.started_at, i.last_health_at`;
  const isThere = sql`i.seen_at > now() - ${goneAfterSeconds} * interval '1 second'`;
  const json = (value: unknown) => sql`${JSON.stringify(value)}::text::jsonb`;

  return {
    /** The tenant's own, then those of all tenants that it has not replaced. */
    visibleTo(tenant: string, on: Sql | Transaction = sql): Promise<ServerRow[]> {
      return on<ServerRow[]>`
        select distinct on (s.name) ${columns} from tool_servers s
        where s.tenant = ${tenant} or s.tenant is null order by s.name, s.tenant nulls last`;
    },

    /** By name; one row more than the page asks for when there are more. */
    page(tenant: string, { limit, offset, after }: Page): Promise<ServerRow[]> {
      const from = after === null ? sql`true` : sql`s.name > ${after[0] ?? ""}`;
      return sql<ServerRow[]>`
        select * from (
          select distinct on (s.name) ${columns} from tool_servers s
          where (s.tenant = ${tenant} or s.tenant is null) and ${from} order by s.name, s.tenant nulls last) s
        order by name limit ${limit + 1} offset ${offset}`;
    },

    /** The tenant's own before one of all tenants. */
    async find(tenant: string, name: string, on: Sql | Transaction = sql, lock = false): Promise<ServerRow | null> {
      const [row] = await on<ServerRow[]>`
        select ${columns} from tool_servers s where (s.tenant = ${tenant} or s.tenant is null) and s.name = ${name}
        order by s.tenant nulls last limit 1 ${lock ? sql`for update` : sql``}`;
      return row ?? null;
    },

    byIds(ids: readonly string[]): Promise<ServerRow[]> {
      return sql<ServerRow[]>`select ${columns} from tool_servers s where s.id = any(${[...ids]}::uuid[])`;
    },

    async locked(tx: Transaction, id: string): Promise<ServerRow | null> {
      const [row] = await tx<ServerRow[]>`select ${columns} from tool_servers s where s.id = ${id} for update`;
      return row ?? null;
    },

    fromFile(tx: Transaction): Promise<ServerRow[]> {
      return tx<ServerRow[]>`select ${columns} from tool_servers s where s.source = 'file' order by s.id for update`;
    },

    /** Before a new one: others of the tenant wait until the transaction has ended. */
    async count(tx: Transaction, tenant: string | null): Promise<number> {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`tool_servers ${tenant ?? ""}`}, 0))`;
      const [row] = await tx<{ count: number }[]>`
        select count(*)::int as count from tool_servers where tenant is not distinct from ${tenant}`;
      return row?.count ?? 0;
    },

    /** @returns whether it is new: false where the name, or the id, is taken */
    async insert(tx: Transaction, { id, tenant, name, source, definition, defined_by }: NewServer): Promise<boolean> {
      const { count } = await tx`
        insert into tool_servers (id, tenant, name, source, definition, defined_by)
        values (${id}, ${tenant}, ${name}, ${source}, ${json(definition)}, ${json(defined_by)})
        on conflict do nothing`;
      return count > 0;
    },

    /** A new version; every node makes new connections. */
    async define(
      tx: Transaction,
      id: string,
      { definition, defined_by }: Pick<NewServer, "definition" | "defined_by">,
    ) {
      await tx`
        update tool_servers set definition = ${json(definition)}, defined_by = ${json(defined_by)},
          version = version + 1, generation = generation + 1, updated_at = now()
        where id = ${id}`;
    },

    async renew(tx: Transaction, id: string): Promise<void> {
      await tx`update tool_servers set generation = generation + 1, updated_at = now() where id = ${id}`;
    },

    async list(tx: Transaction, id: string, listing: Listing): Promise<void> {
      const { tools, digests, accepted, accepted_tools, protocol_version } = listing;
      await tx`
        update tool_servers set tools = ${json(tools)}, digests = ${json(digests)}, accepted = ${json(accepted)},
          accepted_tools = ${json(accepted_tools)}, protocol_version = ${protocol_version}, listed_at = now()
        where id = ${id}`;
    },

    /** See `Listing`; read apart from the row, which every call has at hand. */
    async acceptedTools(id: string, on: Sql | Transaction = sql): Promise<Definitions> {
      const [row] = await on<{ accepted_tools: Definitions }[]>`
        select accepted_tools from tool_servers where id = ${id}`;
      return row?.accepted_tools ?? {};
    },

    /** @param taken the names that a person has accepted as they are listed */
    async accept(tx: Transaction, id: string, accepted: Digests, taken: readonly string[]): Promise<void> {
      await tx`
        update tool_servers set accepted = ${json(accepted)}, accepted_tools = accepted_tools - ${[...taken]}::text[],
          version = version + 1, updated_at = now()
        where id = ${id}`;
    },

    async remove(tx: Transaction, id: string): Promise<void> {
      await tx`delete from tool_servers where id = ${id}`;
    },

    /** Of nodes that are there, by server. */
    async instances(ids: readonly string[]): Promise<ReadonlyMap<string, InstanceRow[]>> {
      const rows = await sql<InstanceRow[]>`
        select ${instanceColumns} from tool_server_instances i
        where i.server_id = any(${[...ids]}::uuid[]) and ${isThere} order by i.node_id`;
      return Map.groupBy(rows, ({ server_id }) => server_id);
    },

    /** Nothing is written for a server that is gone. */
    async note({ server_id, node_id, status, pid, restarts, last_error, ...more }: InstanceRow): Promise<void> {
      const { unenforced, sandboxes, started_at, last_health_at } = more;
      await sql`
        insert into tool_server_instances (server_id, node_id, status, pid, restarts, last_error, unenforced, sandboxes,
          started_at, last_health_at)
        select id, ${node_id}, ${status}, ${pid}, ${restarts}, ${last_error}, ${json(unenforced)},
          ${[...sandboxes]}::uuid[], ${started_at}, ${last_health_at}
        from tool_servers where id = ${server_id}
        on conflict (server_id, node_id) do update set status = excluded.status, pid = excluded.pid,
          restarts = excluded.restarts, last_error = excluded.last_error, unenforced = excluded.unenforced,
          sandboxes = excluded.sandboxes, started_at = excluded.started_at,
          last_health_at = excluded.last_health_at, seen_at = now()`;
    },

    async forget(nodeId: string, serverId: string): Promise<void> {
      await sql`delete from tool_server_instances where node_id = ${nodeId} and server_id = ${serverId}`;
    },

    async stillThere(nodeId: string): Promise<void> {
      await sql`update tool_server_instances set seen_at = now() where node_id = ${nodeId}`;
    },

    /** Instances of nodes that are gone. */
    async forgetGone(): Promise<void> {
      await sql`delete from tool_server_instances i where not (${isThere})`;
    },

    /** Of the given ids those of servers, and the sandboxes that nodes hold for them. */
    async held(ids: readonly string[]): Promise<{ id: string; tenant: string | null; sandboxes: readonly string[] }[]> {
      return sql`
        select s.id, s.tenant, coalesce((select array_agg(b) from tool_server_instances i, unnest(i.sandboxes) b
          where i.server_id = s.id and ${isThere}), '{}') as sandboxes
        from tool_servers s where s.id = any(${[...ids]}::uuid[])`;
    },

    /** Nothing of it is begun any more. @returns how many instances nodes still hold */
    async disableAll(tenant: string): Promise<number> {
      await sql`
        update tool_servers set definition = jsonb_set(definition, '{enabled}', 'false'), version = version + 1,
          generation = generation + 1, updated_at = now()
        where tenant = ${tenant} and (definition->>'enabled')::boolean`;
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from tool_server_instances i join tool_servers s on s.id = i.server_id
        where s.tenant = ${tenant} and ${isThere}`;
      return row?.count ?? 0;
    },
  };
}
