/** The nodes as any of them tells of them all; of itself alone where the database does not answer. */
import { clusterHealth, nodeStatus } from "../../../actors/cluster/health.ts";
import { iso } from "../../../actors/kernel/time.ts";
import { withTimeout } from "../../lib/timers.ts";
import { isDatabaseUnavailable } from "../../store/postgres/pool.ts";
import type { ClusterRecords, NodeRow } from "./records.ts";
import type { ClusterNode, ClusterNodes, ClusterStatus, ClusterSummary, NodeDetails } from "./schema.ts";

export interface ClusterOptions {
  readonly records: ClusterRecords;
  readonly nodeId: string;
  /** What this node says of itself now. */
  readonly details: () => NodeDetails;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** How long the database may take to tell of the nodes, ms. */
const answersWithinMs = 2_500;

class Late extends Error {}

export type Cluster = ReturnType<typeof createCluster>;

export function createCluster({ records, nodeId, details, now }: ClusterOptions) {
  const startedAt = now();
  let isDraining = false;

  const itself = (): ClusterNode =>
    shown({
      id: nodeId,
      host: "",
      heartbeat_at: new Date(now()),
      started_at: new Date(startedAt),
      draining: isDraining,
      silent_ms: 0,
      details: details(),
    });

  async function all(): Promise<{ readonly source: ClusterNodes["source"]; readonly nodes: readonly ClusterNode[] }> {
    try {
      const nodes = (await withTimeout(records.list(), answersWithinMs, () => new Late())).map(shown);
      return { source: "cluster_repository", nodes: nodes.length > 0 ? nodes : [itself()] };
    } catch (error) {
      if (!(error instanceof Late || isDatabaseUnavailable(error))) throw error;
      return { source: "local_fallback", nodes: [itself()] };
    }
  }

  async function status(): Promise<ClusterStatus> {
    const { source, nodes } = await all();
    const statuses = nodes.map((node) => node.status);
    const count = (wanted: ClusterNode["status"]) => statuses.filter((one) => one === wanted).length;
    const controller = nodes.find((node) => node.status === "active") ?? nodes[0] ?? itself();
    const health = clusterHealth(statuses);
    return {
      source,
      controller_node_id: controller.id,
      total_nodes: nodes.length,
      active_nodes: count("active"),
      draining_nodes: count("draining"),
      unhealthy_nodes: count("unhealthy"),
      cluster_health: health,
      overall_status: health,
      started_at: controller.registered_at,
      uptime_seconds: Math.max(0, Math.floor((now() - Date.parse(controller.registered_at)) / 1000)),
      nodes: [...nodes],
    };
  }

  return {
    status,

    /** The status without the nodes. */
    async summary(): Promise<ClusterSummary> {
      const { nodes: _, ...summary } = await status();
      return summary;
    },

    async nodes(): Promise<ClusterNodes> {
      const { source, nodes } = await all();
      return { source, items: [...nodes], nodes: [...nodes], count: nodes.length };
    },

    /** Says how this node is. */
    tell: (): Promise<void> => records.tell(nodeId, isDraining, details()),

    /** This node was told to stop. */
    drain(): Promise<void> {
      isDraining = true;
      return records.tell(nodeId, true, details());
    },

    /** How long this node has run, s. */
    uptimeSeconds: (): number => Math.max(0, Math.floor((now() - startedAt) / 1000)),
  };
}

function shown({ id, host, heartbeat_at, started_at, draining, silent_ms, details }: NodeRow): ClusterNode {
  const heartbeat = iso(heartbeat_at.getTime());
  return {
    id,
    node_id: id,
    status: nodeStatus(silent_ms, draining),
    last_heartbeat: heartbeat,
    last_heartbeat_at: heartbeat,
    registered_at: iso(started_at.getTime()),
    ...(details ?? { ...unknown, hostname: host.split(":")[0] ?? "" }),
    grpc_address: null,
  };
}

/** Of a node that says nothing of itself. */
const unknown: NodeDetails = {
  hostname: "",
  role: "hybrid",
  version: "",
  capacity: { max_executions: 0, running_executions: 0 },
  cpu_cores: 0,
  available_memory_gb: 0,
  gpu_count: 0,
  vram_gb: 0,
  supported_runtimes: [],
  tags: [],
};
