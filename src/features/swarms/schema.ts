/** Swarms on the wire (docs/reference/swarms.md). */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import { SwarmStatus } from "../../../actors/swarm/messages.ts";
import { pagingQuery } from "../../http/paging.ts";
import { Uuid } from "../../http/route.ts";

export const Swarm = Type.Object({
  swarm_id: Text,
  id: Text,
  parent_execution_id: Text,
  tenant_id: Text,
  member_ids: Type.Array(Text),
  member_count: Type.Integer(),
  status: SwarmStatus,
  created_at: Time,
  dissolved_at: Nullable(Time),
  lock_count: Type.Integer(),
  recent_message_count: Type.Integer(),
});
export type Swarm = Static<typeof Swarm>;

const inFull = {
  ...Swarm.properties,
  locks: Type.Array(Type.Object({ resource_id: Text, held_by: Text, acquired_at: Time, expires_at: Time })),
  recent_messages: Type.Array(Type.Object({ from: Text, to: Text, payload_bytes: Type.Integer(), sent_at: Time })),
};
const SwarmInFull = Type.Object(inFull);
export type SwarmInFull = Static<typeof SwarmInFull>;
export const SwarmDetail = Type.Object({ ...inFull, swarm: SwarmInFull });

export const SwarmFilter = Type.Object({
  ...pagingQuery,
  status: Type.Optional(SwarmStatus),
  execution_id: Type.Optional(
    Type.String({ ...Uuid, description: "The swarm that this execution founded or is a member of" }),
  ),
});
export type SwarmFilter = Static<typeof SwarmFilter>;
