/** Nodes and the cluster on the wire (docs/reference/cluster.md). */
import { type Static, Type } from "@sinclair/typebox";
import { Text, Time } from "../../../actors/kernel/schema.ts";

/** What a node says of itself, as its row holds it. */
export const NodeDetails = Type.Object({
  hostname: Text,
  role: Type.Union([Type.Literal("api"), Type.Literal("worker"), Type.Literal("hybrid")]),
  version: Text,
  capacity: Type.Object({ max_executions: Type.Integer(), running_executions: Type.Integer() }),
  cpu_cores: Type.Number(),
  available_memory_gb: Type.Number(),
  gpu_count: Type.Integer(),
  vram_gb: Type.Number(),
  supported_runtimes: Type.Array(Text),
  tags: Type.Array(Text),
});
export type NodeDetails = Static<typeof NodeDetails>;

export const ClusterNode = Type.Object({
  id: Text,
  node_id: Text,
  status: Type.Union([Type.Literal("active"), Type.Literal("draining"), Type.Literal("unhealthy")]),
  last_heartbeat: Time,
  last_heartbeat_at: Time,
  registered_at: Time,
  ...NodeDetails.properties,
  grpc_address: Type.Null(),
});
export type ClusterNode = Static<typeof ClusterNode>;

const Source = Type.Union([Type.Literal("cluster_repository"), Type.Literal("local_fallback")]);
const Health = Type.Union([Type.Literal("healthy"), Type.Literal("degraded"), Type.Literal("critical")]);

const summary = {
  source: Source,
  controller_node_id: Text,
  total_nodes: Type.Integer(),
  active_nodes: Type.Integer(),
  draining_nodes: Type.Integer(),
  unhealthy_nodes: Type.Integer(),
  cluster_health: Health,
  overall_status: Health,
  started_at: Time,
  uptime_seconds: Type.Integer(),
};
export const ClusterSummary = Type.Object(summary);
export type ClusterSummary = Static<typeof ClusterSummary>;
export const ClusterStatus = Type.Object({ ...summary, nodes: Type.Array(ClusterNode) });
export type ClusterStatus = Static<typeof ClusterStatus>;

export const ClusterNodes = Type.Object({
  source: Source,
  items: Type.Array(ClusterNode),
  nodes: Type.Array(ClusterNode),
  count: Type.Integer(),
});
export type ClusterNodes = Static<typeof ClusterNodes>;
