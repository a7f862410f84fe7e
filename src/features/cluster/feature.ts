/** The cluster: what nodes are there, how they are, and what each of them can do. */
import { hostname } from "node:os";
import { version } from "../../../package.json";
import { text } from "../../config/setting.ts";
import { availableMemory, usableCores } from "../../lib/machine.ts";
import { repeatedly } from "../../lib/timers.ts";
import { changes } from "../changes/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { clusterRecords } from "./records.ts";
import { clusterRoutes } from "./routes.ts";
import { ClusterNode, ClusterStatus, ClusterSummary } from "./schema.ts";
import { createCluster } from "./service.ts";
import { createNodeTelling } from "./telling.ts";

const tellEveryMs = 15_000;
const lookEveryMs = 3_000;
const gib = 1024 ** 3;

export const cluster = defineFeature({
  name: "cluster",
  needs: { changes, executions },
  schemas: { ClusterNode, ClusterStatus, ClusterSummary },
  settings: {
    nodeTags: text("SVC_NODE_TAGS", {
      meaning: "what operators call this node by in the list of nodes, separated by commas",
      pattern: /^(?:[\w.:/-]{1,64}(?:,[\w.:/-]{1,64}){0,31})?$/,
      bounds: "up to 32 of 1–64 letters, digits and _ . : / -",
      default: "",
    }),
  },
  open({ settings, sql, runtime, sandboxes, now, warn }, { changes, executions }) {
    const tags = settings.nodeTags === "" ? [] : settings.nodeTags.split(",");
    const cluster = createCluster({
      records: clusterRecords(sql),
      nodeId: runtime.nodeId,
      now,
      details: () => ({
        hostname: hostname(),
        // Every node answers requests and works on executions.
        role: "hybrid",
        version,
        capacity: { max_executions: executions.capacity.most, running_executions: executions.capacity.running() },
        cpu_cores: usableCores(),
        available_memory_gb: Math.round((availableMemory() / gib) * 100) / 100,
        // No sandbox gives an agent a graphics processor.
        gpu_count: 0,
        vram_gb: 0,
        supported_runtimes: [...sandboxes.offered],
        tags,
      }),
    });
    const report = (error: unknown) => warn("cluster", { error: String(error) });
    return {
      service: cluster,
      routes: clusterRoutes(cluster),
      jobs: [
        () => repeatedly(tellEveryMs, cluster.tell, report),
        () => repeatedly(lookEveryMs, createNodeTelling({ nodes: cluster.nodes, changes }), report),
      ],
      leaving: () => void cluster.drain().catch(report),
    };
  },
});
