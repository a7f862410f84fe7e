/** The wire shapes of hosts. */
import { type Static, Type } from "@sinclair/typebox";
import { Tag, Tags } from "../../../../actors/edge/tags.ts";
import { Nullable, Text, Time } from "../../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../../http/paging.ts";
import { uuidParam } from "../../../http/route.ts";

const Status = Type.Union([Type.Literal("disconnected"), Type.Literal("revoked")]);

export const EdgeHost = Type.Object({
  node_id: Text,
  id: Text,
  name: Text,
  tenant_id: Text,
  status: Status,
  connected: Type.Boolean(),
  accepting: Type.Boolean(),
  not_accepting: Type.Array(Type.Literal("held")),
  since: Time,
  enrolled_at: Time,
  tags: Type.Array(Text),
  key_fingerprint: Text,
  agent_version: Nullable(Text),
  created_by: Text,
  revoked_at: Nullable(Time),
});
export type EdgeHost = Static<typeof EdgeHost>;

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
  connected: Type.Optional(Type.Boolean()),
  status: Type.Optional(Status),
  include_revoked: Type.Optional(Type.Boolean({ description: "false when absent" })),
});
export type HostQuery = Static<typeof HostQuery>;
