/** Tool servers as callers have them: defined, changed, started anew, accepted, taken away. */
import { isPlatformOperator } from "../../../actors/identity/identity.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { invalidField, Problem } from "../../../actors/kernel/problem.ts";
import { isStorableJson, unusableText } from "../../../actors/manifest/storable.ts";
import {
  definitionOf,
  nameFault,
  type ServerDefinition,
  type WrittenServer,
} from "../../../actors/tool-server/definition.ts";
import { accepting } from "../../../actors/tool-server/listing.ts";
import type { List, Page } from "../../http/paging.ts";
import { listOf } from "../../http/paging.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { type Audit, type AuditedCall, auditedBy } from "../audit/port.ts";
import type { ServerCredentials } from "../credentials/port.ts";
import { ownerOf, requireManaged, requireReferences, requireSound, requireTransport } from "./permission.ts";
import type { ServerRow, ToolServerRecords } from "./records.ts";
import type { NewToolServer, ServerTool, ToolServer, ToolServerChange } from "./schema.ts";
import { serverBody, toolBodies, withheldOf } from "./wire.ts";

/** Who does it, as the audit log tells. */
export interface Caller extends AuditedCall {
  /** The effective tenant. */
  readonly tenant: string;
}

export interface ToolServerOptions {
  readonly sql: Sql;
  readonly records: ToolServerRecords;
  readonly credentials: Pick<ServerCredentials, "mayUse">;
  readonly audit: Audit;
  /** Told of a server that was changed, once that is stored. Must not throw. */
  readonly changed: (row: Pick<ServerRow, "id" | "tenant">) => void;
  /** Starts it on this node. Must not throw. */
  readonly start: (id: string) => void;
}

/** Servers of one tenant, or of all tenants. */
const maxServers = 100;
/** What stores one definition at most, bytes. */
const maxDefinitionBytes = 256 * 1_024;

export type ToolServers = ReturnType<typeof createToolServers>;

export function createToolServers({ sql, records, credentials, audit, changed, start }: ToolServerOptions) {
  async function found(tenant: string, name: string, tx: Sql | Transaction = sql, lock = false): Promise<ServerRow> {
    const row = await records.find(tenant, name, tx, lock);
    if (row === null) throw new Problem("tool_server_not_found", "There is no such tool server");
    return row;
  }

  async function note(
    tx: Transaction,
    caller: Caller,
    verb: string,
    row: Audited,
    details: Details = {},
  ): Promise<void> {
    const target = { type: "tool_server", id: row.name };
    const all = { transport: row.definition.transport, all_tenants: row.tenant === null, ...details };
    await audit.append(tx, auditedBy(caller), {
      tenant: ownerOf(row),
      action: `tool_server.${verb}`,
      target,
      details: all,
    });
  }

  async function body({ identity, tenant }: Caller, row: ServerRow): Promise<ToolServer> {
    const instances = (await records.instances([row.id])).get(row.id) ?? [];
    return serverBody(row, instances, row.tenant === tenant || isPlatformOperator(identity));
  }

  /** What a change makes of a server. @throws Problem */
  async function redefined({ identity }: Caller, row: ServerRow, written: ToolServerChange): Promise<ServerDefinition> {
    requireManaged(identity, row);
    requireFree(row);
    const definition = definitionOf(row.definition, writtenOf(written));
    const switches = Object.keys(written).every((name) => name === "enabled");
    requireTransport(identity, row.definition, definition, switches);
    requireStorable(definition);
    requireSound(definition);
    await requireReferences(identity, { tenant: row.tenant, definition }, credentials);
    return definition;
  }

  /** @returns the row before, and after; null where another change came between */
  async function change(caller: Caller, name: string, written: ToolServerChange) {
    const before = await found(caller.tenant, name);
    const definition = await redefined(caller, before, written);
    return sql.begin(async (tx) => {
      const { id, version } = await found(caller.tenant, name, tx, true);
      if (id !== before.id || version !== before.version) return null;
      await records.define(tx, id, { definition, defined_by: definerOf(caller) });
      await note(tx, caller, "updated", { ...before, definition }, { fields: Object.keys(written) });
      return { before, after: await found(caller.tenant, name, tx) };
    });
  }

  return {
    found,
    body,

    /** By name; of tools that are withheld, with what they were. */
    async tools(tenant: string, name: string): Promise<ServerTool[]> {
      const row = await found(tenant, name);
      const accepted = withheldOf(row).length === 0 ? {} : await records.acceptedTools(row.id);
      return toolBodies(row, accepted).sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async list(caller: Caller, page: Page): Promise<List<"tool_servers", ToolServer>> {
      const rows = await records.page(caller.tenant, page);
      const instances = await records.instances(rows.map(({ id }) => id));
      const isOperator = isPlatformOperator(caller.identity);
      const items = rows.map((row) =>
        serverBody(row, instances.get(row.id) ?? [], row.tenant === caller.tenant || isOperator),
      );
      return listOf("tool_servers", items, page, ({ name }) => [name]);
    },

    /** @throws Problem 402 `quota_exceeded`, 403 `operator_required`, 409 `tool_server_exists`, 422 */
    async create(caller: Caller, id: string, body_: NewToolServer): Promise<ToolServer> {
      const { identity } = caller;
      const { name, tenant_id, ...written } = body_;
      const fault = nameFault(name);
      if (fault !== null) throw invalidField("name", fault);
      const tenant = tenantOf(caller, tenant_id);
      requireManaged(identity, { tenant });
      const definition = definitionOf(null, writtenOf(written));
      requireTransport(identity, null, definition, false);
      requireStorable(definition);
      requireSound(definition);
      await requireReferences(identity, { tenant, definition }, credentials);
      const server = { id, tenant, name, source: "api", definition, defined_by: definerOf(caller) } as const;
      const row = await sql.begin(async (tx) => {
        if ((await records.count(tx, tenant)) >= maxServers) {
          const extras = { quota: "max_tool_servers", limit: maxServers, used: maxServers, tier: null };
          throw new Problem("quota_exceeded", `A tenant may have ${maxServers} tool servers`, extras);
        }
        if (await records.insert(tx, server)) await note(tx, caller, "created", server);
        const stored = await found(tenant ?? caller.tenant, name, tx);
        // The same piece of work, repeated.
        if (stored.id === id) return stored;
        if (stored.tenant === tenant) throw exists(name);
        throw new Error("a tool server is there and is not");
      });
      changed(row);
      if (definition.enabled) start(id);
      return body(caller, row);
    },

    /** @throws Problem 403 `operator_required`, 404, 409 `tool_server_in_file`, 422 */
    async change(caller: Caller, name: string, written: ToolServerChange): Promise<ToolServer> {
      for (;;) {
        const done = await change(caller, name, written);
        if (done === null) continue;
        const { before, after } = done;
        changed(after);
        if (after.definition.enabled && !before.definition.enabled) start(after.id);
        return body(caller, after);
      }
    },

    /** @throws Problem 403 `operator_required`, 404, 409 `tool_server_in_file` */
    async remove(caller: Caller, name: string): Promise<void> {
      const row = await sql.begin(async (tx) => {
        const row = await found(caller.tenant, name, tx, true);
        requireManaged(caller.identity, row);
        requireFree(row);
        await records.remove(tx, row.id);
        await note(tx, caller, "deleted", row);
        return row;
      });
      changed(row);
    },

    /** New connections on every node; where there is none, one on this node. @throws Problem 403, 404, 409 `invalid_state` */
    async restart(caller: Caller, name: string): Promise<ToolServer> {
      const row = await sql.begin(async (tx) => {
        const row = await found(caller.tenant, name, tx, true);
        requireManaged(caller.identity, row);
        if (!row.definition.enabled)
          throw new Problem("invalid_state", "The server is disabled", { status: "stopped" });
        await records.renew(tx, row.id);
        await note(tx, caller, "restarted", row);
        return found(caller.tenant, name, tx);
      });
      changed(row);
      start(row.id);
      return body(caller, row);
    },

    /** @param names as the API shows them, or without the server's; absent: all that are withheld @throws Problem 403, 404, 422 */
    async accept(caller: Caller, name: string, names: readonly string[] | undefined): Promise<ToolServer> {
      const row = await sql.begin(async (tx) => {
        const row = await found(caller.tenant, name, tx, true);
        requireManaged(caller.identity, row);
        const withheld = withheldOf(row);
        const wanted =
          names?.map((each) => (each.startsWith(`${name}.`) ? each.slice(name.length + 1) : each)) ?? withheld;
        const unknown = wanted.find((each) => row.digests[each] === undefined);
        if (unknown !== undefined)
          throw invalidField("tools", `names ${JSON.stringify(unknown)}, which the server does not list`);
        const taken = wanted.filter((each) => withheld.includes(each));
        if (taken.length === 0) return row;
        await records.accept(tx, row.id, accepting(row.accepted, row.digests, taken), taken);
        await note(tx, caller, "accepted", row, { tools: taken });
        return found(caller.tenant, name, tx);
      });
      changed(row);
      return body(caller, row);
    },
  };
}

type Audited = Pick<ServerRow, "tenant" | "name" | "definition">;
type Details = { readonly [member: string]: Json };

const exists = (name: string) => new Problem("tool_server_exists", `There is a tool server ${name} already`);

/** @throws Problem 409 for one that the configuration file defines */
function requireFree({ source }: ServerRow): void {
  if (source === "api") return;
  throw new Problem("tool_server_in_file", "The configuration file defines the server; change it there");
}

/** Whose a new server is. @throws Problem 403 `operator_required` for another's */
function tenantOf({ identity, tenant }: Caller, wanted: string | null | undefined): string | null {
  if (wanted === undefined || wanted === tenant) return tenant;
  if (wanted === null && isPlatformOperator(identity)) return null;
  throw new Problem(
    "operator_required",
    "A server belongs to the tenant that the request is for, or to all by operators",
  );
}

const definerOf = ({ identity: { realm, userId } }: Caller) => ({ realm, user_id: userId });

/** Capabilities get what they leave out. */
function writtenOf({ capabilities, ...written }: ToolServerChange): WrittenServer {
  if (capabilities === undefined) return written as WrittenServer;
  const full =
    capabilities === null ? null : capabilities.map(({ name, skip_judge = false }) => ({ name, skip_judge }));
  return { ...(written as WrittenServer), capabilities: full };
}

function requireStorable(definition: ServerDefinition): void {
  const text = JSON.stringify(definition);
  if (Buffer.byteLength(text) > maxDefinitionBytes)
    throw invalidField("", `takes more than ${maxDefinitionBytes} bytes`);
  if (!isStorableJson(JSON.parse(text))) throw invalidField("", unusableText);
}
