/**
 * The servers of this node: one process or connection for each, begun by the first call here. What other nodes changed is
 * heard at once by a notice, and found within seconds without one.
 */
import type { ListedTool } from "../../../../actors/tool-server/listing.ts";
import { storable } from "../../../lib/storable.ts";
import { repeatedly } from "../../../lib/timers.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { type Audit, auditedSystem } from "../../audit/port.ts";
import type { Logs } from "../logs.ts";
import { ownerOf } from "../permission.ts";
import type { ServerRow, ToolServerRecords } from "../records.ts";
import type { StoreListing } from "./listing.ts";
import { NodeServer, type ServerCallEnd } from "./node-server.ts";
import type { OpeningOptions } from "./opened.ts";

export interface HostOptions extends OpeningOptions {
  readonly nodeId: string;
  /** How often it looks whether credentials were rotated, ms; 8 s when absent. */
  readonly credentialsEveryMs?: number;
  /** See `NodeServerOptions`. */
  readonly delayOf?: (decidedMs: number) => number;
  readonly newId: () => string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly sql: Sql;
  readonly records: ToolServerRecords;
  readonly logs: Pick<Logs, "add">;
  readonly store: StoreListing;
  readonly audit: Pick<Audit, "append">;
  /** The list of a server is another one: what nodes remember of its tenant is old. */
  readonly listed: (row: Pick<ServerRow, "id" | "tenant">) => void;
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export interface HostCall {
  readonly row: ServerRow;
  readonly tool: ListedTool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const reconcileEveryMs = 2_000;
const stillThereEveryMs = 10_000;
const credentialsEveryMs = 8_000;
const forgetEveryMs = 60_000;

export type Host = ReturnType<typeof createHost>;

export function createHost(options: HostOptions) {
  const { nodeId, sql, records, audit, incidents, info, warn } = options;
  const servers = new Map<string, NodeServer>();
  const ending = new Map<string, Promise<void>>();
  const failed = (error: unknown) => warn("tool_server", { error: String(error) });
  const checkedAt = { credentials: 0, there: 0, forgotten: 0 };
  let isOver = false;

  function made(row: ServerRow): NodeServer {
    return new NodeServer(
      {
        ...options,
        note: records.note,
        log: (line) => options.logs.add(row.id, line),
        failed,
        listed: options.listed,
        started: (started) => void noteStart(started).catch(failed),
        gaveUp,
      },
      row,
    );
  }

  async function noteStart(row: ServerRow): Promise<void> {
    info("tool_server_started", { tool_server: row.name, tenant: row.tenant, node: nodeId });
    const target = { type: "tool_server", id: row.name };
    await sql.begin((tx) =>
      audit.append(tx, auditedSystem("tool-servers"), {
        tenant: ownerOf(row),
        action: "tool_server.started",
        target,
        details: { node_id: nodeId, transport: row.definition.transport },
      }),
    );
  }

  function gaveUp(row: ServerRow, error: string): void {
    warn("tool_server_failed", { tool_server: row.name, tenant: row.tenant, node: nodeId, error });
    incidents.report({
      category: "tool_server_failed",
      tenant: ownerOf(row),
      agentId: null,
      executionId: null,
      sessionId: null,
      toolName: null,
      violationType: null,
      details: { tool_server: row.name, node_id: nodeId },
    });
  }

  /** @returns the server on this node, with the definition of `row` or a later one; null: it must not run */
  async function serverOf(row: ServerRow): Promise<NodeServer | null> {
    // One that ends here ends before it begins again: there is one process for each node and server.
    await ending.get(row.id);
    if (isOver || !row.definition.enabled) return null;
    const known = servers.get(row.id);
    if (known === undefined) {
      const fresh = made(row);
      servers.set(row.id, fresh);
      return fresh;
    }
    if (known.row.generation < row.generation) known.renew(row);
    return known;
  }

  function end(id: string, server: NodeServer): Promise<void> {
    servers.delete(id);
    const done = server
      .stop()
      .then(() => records.forget(nodeId, id))
      .catch(failed)
      .finally(() => ending.delete(id));
    ending.set(id, done);
    return done;
  }

  async function reconcile(): Promise<void> {
    // One that begins meanwhile is not among the rows.
    const present = [...servers];
    if (present.length === 0) return;
    const rows = new Map((await records.byIds(present.map(([id]) => id))).map((row) => [row.id, row]));
    for (const [id, server] of present.filter(([id, server]) => servers.get(id) === server)) {
      const row = rows.get(id);
      if (row === undefined || !row.definition.enabled) void end(id, server);
      else if (row.generation > server.row.generation) server.renew(row);
      else if (row.generation === server.row.generation) server.row = row;
    }
    const now = performance.now();
    if (now - checkedAt.there > stillThereEveryMs) {
      checkedAt.there = now;
      await records.stillThere(nodeId);
    }
    if (now - checkedAt.credentials > (options.credentialsEveryMs ?? credentialsEveryMs)) {
      checkedAt.credentials = now;
      await renewRotated();
    }
  }

  /** A credential that was rotated, or whose token was refreshed, takes a new connection. */
  async function renewRotated(): Promise<void> {
    for (const server of servers.values()) {
      const { stamp, row } = server;
      if (stamp === null || Object.keys(row.definition.credentials).length === 0) continue;
      const now = await options.values.look(row).catch(() => null);
      if (now !== null && server.stamp === stamp && now.stamp !== stamp) server.renew(row);
    }
  }

  async function round(): Promise<void> {
    await reconcile();
    const now = performance.now();
    if (now - checkedAt.forgotten < forgetEveryMs) return;
    checkedAt.forgotten = now;
    await records.forgetGone();
  }

  return {
    /** Begins it here. Never throws and never waits. */
    start(id: string): void {
      const begin = async () => {
        const [row] = await records.byIds([id]);
        if (row !== undefined) (await serverOf(row))?.want();
      };
      void begin().catch(failed);
    },

    /** Told that a server was changed, here or elsewhere. */
    heard(): void {
      void reconcile().catch(failed);
    },

    /** @throws the signal's reason once it aborts */
    async call({ row, ...call }: HostCall): Promise<ServerCallEnd> {
      const server = await serverOf(row);
      if (server === null) return { kind: "unavailable", message: `The tool server ${row.name} is disabled` };
      return storable(await server.call(call));
    },

    /** Begins to look after what runs. @returns a function that ends it with every process and connection */
    run(): () => Promise<void> {
      const stop = repeatedly(reconcileEveryMs, round, failed);
      return async () => {
        isOver = true;
        await stop();
        await Promise.all([...servers].map(([id, server]) => end(id, server)));
        await Promise.all(ending.values());
      };
    },

    /** Calls that wait for their turn. */
    waiting: (): number => [...servers.values()].reduce((sum, server) => sum + server.waiting, 0),

    /** How many there are, by status. */
    counts: (): ReadonlyMap<string, number> => {
      const counts = new Map<string, number>();
      for (const { status } of servers.values()) counts.set(status, (counts.get(status) ?? 0) + 1);
      return counts;
    },
  };
}
