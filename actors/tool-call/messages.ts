/** Everything that a waiting call can be told or asked, and what it answers. */
import { type Static, Type } from "@sinclair/typebox";
import type { ToolGrant } from "../agent/manifest/spec.ts";
import { ownerMessages } from "../approval/messages.ts";
import { aboutPeople } from "../approval/people.ts";
import { CallArguments } from "../approval/tool-call.ts";
import { Starter } from "../identity/starter.ts";
import { defineActivity, outcomeOf } from "../kernel/activity.ts";
import { AnyJson, JsonObject } from "../kernel/json.ts";
import { defineProtocol, message } from "../kernel/message.ts";
import { Milliseconds, Nothing, Nullable, Text } from "../kernel/schema.ts";
import type { RateUser } from "../policy/rates/limits.ts";
import { AskedApproval } from "../policy/security/clearance.ts";
import { CallingRun } from "../tool/calling-run.ts";
import { InvocationEntry } from "../tool/invocation.ts";

/** A call as it is kept while people decide: all that is needed to make it then, on any node. */
export const KeptCall = Type.Object({
  entry: InvocationEntry,
  tool: Text,
  arguments: JsonObject,
  idempotency_key: Text,
  request_id: Nullable(Text),
  execution: Nullable(
    Type.Object({
      id: Text,
      iteration: Type.Integer(),
      agent_id: Text,
      agent_name: Text,
      deadline_at: Nullable(Milliseconds),
    }),
  ),
  session_id: Nullable(Text),
  principal: Text,
  /** Whose permissions management tools use, and who opened the session; null: no identity. */
  starter: Nullable(Starter),
  opener: Nullable(Starter),
  user: Nullable(Type.Unsafe<RateUser>(AnyJson)),
  context: Text,
  ceilings: Type.Array(Text),
  grants: Nullable(Type.Array(Type.Unsafe<ToolGrant>(AnyJson))),
  patterns: Nullable(Type.Array(Text)),
  /** The addresses of starter and opener, as far as they are known; absent in calls of earlier versions. */
  starter_email: Type.Optional(Nullable(Text)),
  opener_email: Type.Optional(Nullable(Text)),
  /** Whether approvers are told by mail; absent: they are. */
  mails: Type.Optional(Type.Boolean()),
  /** The workflow run whose state makes it; absent: none does. */
  run: Type.Optional(CallingRun),
});
export type KeptCall = Static<typeof KeptCall>;

/** What a call came to, as callers of the pipeline are told. */
export const CallOutcome = Type.Object({
  outcome: Type.Union([Type.Literal("success"), Type.Literal("failed"), Type.Literal("withdrawn")]),
  result: JsonObject,
  /** Whether the tool was reached, or may have been; absent: it was, unless the call was withdrawn. */
  executed: Type.Optional(Type.Boolean()),
});
export type CallOutcome = Static<typeof CallOutcome>;

/** The call is a run on an edge host that people are asked about; made again once they have approved, it goes on. */
export const HeldCall = Type.Object({ fleet_command_id: Text, approval_id: Text, expires_at: Milliseconds });
export type HeldCall = Static<typeof HeldCall>;

/** Makes the call that people have approved. */
export const runCall = defineActivity({
  name: "tool_call.run",
  version: 3,
  input: Nothing,
  output: Type.Union([CallOutcome, Type.Object({ outcome: Type.Literal("held"), held: HeldCall })]),
});

/** Reads edited arguments as people may see them, and judges by today's policy whether they may run and who is asked. */
export const showCall = defineActivity({
  name: "tool_call.show",
  version: 2,
  input: Nothing,
  output: Type.Object({
    ...CallArguments.properties,
    /** Whom they concern and who has not been spared; absent in answers of earlier versions. */
    asked: Type.Optional(Type.Array(AskedApproval)),
    /** Why they may not run after all. */
    refused: Type.Optional(CallOutcome),
  }),
});

export const Opened = Type.Object({ approval_id: Text, expires_at: Text });
export type Opened = Static<typeof Opened>;

/** What the owner of a `CallingRun` takes from the calls of its states, each in one commit with what it tells of. */
export const callerMessages = {
  tool_waiting: message({ body: Type.Object({ invocation_id: Text, tool: Text, ...aboutPeople }) }),
  /** `fails_run`: people have not answered in time, and the policy that asked them wants the run to fail of that. */
  tool_ended: message({
    body: Type.Object({
      invocation_id: Text,
      tool: Text,
      outcome: CallOutcome,
      fails_run: Type.Optional(Type.Literal(true)),
    }),
  }),
};

export const toolCallProtocol = defineProtocol({
  kind: "tool_call",
  version: 4,
  messages: {
    /** Its first question is opened in the same commit. Repeatable. */
    open: message({
      body: Type.Object({ call: KeptCall, shown: CallArguments, asked: Type.Array(AskedApproval, { minItems: 1 }) }),
      reply: Nullable(Opened),
    }),
    /** It was made, and its run on a host asks people before it begins: the call waits with it. Repeatable. */
    hold: message({
      body: Type.Object({ call: KeptCall, shown: CallArguments, held: HeldCall }),
      reply: Nullable(Opened),
    }),
    ...ownerMessages,
    ran: message({ body: outcomeOf(runCall) }),
    seen: message({ body: outcomeOf(showCall) }),
    /**
     * Its caller is gone for good, or may not call any more. One that was made for a workflow run is given up even if it
     * runs by now. Repeatable.
     */
    withdraw: message({ body: Type.Object({ reason: Text }) }),
    /** What it came to is kept no longer. */
    erase: message({ body: Nothing }),
  },
});
export type ToolCallMessages = typeof toolCallProtocol.messages;
