/** What nodes of an earlier and of a later version know, for tests that run both side by side. */
import { Type } from "@sinclair/typebox";
import { approval } from "../../../actors/approval/approval.ts";
import { ApprovalDecided, approvalProtocol } from "../../../actors/approval/messages.ts";
import { type AnyActorDefinition, defineActor } from "../../../actors/kernel/actor.ts";
import { tell } from "../../../actors/kernel/effect.ts";
import { defineProtocol, message } from "../../../actors/kernel/message.ts";
import { Nothing } from "../../../actors/kernel/schema.ts";
import { counter } from "../../harness/runtime/counter.ts";

const Bumped = Type.Object({ labels: Type.Array(Type.String()) });
const bump = Type.Object({ label: Type.String() });
/** The later version counts in units: in its state as well as in its message. */
const LaterBumped = Type.Object({ labels: Type.Array(Type.String()), unit: Type.Optional(Type.String()) });
const laterBump = Type.Object({ label: Type.String(), unit: Type.Optional(Type.String()) });

const meter = defineActor({
  ...defineProtocol({ kind: "meter", messages: { bump: message({ body: bump, reply: Type.Integer() }) } }),
  state: Bumped,
  receive: {
    bump: (state, { label }) => {
      const labels = [...(state?.labels ?? []), label];
      return { state: { labels }, reply: labels.length, effects: [] };
    },
  },
});

const laterMeter = defineActor({
  ...defineProtocol({
    kind: "meter",
    version: 2,
    messages: { bump: message({ body: laterBump, reply: Type.Integer() }) },
  }),
  state: LaterBumped,
  receive: {
    bump: (state, { label, unit = state?.unit }) => {
      const labels = [...(state?.labels ?? []), label];
      return { state: unit === undefined ? { labels } : { labels, unit }, reply: labels.length, effects: [] };
    },
  },
});

/** Asks people: its approval has its own key. */
const asker = defineActor({
  ...defineProtocol({
    kind: "asker",
    messages: {
      ask: message({ body: Nothing, reply: Type.Boolean() }),
      approval_decided: message({ body: ApprovalDecided }),
    },
  }),
  state: Type.Object({ decisions: Type.Array(Type.String()) }),
  receive: {
    ask: (state, _, { key, now }) => ({
      state: state ?? { decisions: [] },
      reply: true,
      effects: [
        tell(approvalProtocol, key, "open", {
          owner: { kind: "asker", key },
          kind: "workflow",
          execution_id: key,
          root_execution_id: key,
          workflow_id: null,
          workflow_name: null,
          state_name: null,
          visit: null,
          prompt: "Go on?",
          asked_at: now,
          // Half of them are decided by their timer.
          timeout_ms: key.endsWith("-late") ? 2_000 : 3_600_000,
          default_response: null,
          reject_on_timeout: false,
          approvers: [],
          required_role: null,
          quorum: 1,
          forbid_initiator: false,
          allow_agents: true,
          initiator: { kind: "user", sub: "ann", email: null },
          notify: [],
          remind_after_ms: null,
          escalate: null,
        }),
      ],
    }),
    approval_decided: (state, { status }) => ({
      state: { decisions: [...(state?.decisions ?? []), status] },
      effects: [],
    }),
  },
});

const { note: _note, ...earlierMessages } = counter.messages;

/** By version. The earlier one lacks a message, a shape of message and state, and two kinds, approvals among them. */
export const actorsOf: Readonly<Record<"earlier" | "later", readonly AnyActorDefinition[]>> = {
  earlier: [{ ...counter, messages: earlierMessages }, meter],
  later: [counter, laterMeter, asker, approval],
};

/** An effect that the earlier version does not know: replies to nodes. */
export const laterEffect = "reply";

/** A decision by one person. */
export const approves = {
  by: { sub: "bea", kind: "user", email: null, roles: [] },
  source: { http_request_id: null, ip: null, user_agent: null },
  manages_fleet: false,
  work_id: null,
  feedback: null,
  approved_by: null,
};
