/** Tool servers of the Model Context Protocol: programs and remote servers whose tools agents use. */
import { Gauge } from "prom-client";
import { policyOf } from "../../../actors/policy/network/policy.ts";
import { childFolder, removeChildFolders } from "../../adapters/mcp/port.ts";
import { ConfigError } from "../../config/load.ts";
import { json, text } from "../../config/setting.ts";
import { repeatedly } from "../../lib/timers.ts";
import { audit } from "../audit/feature.ts";
import { credentials } from "../credentials/feature.ts";
import { egress } from "../egress/feature.ts";
import { executionTokens } from "../execution-tokens/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { references } from "../references/feature.ts";
import { secrets } from "../secrets/feature.ts";
import { tools } from "../tools/feature.ts";
import { createCatalog } from "./catalog.ts";
import { readServers, storeConfigured } from "./configured.ts";
import { exported } from "./exported.ts";
import { leftovers } from "./leftovers.ts";
import { createLogs } from "./logs.ts";
import { ownerOf } from "./permission.ts";
import { toolServerProvider } from "./provider.ts";
import { type ServerRow, toolServerRecords } from "./records.ts";
import { toolServerRoutes } from "./routes.ts";
import { createHost } from "./running/host.ts";
import { storesListing } from "./running/listing.ts";
import { resolvesValues } from "./running/values.ts";
import { named } from "./schema.ts";
import { createToolServers } from "./service.ts";

/** How often folders that killed nodes left are looked for, ms. */
const sweepEveryMs = 300_000;

export const toolServers = defineFeature({
  name: "tool-servers",
  exported,
  schemas: named,
  tenantTables: ["tool_servers"],
  needs: { audit, credentials, egress, executionTokens, executions, incidents, references, secrets, tools },
  settings: {
    toolServers: json("SVC_TOOL_SERVERS", {
      meaning: "tool servers that operators define; tool_servers in the file",
      shape: "array",
      defaultText: "none",
      filePath: ["tool_servers"],
    }),
    toolServerPaths: text("SVC_TOOL_SERVER_PATHS", {
      meaning: "directories of the host, separated by commas, that programs of tool servers see read-only",
      pattern: /^(\/[^,\0]+(,\/[^,\0]+)*)?$/,
      bounds: "absolute paths",
      default: "",
    }),
  },
  contradictions: ({ toolServers }) => readServers(toolServers).problems,
  async open({ settings, ...node }, { audit, credentials, egress, executionTokens, executions, incidents, secrets }) {
    const { sql, now, newId, notices, runtime, dataDir, info, warn } = node;
    const { servers: configured, problems } = readServers(settings.toolServers);
    if (problems.length > 0) throw new ConfigError(problems);
    const environment = node.environmentAsSet();
    const { nodeId } = runtime;
    const failed = (error: unknown) => warn("tool_server", { error: String(error) });
    const records = toolServerRecords(sql);
    const logs = createLogs({ sql, nodeId, now, failed });
    const catalog = createCatalog((tenant) => records.visibleTo(tenant));
    const changed = ({ tenant }: Pick<ServerRow, "tenant">) => notices.tell("tool_server", tenant ?? "");
    const host = createHost({
      ...{ sql, records, logs, audit, incidents, nodeId, now, newId: () => crypto.randomUUID(), info, warn, dataDir },
      sandboxes: node.sandboxes,
      shown: settings.toolServerPaths === "" ? [] : settings.toolServerPaths.split(","),
      outside: node.outside,
      tokens: executionTokens.egress,
      values: resolvesValues({
        sql,
        secrets,
        audit,
        credentials: credentials.ofServers,
        variable: (name) => environment[name],
      }),
      store: storesListing({ sql, records, audit, incidents }),
      listed: changed,
    });
    const unhear = notices.on("tool_server", (key) => {
      catalog.forget(key === "" ? null : key);
      host.heard();
    });
    const servers = createToolServers({
      sql,
      records,
      audit,
      credentials: credentials.ofServers,
      changed,
      start: host.start,
    });
    const left = leftovers(records, node.sandboxes, now);
    executions.heldBy(left);
    egress.alsoServes({
      async policyOf({ executionId, tenant, instanceId }) {
        const [held] = await records.held([executionId]);
        if (held === undefined || ownerOf(held) !== tenant || !held.sandboxes.includes(instanceId)) return null;
        const [row] = await records.byIds([executionId]);
        const allowlist = row?.definition.egress ?? [];
        return policyOf(allowlist.length === 0 ? null : { mode: "deny", allowlist, denylist: [] });
      },
    });
    const due = await storeConfigured({ sql, records, audit, newId }, configured);
    let running: { readonly host: () => Promise<void>; readonly logs: () => Promise<void> } | null = null;
    const instances = new Gauge({
      name: "svc_tool_servers",
      help: "Tool servers of this node, by their status",
      labelNames: ["status"],
      registers: [],
      collect() {
        this.reset();
        for (const [status, count] of host.counts()) this.set({ status }, count);
      },
    });
    return {
      service: null,
      routes: toolServerRoutes({ sql, servers, logs, newId }),
      toolProviders: [toolServerProvider(catalog, host)],
      jobs: [
        () => {
          running = { host: host.run(), logs: logs.start() };
          for (const id of due) host.start(id);
          // Calls that are under way when the node begins to leave come to their end: see `close`.
          return () => {};
        },
      ],
      sweeps: [
        () =>
          repeatedly(
            sweepEveryMs,
            async () => removeChildFolders(dataDir, await left.folders(childFolder(dataDir))),
            failed,
          ),
      ],
      endWork: async (tenant) => {
        const left = await records.disableAll(tenant);
        changed({ tenant });
        return left === 0;
      },
      queues: [
        { name: "tool_server_calls", depth: host.waiting },
        { name: "tool_server_logs", depth: logs.waiting },
      ],
      metrics: [instances],
      async close() {
        unhear();
        await running?.host();
        await running?.logs();
      },
    };
  },
});
