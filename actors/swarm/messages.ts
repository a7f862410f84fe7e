/** Everything a swarm can be told or asked, and what it answers. Its key is the id of the execution that founded it. */
import { type Static, Type } from "@sinclair/typebox";
import { AuditedBy } from "../kernel/audit.ts";
import { defineProtocol, message } from "../kernel/message.ts";
import { Nothing, Nullable, Text } from "../kernel/schema.ts";

export const SwarmStatus = Type.Union([Type.Literal("active"), Type.Literal("dissolving"), Type.Literal("dissolved")]);
export type SwarmStatus = Static<typeof SwarmStatus>;

/** `unknown`: it never had a member. `dissolved`: it is over, and nothing was done. */
export const SwarmCancelReply = Type.Object({
  outcome: Type.Union([Type.Literal("cancelled"), Type.Literal("dissolved"), Type.Literal("unknown")]),
});
export type SwarmCancelReply = Static<typeof SwarmCancelReply>;

/** What a swarm tells its members, which are executions. */
export const memberProtocol = defineProtocol({
  kind: "execution",
  messages: { cancel: message({ body: Type.Object({ reason: Nullable(Text) }) }) },
});

const Member = Type.Object({ execution_id: Text });

export const swarmProtocol = defineProtocol({
  kind: "swarm",
  version: 1,
  messages: {
    /** The first turn of an execution below the founder. */
    joined: message({ body: Member }),
    /** Its last turn. */
    left: message({ body: Member }),
    founder_ended: message({ body: Nothing }),
    /** The founder's record goes: the swarm's goes with it, or once the swarm is over. */
    founder_erased: message({ body: Nothing }),
    /** Cancels the members and dissolves it. Repeatable. */
    cancel: message({ body: Type.Object({ by: AuditedBy }), reply: SwarmCancelReply }),
    /** At the end of its tenant. */
    erase: message({ body: Nothing, reply: Type.Object({ outcome: Type.Literal("erased") }) }),
  },
});
export type SwarmMessages = typeof swarmProtocol.messages;
