/** How nodes are, and what that makes of the cluster. */

export type NodeStatus = "active" | "draining" | "unhealthy";
export type ClusterHealth = "healthy" | "degraded" | "critical";

/** Silence after which a node is unhealthy, and after which it is dropped, ms. */
export const unhealthyAfterMs = 45_000;
export const droppedAfterMs = 3_600_000;

/** A node that is silent says nothing of its drain any more. @param silentMs since its last heartbeat */
export function nodeStatus(silentMs: number, isDraining: boolean): NodeStatus {
  if (silentMs > unhealthyAfterMs) return "unhealthy";
  return isDraining ? "draining" : "active";
}

/** @param statuses of every node that is not dropped */
export function clusterHealth(statuses: readonly NodeStatus[]): ClusterHealth {
  const active = statuses.filter((status) => status === "active").length;
  if (active === 0) return "critical";
  if (active === statuses.length) return "healthy";
  return active * 2 >= statuses.length ? "degraded" : "critical";
}
