/** The dashboard on the wire (docs/reference/observability.md). */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Time } from "../../../actors/kernel/schema.ts";
import { allTenantsQuery } from "../audit/port.ts";
import { ClusterSummary } from "../cluster/schema.ts";

const ByStatus = Type.Record(Type.String(), Type.Integer());

/** What was started in each quarter of an hour, by what it is now; those in which nothing was are left out. */
export const Series = Type.Object({
  bucket_seconds: Type.Literal(900),
  buckets: Type.Array(Type.Object({ at: Time, executions: ByStatus, runs: ByStatus }), {
    description: "The oldest first; one in which nothing was started is left out",
  }),
});
export type Series = Static<typeof Series>;

export const Dashboard = Type.Object({
  generated_at: Time,
  uptime_seconds: Type.Integer(),
  window_hours: Type.Literal(24),
  cluster: Nullable(ClusterSummary),
  swarm_count: Type.Integer(),
  stimulus_count: Type.Integer(),
  security_incident_count: Type.Integer(),
  storage_violation_count: Type.Integer(),
  execution_count: Type.Integer(),
  workflow_execution_count: Type.Integer(),
  recent_execution_count: Type.Integer(),
  recent_workflow_execution_count: Type.Integer(),
  executions_by_status: ByStatus,
  series: Series,
});
export type Dashboard = Static<typeof Dashboard>;

export const DashboardQuery = Type.Object(allTenantsQuery);
