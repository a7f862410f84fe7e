/** The wire shapes of fleet runs. */
import { type Static, Type } from "@sinclair/typebox";
import { Policy } from "../../../../actors/edge/policy.ts";
import { Target } from "../../../../actors/edge/target.ts";
import { EndReason, PauseReason, RequestedBy, RunStatus, Summary } from "../../../../actors/fleet-run/words.ts";
import { AnyJson, JsonObject } from "../../../../actors/kernel/json.ts";
import { Nullable, Text, Time } from "../../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../../http/paging.ts";
import { uuidParam } from "../../../http/route.ts";

const Count = Type.Integer({ minimum: 0 });
const words = <T extends string>(...of: readonly T[]) => Type.Union(of.map((word) => Type.Literal(word)));

export const FleetSettings = Type.Object({
  approve_all: Type.Boolean(),
  approve_above: Nullable(Type.Integer({ minimum: 0, maximum: 10_000 })),
  agent_runs: words("approve", "allow", "deny"),
  self_approval: Type.Boolean(),
  dispatch_enabled: Type.Boolean(),
});
export type FleetSettings = Static<typeof FleetSettings>;
export const FleetSettingsChange = Type.Partial(FleetSettings, { examples: [{ approve_above: 100 }] });
export type FleetSettingsChange = Static<typeof FleetSettingsChange>;

/** Forms of it are read by actors/edge/target.ts and actors/edge/policy.ts. */
const WrittenTarget = Type.Unknown({
  description: 'Which hosts: `{"Node": id}`, `{"Nodes": [id]}`, `{"Group": id or name}`, `{"Selector": {}}` or `"All"`',
});
const WrittenPolicy = Type.Optional(Type.Unknown({ description: "An object; what is absent has its default" }));

export const PreviewBody = Type.Object(
  { target: WrittenTarget, policy: WrittenPolicy },
  { examples: [{ target: { Selector: { tags: ["web"] } } }] },
);

export const InvokeBody = Type.Object(
  {
    target: WrittenTarget,
    tool: Type.Optional(Type.String({ maxLength: 256 })),
    tool_name: Type.Optional(Type.String({ maxLength: 256, description: "The same as `tool`" })),
    args: Type.Optional(JsonObject),
    security_context_name: Type.Optional(Nullable(Type.String({ maxLength: 256 }))),
    policy: WrittenPolicy,
  },
  { examples: [{ target: { Selector: { tags: ["web"] } }, tool: "cmd.run", args: { command: "uptime" } }] },
);
export type InvokeBody = Static<typeof InvokeBody>;

export const RetryBody = Type.Object(
  {
    statuses: Type.Optional(Type.Unknown({ description: "Ends of commands; failures when absent" })),
    policy: WrittenPolicy,
  },
  { examples: [{ statuses: ["err"] }] },
);
export const CancelBody = Type.Object({ reason: Type.Optional(Nullable(Type.String({ maxLength: 1024 }))) });

export const NamedHost = Type.Object({ node_id: Text, name: Text });
export const StandingHost = Type.Object({ node_id: Text, name: Text, status: Text });
export const SkippedHost = Type.Object({
  node_id: Text,
  name: Text,
  reason: words("Disconnected", "Unhealthy", "NotAccepting", "NotApproved"),
});

export const FleetPreview = Type.Object({
  resolved: Type.Array(StandingHost),
  queued: Type.Array(NamedHost),
  skipped: Type.Array(SkippedHost),
  count: Count,
  requires_approval: Type.Boolean(),
  waves: Type.Array(Type.Array(Text)),
});
export type FleetPreview = Static<typeof FleetPreview>;

export const Accepted = Type.Object({
  fleet_command_id: Text,
  status: RunStatus,
  targets_resolved: Count,
  targets_skipped: Count,
  stream_url: Text,
});
export type Accepted = Static<typeof Accepted>;

export const CancelledRun = Type.Object({
  fleet_command_id: Text,
  status: RunStatus,
  cancelled: Count,
  already_terminal: Count,
});
export const RunStanding = Type.Object({
  fleet_command_id: Text,
  status: RunStatus,
  pause_reasons: Type.Array(PauseReason),
});

/** What the row of a run holds; the rest is beside it. */
export const RunDocument = Type.Object({
  fleet_command_id: Text,
  id: Text,
  tenant_id: Text,
  tool: Text,
  policy: Policy,
  security_context_name: Nullable(Text),
  status: RunStatus,
  outcome: words("running", "complete", "halted", "cancelled"),
  reason: Nullable(Type.Union([EndReason, PauseReason])),
  pause_reasons: Type.Array(PauseReason),
  requested_by: RequestedBy,
  approval_id: Nullable(Text),
  retry_of: Nullable(Text),
  created_at: Time,
  started_at: Nullable(Time),
  ended_at: Nullable(Time),
  targets_resolved: Count,
  targets_skipped: Count,
  summary: Summary,
});
export type RunDocument = Static<typeof RunDocument>;

export const FleetRun = Type.Object({
  ...RunDocument.properties,
  target: Target,
  skipped: Type.Array(SkippedHost),
});
export type FleetRun = Static<typeof FleetRun>;

const result = {
  command_id: Text,
  attempt: Type.Integer({ minimum: 1 }),
  status: Text,
  exit_code: Nullable(Type.Integer()),
  error_kind: Nullable(Text),
  error_message: Nullable(Text),
  reason: Nullable(Text),
  dispatched_at: Nullable(Time),
  started_at: Nullable(Time),
  ended_at: Nullable(Time),
  duration_ms: Nullable(Type.Number()),
};
const Attempt = Type.Object(result);

export const FleetTarget = Type.Object({
  node_id: Text,
  name: Text,
  ...result,
  wave: Nullable(Count),
  outcome: Text,
  stdout_tail: Nullable(Text),
  stderr_tail: Nullable(Text),
  stdout_bytes: Nullable(Type.Number()),
  stderr_bytes: Nullable(Type.Number()),
  truncated: Nullable(Type.Boolean()),
  structured: AnyJson,
  late: Type.Boolean(),
  previous_attempts: Type.Array(Attempt),
});
export type FleetTarget = Static<typeof FleetTarget>;
export type FleetAttempt = Static<typeof Attempt>;

export const FleetRunDetail = Type.Object({
  ...FleetRun.properties,
  args: JsonObject,
  waves: Type.Object(
    { canary: Count, size: Count, hosts: Count },
    { description: "Of the hosts in order the first `hosts` go in waves: `canary` first, then `size` at a time" },
  ),
  per_node: Type.Array(FleetTarget),
  next_cursor: Nullable(Text),
});
export type FleetRunDetail = Static<typeof FleetRunDetail>;

export const RunId = Type.Object({ id: uuidParam() });
export const RunsQuery = Type.Object({
  ...pagingQuery,
  tool: Type.Optional(Type.String({ maxLength: 256 })),
  outcome: Type.Optional(RunDocument.properties.outcome),
  status: Type.Optional(RunStatus),
});
export type RunsQuery = Static<typeof RunsQuery>;

const endWords = ["ok", "err", "timed_out", "cancelled", "refused", "lost", "expired", "not_started"] as const;
export const RunQuery = Type.Object({
  ...pagingQuery,
  node_status: Type.Optional(words("pending", "dispatched", "running", ...endWords)),
});
export type RunQuery = Static<typeof RunQuery>;

export const StreamQuery = Type.Object({
  from: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Events behind this id; the header counts before it",
    }),
  ),
});
export const StreamHeaders = Type.Object({ "Last-Event-ID": Type.Optional(Type.String({ maxLength: 32 })) });

/** By the names that the API document gives them. */
export const named = {
  FleetPreview,
  NewFleetPreview: PreviewBody,
  NewFleetRun: InvokeBody,
  FleetRunAccepted: Accepted,
  FleetRunStanding: RunStanding,
  FleetRunCancelled: CancelledRun,
  FleetRun,
  FleetRunDetail,
  FleetRunHost: FleetTarget,
  FleetRunAttempt: Attempt,
  FleetRunTarget: Target,
  FleetRunPolicy: Policy,
  FleetRunSummary: Summary,
  FleetRunRequester: RequestedBy,
  RetryFleetRun: RetryBody,
  FleetSettings,
  FleetSettingsChange,
  SkippedHost,
};
