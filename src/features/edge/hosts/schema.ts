/** The wire shapes of hosts. */
import { type Static, Type } from "@sinclair/typebox";
import { Tag, Tags } from "../../../../actors/edge/tags.ts";
import { CommandStatus } from "../../../../actors/edge-host/command.ts";
import { HostStatus, NotAccepting } from "../../../../actors/edge-host/state.ts";
import { Nullable, Text, Time } from "../../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../../http/paging.ts";
import { uuidParam } from "../../../http/route.ts";

const Machine = {
  os: Nullable(Text),
  arch: Nullable(Text),
  labels: Type.Record(Text, Text),
};

/** The daemon's own word. */
const Described = Type.Object({
  ...Machine,
  local_tools: Type.Array(Text),
  tools: Type.Array(Text),
  mount_points: Type.Array(Text),
  cpu_cores: Type.Optional(Type.Integer()),
  memory_mb: Type.Optional(Type.Integer()),
});

export const EdgeHost = Type.Object({
  node_id: Text,
  id: Text,
  name: Text,
  tenant_id: Text,
  status: HostStatus,
  connected: Type.Boolean(),
  accepting: Type.Boolean(),
  not_accepting: Type.Array(NotAccepting),
  since: Time,
  enrolled_at: Time,
  last_heartbeat_at: Nullable(Time),
  last_seen_at: Nullable(Time),
  tags: Type.Array(Text),
  ...Machine,
  capabilities: Described,
  key_fingerprint: Text,
  agent_version: Nullable(Text),
  boot_id: Nullable(Text),
  slots: Nullable(Type.Integer()),
  running: Type.Integer(),
  connection: Nullable(Type.Object({ epoch: Type.Integer(), since: Time, service_node: Text })),
  created_by: Text,
  revoked_at: Nullable(Time),
});
export type EdgeHost = Static<typeof EdgeHost>;

const HostCommand = Type.Object({
  command_id: Text,
  fleet_command_id: Text,
  tool: Text,
  dispatched_at: Nullable(Time),
  outcome: CommandStatus,
  exit_code: Nullable(Type.Integer()),
  duration_ms: Nullable(Type.Integer()),
});

export const EdgeHostDetail = Type.Object({
  ...EdgeHost.properties,
  recent_commands: Type.Array(HostCommand),
});
export type EdgeHostDetail = Static<typeof EdgeHostDetail>;

export const HostId = Type.Object({ id: uuidParam() });

/** Before blanks around it are taken away. */
const HostName = Type.String({ maxLength: 256, description: "1–128 characters, blanks around them apart" });

const SomeTags = Type.Optional(Tags);

export const HostChange = Type.Object(
  {
    name: Type.Optional(HostName),
    tags: Type.Optional({ ...Tags, description: "In place of those that it has" }),
    add_tags: SomeTags,
    remove_tags: SomeTags,
    accepting: Type.Optional(Type.Boolean({ description: "false: it gets no new commands" })),
  },
  { examples: [{ name: "web-1", tags: ["web"] }] },
);
export type HostChange = Static<typeof HostChange>;

export const TagsChange = Type.Object({ add: SomeTags, remove: SomeTags }, { examples: [{ add: ["web"] }] });
export type TagsChange = Static<typeof TagsChange>;

export const HostQuery = Type.Object({
  ...pagingQuery,
  tag: Type.Optional(Type.Array(Tag, { maxItems: 64, description: "Repeated: all of them" })),
  label: Type.Optional(
    Type.Array(Type.String({ maxLength: 320, pattern: "^[^=]{1,63}=" }), {
      maxItems: 64,
      description: "`name=value`; repeated: all of them",
    }),
  ),
  connected: Type.Optional(Type.Boolean()),
  status: Type.Optional(HostStatus),
  include_revoked: Type.Optional(Type.Boolean({ description: "false when absent" })),
});
export type HostQuery = Static<typeof HostQuery>;

/** By the names that the API document gives them. */
export const named = {
  EdgeHost,
  EdgeHostDetail,
  EdgeHostCapabilities: Described,
  EdgeHostCommand: HostCommand,
  EdgeHostChange: HostChange,
  EdgeHostTagsChange: TagsChange,
};
