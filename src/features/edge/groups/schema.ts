/** The wire shapes of groups. */
import { type Static, Type } from "@sinclair/typebox";
import { Selector } from "../../../../actors/edge/selector.ts";
import { Nullable, Text, Time } from "../../../../actors/kernel/schema.ts";
import { Uuid, uuidParam } from "../../../http/route.ts";

const groupMembers = {
  id: Text,
  group_id: Text,
  name: Text,
  tenant_id: Text,
  selector: Nullable(Selector),
  pinned_members: Type.Array(Text),
  created_by: Text,
  created_at: Time,
  updated_at: Time,
  resolved_member_count: Type.Integer(),
};

export const EdgeGroup = Type.Object(groupMembers);
export type EdgeGroup = Static<typeof EdgeGroup>;

const MemberStatus = Type.Union(
  (["connected", "unhealthy", "disconnected"] as const).map((status) => Type.Literal(status)),
);

export const EdgeGroupDetail = Type.Object({
  ...groupMembers,
  resolved_members: Type.Array(Type.Object({ node_id: Text, name: Text, status: MemberStatus })),
});
export type EdgeGroupDetail = Static<typeof EdgeGroupDetail>;

const Name = Type.String({
  maxLength: 256,
  description: "1–128 characters, blanks around them apart; unique in the tenant",
});
const Pinned = Type.Array(Uuid, {
  maxItems: 1000,
  description: "Hosts that are members without matching the selector",
});
/** Its forms are read by actors/edge/selector.ts. */
const Written = Type.Unknown({ description: "null selects nothing, {} every host" });

export const NewGroup = Type.Object(
  { name: Name, selector: Type.Optional(Written), pinned_members: Type.Optional(Pinned) },
  { examples: [{ name: "web", selector: { os: "linux", tags: [{ AnyOf: ["web", "api"] }] } }] },
);
export type NewGroup = Static<typeof NewGroup>;

export const GroupChange = Type.Object(
  { name: Type.Optional(Name), selector: Type.Optional(Written), pinned_members: Type.Optional(Pinned) },
  { examples: [{ selector: { tags: ["web"] } }] },
);
export type GroupChange = Static<typeof GroupChange>;

export const GroupId = Type.Object({ id: uuidParam() });

/** By the names that the API document gives them. */
export const named = {
  EdgeGroup,
  EdgeGroupDetail,
  NewEdgeGroup: NewGroup,
  EdgeGroupChange: GroupChange,
  HostSelector: Selector,
};
