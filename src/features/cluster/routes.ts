/** The routes of the cluster. They answer without the database, for callers that are known. */
import { defineRoute, type Route } from "../../http/route.ts";
import { ClusterNodes, ClusterStatus } from "./schema.ts";
import type { Cluster } from "./service.ts";

export const clusterRoutes = (cluster: Pick<Cluster, "status" | "nodes">): readonly Route[] => [
  defineRoute({
    method: "GET",
    path: "/v1/cluster/status",
    summary: "How the service's nodes are together, with each of them",
    scope: "node:read",
    whileDatabaseAway: true,
    responses: { 200: ClusterStatus },
    handler: () => cluster.status(),
  }),
  defineRoute({
    method: "GET",
    path: "/v1/cluster/nodes",
    summary: "The service's nodes, the one that has run for the longest first",
    scope: "node:list",
    whileDatabaseAway: true,
    responses: { 200: ClusterNodes },
    handler: () => cluster.nodes(),
  }),
];
