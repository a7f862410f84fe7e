/** Nodes of tool servers in this process: real stores, real sandboxes, real servers. */

import { parseHostPattern } from "../../../actors/policy/network/pattern.ts";
import { definitionOf, type WrittenServer } from "../../../actors/tool-server/definition.ts";
import type { EgressEnvironment } from "../../../src/adapters/egress/port.ts";
import { Sandboxes } from "../../../src/adapters/sandbox/port.ts";
import { createAudit } from "../../../src/features/audit/port.ts";
import { createCatalog } from "../../../src/features/tool-servers/catalog.ts";
import { createLogs } from "../../../src/features/tool-servers/logs.ts";
import { toolServerProvider } from "../../../src/features/tool-servers/provider.ts";
import { type ServerRow, toolServerRecords } from "../../../src/features/tool-servers/records.ts";
import { createHost, type HostOptions } from "../../../src/features/tool-servers/running/host.ts";
import { storesListing } from "../../../src/features/tool-servers/running/listing.ts";
import { resolvesValues } from "../../../src/features/tool-servers/running/values.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { processFixture } from "../../adapters/sandbox/fixture.ts";
import { type ToolServerPrograms, toolServerPrograms } from "../../harness/outside/tool-servers.ts";
import { freshStores } from "../../harness/stores.ts";
import { requestOf } from "../tools/request.ts";

export type Scene = Awaited<ReturnType<typeof toolServerScene>>;
export type SceneNode = ReturnType<Scene["node"]>;

const loopback = parseHostPattern("127.0.0.0/8");

export async function toolServerScene(...names: Parameters<typeof toolServerPrograms>) {
  const [stores, fixture, programs] = await Promise.all([
    freshStores(),
    processFixture({ allowUnsandboxed: false }),
    toolServerPrograms(...names) as Promise<ToolServerPrograms>,
  ]);
  const { sql } = stores;
  const records = toolServerRecords(sql);
  const audit = createAudit({ now: Date.now, newId: () => Bun.randomUUIDv7() });
  const incidents: { readonly category: string; readonly details: unknown }[] = [];
  const secrets = new Map<string, string>();
  const warnings: unknown[] = [];
  const nodes: (() => Promise<void>)[] = [];

  /** Of this service's nodes one. @param sandboxes none: nothing holds programs */
  function node(
    nodeId: string,
    sandboxes: Sandboxes = new Sandboxes([fixture.sandbox]),
    more: Pick<HostOptions, "delayOf"> = {},
  ) {
    const catalog = createCatalog((tenant) => records.visibleTo(tenant));
    const failed = (error: unknown) => void warnings.push(error);
    const logs = createLogs({ sql, nodeId, now: Date.now, failed });
    const outside: EgressEnvironment = {
      resolve: async () => [],
      allowPrivate: loopback === null ? [] : [loopback],
    };
    const host = createHost({
      ...{ sql, records, logs, audit, nodeId, sandboxes, outside, dataDir: fixture.dataDir, ...more },
      incidents: { report: (incident) => void incidents.push(incident) },
      newId: () => crypto.randomUUID(),
      credentialsEveryMs: 100,
      now: Date.now,
      shown: [programs.directory],
      tokens: { mint: async () => "token" },
      values: resolvesValues({
        sql,
        audit,
        variable: (name) => secrets.get(name),
        secrets: {
          async meaning(_tenant, { path }) {
            const value = new Secret(secrets.get(path) ?? "");
            return { value, hidden: [value], changedAt: 0 };
          },
        },
        credentials: {
          meaning: async () => ({ code: "credential_not_found", message: "none" }),
          used: async () => {},
        },
      }),
      store: storesListing({ sql, records, audit, incidents: { report: (incident) => void incidents.push(incident) } }),
      listed: ({ tenant }) => catalog.forget(tenant),
      info() {},
      warn: (event, facts) => void warnings.push({ event, ...facts }),
    });
    const provider = toolServerProvider(catalog, host);
    const [stopHost, stopLogs] = [host.run(), logs.start()];
    const stop = async () => {
      await stopHost();
      await stopLogs();
    };
    nodes.push(stop);
    const call = (name: string, given: Record<string, unknown> = {}, signal = new AbortController().signal) =>
      provider.call(requestOf(name, given, { tenant: "acme", signal }));
    return {
      host,
      logs,
      stop,
      call,
      /** What the answer says, or the code of what kept it away. */
      async text(name: string, given: Record<string, unknown> = {}): Promise<string> {
        const outcome = await call(name, given);
        if (outcome.status !== "succeeded") return outcome.code;
        return String((outcome.result.content as unknown as { text: string }[])[0]?.text);
      },
      async tools(): Promise<string[]> {
        catalog.forget(null);
        return (await provider.tools("acme")).filter(({ withheld }) => withheld !== true).map(({ name }) => name);
      },
    };
  }

  async function row(name: string): Promise<ServerRow> {
    const found = await records.find("acme", name);
    if (found === null) throw new Error(`no server ${name}`);
    return found;
  }

  return {
    sql,
    records,
    programs,
    sandbox: fixture.sandbox,
    secrets,
    incidents,
    warnings,
    node,
    row,

    /** Stores one of the tenant acme; a program unless it has a URL. */
    async define(name: string, written: WrittenServer = {}, mode = ""): Promise<ServerRow> {
      const program = { executable: programs.executable, args: [programs.program("odd"), mode] };
      const isRemote = written.transport === "streamable_http";
      const definition = definitionOf(null, { ...(isRemote ? {} : program), ...written });
      const defined_by = { realm: null, user_id: null };
      const server = { id: crypto.randomUUID(), tenant: "acme", name, source: "api", definition, defined_by } as const;
      await sql.begin((tx) => records.insert(tx, server));
      return row(name);
    },

    async change(name: string, written: WrittenServer): Promise<void> {
      const { id, definition, defined_by } = await row(name);
      await sql.begin((tx) => records.define(tx, id, { definition: definitionOf(definition, written), defined_by }));
    },

    instances: async (name: string) =>
      (await records.instances([(await row(name)).id])).get((await row(name)).id) ?? [],

    async dispose() {
      for (const stop of nodes) await stop();
      await fixture.dispose();
      await stores.dispose();
    },
  };
}
