/** How nodes are, and what that makes of the cluster (docs/reference/cluster.md). */
import { expect, test } from "bun:test";
import { clusterHealth, type NodeStatus, nodeStatus, unhealthyAfterMs } from "../../../actors/cluster/health.ts";

test.each([
  [0, false, "active"],
  [0, true, "draining"],
  [unhealthyAfterMs, false, "active"],
  [unhealthyAfterMs + 1, false, "unhealthy"],
  [unhealthyAfterMs + 1, true, "unhealthy"],
] as const)("silent for %p ms, draining %p: %s", (silentMs, isDraining, status) => {
  expect(nodeStatus(silentMs, isDraining)).toBe(status);
});

const [on, off, out]: readonly NodeStatus[] = ["active", "unhealthy", "draining"];
test.each([
  [[], "critical"],
  [[on], "healthy"],
  [[on, on, on], "healthy"],
  [[on, off], "degraded"],
  [[on, out], "degraded"],
  [[on, off, off], "critical"],
  [[off, out], "critical"],
] as const)("nodes that are %p: %s", (statuses, health) => {
  expect(clusterHealth(statuses as readonly NodeStatus[])).toBe(health);
});
