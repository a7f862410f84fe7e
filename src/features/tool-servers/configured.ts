/** Tool servers of the configuration file: read at boot, and stored for every node. */
import { Value } from "@sinclair/typebox/value";
import { isObject } from "../../../actors/kernel/json.ts";
import {
  definitionIssues,
  definitionOf,
  nameFault,
  type WrittenServer,
} from "../../../actors/tool-server/definition.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Audit, auditedSystem } from "../audit/port.ts";
import { ownerOf } from "./permission.ts";
import type { NewServer, ToolServerRecords } from "./records.ts";
import { NewToolServer } from "./schema.ts";

export type ConfiguredServer = Pick<NewServer, "tenant" | "name" | "definition">;

export interface ReadServers {
  readonly servers: readonly ConfiguredServer[];
  /** Everything that is wrong, each a sentence. */
  readonly problems: readonly string[];
}

/** @param list `tool_servers`, as the file or SVC_TOOL_SERVERS has it; null: there is none */
export function readServers(list: unknown): ReadServers {
  const servers: ConfiguredServer[] = [];
  const problems: string[] = [];
  const names = new Set<string>();
  for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
    const at = `tool_servers.${index}`;
    const read = readServer(entry);
    if (Array.isArray(read)) {
      problems.push(...read.map((problem) => `${at}${problem}`));
      continue;
    }
    const key = `${read.tenant ?? ""} ${read.name}`;
    if (names.has(key)) problems.push(`${at}.name: there are two servers ${read.name}`);
    names.add(key);
    servers.push(read);
  }
  return { servers, problems };
}

/** @returns what is wrong with it, each beginning with its place */
function readServer(entry: unknown): ConfiguredServer | string[] {
  if (!isObject(entry)) return [" must be a mapping"];
  const known = Object.keys(NewToolServer.properties);
  const unknown = Object.keys(entry).filter((name) => !known.includes(name));
  if (unknown.length > 0) return unknown.map((name) => `.${name} is not known; known: ${known.join(", ")}`);
  if (!Value.Check(NewToolServer, entry)) {
    return [...Value.Errors(NewToolServer, entry)]
      .slice(0, 10)
      .map(({ path, message }) => `${path.replaceAll("/", ".")}: ${message}`);
  }
  const { name, tenant_id, capabilities, ...written } = entry;
  const full = capabilities?.map((one) => ({ skip_judge: false, ...one }));
  const definition = definitionOf(null, {
    ...(written as WrittenServer),
    ...(full === undefined ? {} : { capabilities: full }),
  });
  const fault = nameFault(name);
  const issues = definitionIssues(definition).map(({ path, message }) => `.${path}: ${message}`);
  if (fault !== null) issues.unshift(`.name: ${fault}`);
  // Without a tenant it is one of all.
  return issues.length > 0 ? issues : { tenant: tenant_id ?? null, name, definition };
}

export interface StoreConfiguredOptions {
  readonly sql: Sql;
  readonly records: ToolServerRecords;
  readonly audit: Pick<Audit, "append">;
  readonly newId: () => string;
}

/**
 * Makes what is stored what the file says: several nodes do so one after the other, and the last one that booted counts.
 * @returns ids of enabled servers that listed nothing yet, or were changed
 * @throws StartFailure for a name that a caller has given to another server
 */
export async function storeConfigured(
  options: StoreConfiguredOptions,
  configured: readonly ConfiguredServer[],
): Promise<string[]> {
  const { sql, records, audit, newId } = options;
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('tool_servers of the file', 0))`;
    const stored = await records.fromFile(tx);
    const due: string[] = [];
    const note = (verb: string, server: ConfiguredServer) =>
      audit.append(tx, auditedSystem("configuration"), {
        tenant: ownerOf(server),
        action: `tool_server.${verb}`,
        target: { type: "tool_server", id: server.name },
        details: { transport: server.definition.transport, all_tenants: server.tenant === null },
      });
    for (const row of stored) {
      if (configured.some((one) => one.tenant === row.tenant && one.name === row.name)) continue;
      await records.remove(tx, row.id);
      await note("deleted", row);
    }
    const defined_by = { realm: null, user_id: null };
    for (const one of configured) {
      const before = stored.find((row) => row.tenant === one.tenant && row.name === one.name);
      if (before === undefined) {
        const id = newId();
        if (!(await records.insert(tx, { ...one, id, source: "file", defined_by }))) throw taken(one);
        await note("created", one);
        due.push(id);
      } else if (!Bun.deepEquals(before.definition, one.definition)) {
        await records.define(tx, before.id, { definition: one.definition, defined_by });
        await note("updated", one);
        due.push(before.id);
      } else if (before.tools === null) due.push(before.id);
    }
    return due;
  });
}

const taken = ({ name }: ConfiguredServer) =>
  new StartFailure(`tool_servers: there is a tool server ${name} already, which a caller defined. Rename one of them.`);
