/** Everything a fleet run can be told or asked, and what it answers. Its key is the fleet command's id. */
import { type Static, Type } from "@sinclair/typebox";
import { ownerMessages } from "../approval/messages.ts";
import { aboutPeople } from "../approval/people.ts";
import { Trace } from "../edge/frames.ts";
import { Policy } from "../edge/policy.ts";
import { fleetRuns, runMessages } from "../edge-host/command.ts";
import { outcomeOf } from "../kernel/activity.ts";
import { AuditedBy } from "../kernel/audit.ts";
import { defineProtocol, message } from "../kernel/message.ts";
import { Nothing, Nullable, Text } from "../kernel/schema.ts";
import { go, offer, resolve, stop } from "./activities.ts";
import { EndReason, Holding, PauseReason, RequestedBy, RunStatus, Summary } from "./words.ts";

const Count = Type.Integer({ minimum: 0 });

/** How many hosts a target means: those that can be reached, those that are waited for, those that are left out. */
export const Resolution = Type.Object({ eligible: Count, queued: Count, skipped: Count });
export type Resolution = Static<typeof Resolution>;

/** What people are asked before anything is sent. */
const Gate = Type.Object({
  prompt: Text,
  forbid_initiator: Type.Boolean(),
  initiator: Type.Object({ kind: Text, sub: Text, email: Nullable(Text), realm: Type.Optional(Text) }),
});

/** Who sent the run on its way and waits for its end: a workflow run, by a call of its own. */
export const Sender = Type.Object({ kind: Text, key: Text, invocation_id: Text });
export type Sender = Static<typeof Sender>;

/** What a sender takes from its run: that it is there, what people do about it, and how it ended. */
export const senderMessages = {
  fleet_waiting: message({ body: Type.Object({ fleet_command_id: Text, invocation_id: Text, ...aboutPeople }) }),
  fleet_ended: message({
    body: Type.Object({
      fleet_command_id: Text,
      invocation_id: Text,
      status: RunStatus,
      reason: Nullable(EndReason),
      summary: Summary,
    }),
  }),
};

export const Start = Type.Object({
  tool: Text,
  /** JSON of an object. */
  args: Text,
  security_context_name: Nullable(Text),
  policy: Policy,
  requested_by: RequestedBy,
  by: AuditedBy,
  retry_of: Nullable(Text),
  resolution: Resolution,
  /** Null: it needs no approval. */
  gate: Nullable(Gate),
  /** It is a tool call on one host: once people have approved it waits for the call, which is judged again first. */
  of_call: Type.Optional(Type.Literal(true)),
  /** Of the run that this one repeats, which covers it. */
  approval_id: Nullable(Text),
  /** Why it may not send anything now. */
  holds: Type.Array(Holding),
  trace: Nullable(Trace),
  /** Absent: none waits for it. */
  sender: Type.Optional(Sender),
});
export type Start = Static<typeof Start>;

export const Standing = Type.Object({ status: RunStatus, pause_reasons: Type.Array(PauseReason) });
export type Standing = Static<typeof Standing>;

export const StartReply = Type.Object({
  status: RunStatus,
  approval_id: Nullable(Text),
  targets_resolved: Count,
  targets_skipped: Count,
});
export type StartReply = Static<typeof StartReply>;

/** Null: there is no such run. */
export const CancelReply = Nullable(Type.Object({ status: RunStatus, cancelled: Count, already_terminal: Count }));
export type CancelReply = Static<typeof CancelReply>;

/** `done` is false where the run's status does not allow it. Null: there is no such run. */
export const PauseReply = Nullable(Type.Object({ done: Type.Boolean(), ...Standing.properties }));
export type PauseReply = Static<typeof PauseReply>;

const Act = Type.Object({ by: Nullable(AuditedBy), reason: Nullable(Text) });
const Hold = Type.Object({ reason: Holding });

export const fleetRunProtocol = defineProtocol({
  kind: fleetRuns.kind,
  version: 2,
  messages: {
    /** The target is stored already. Repeatable. */
    start: message({ body: Start, reply: StartReply }),
    ...ownerMessages,
    /** By the call that it is, which may go on now that people have approved. Repeatable. */
    proceed: message({ body: Nothing, reply: Nothing }),
    /** The target as it is once people have approved. */
    resolved: message({ body: outcomeOf(resolve) }),

    /** What became of commands that were handed over, let go, stopped. */
    offered: message({ body: outcomeOf(offer) }),
    gone: message({ body: outcomeOf(go) }),
    stopped: message({ body: outcomeOf(stop) }),
    /** From hosts. */
    ...runMessages,

    /** From people. Answered once nothing starts any more. Repeatable, as the others. */
    pause: message({ body: Act, reply: PauseReply }),
    resume: message({ body: Act, reply: PauseReply }),
    cancel: message({ body: Act, reply: CancelReply }),
    /** From the service: a state of the tenant keeps runs from sending; it does no more. */
    hold: message({ body: Hold, reply: Nothing }),
    unhold: message({ body: Hold, reply: Nothing }),

    /** Timers: the run's deadline; the pause behind the canary or before a round of retries; hosts that were full. */
    deadline: message({ body: Nothing }),
    wake: message({ body: Nothing }),
    again: message({ body: Nothing }),
    /** A timer: its call has not gone on. */
    unclaimed: message({ body: Nothing }),
    /** By the retention sweep, and for a tenant that is erased. */
    erase: message({ body: Nothing, reply: Nothing }),
  },
});
export type FleetRunMessages = typeof fleetRunProtocol.messages;
