/** An approval as a workflow run opens it, and people who may have a say in it. */

import { approval } from "../../../actors/approval/approval.ts";
import type { Decider, Open } from "../../../actors/approval/messages.ts";
import { askedCall, type CallArguments, type CallToAsk, promptOf } from "../../../actors/approval/tool-call.ts";
import type { ActorDefinition } from "../../../actors/kernel/actor.ts";
import { Simulation } from "../simulate.ts";

export const minute = 60_000;
export const runId = "0198c1de-0000-7000-8000-000000000001";

/** One that nobody has opened yet. */
export const unopened = () => new Simulation(approval as unknown as ActorDefinition);

export function openBody(changes: Partial<Open> = {}): Open {
  return {
    owner: { kind: "workflow_run", key: runId },
    kind: "workflow",
    execution_id: runId,
    root_execution_id: runId,
    workflow_id: "0198c1de-0000-7000-8000-000000000002",
    workflow_name: "invoice-release",
    state_name: "SIGN",
    visit: 1,
    prompt: "Release INV-7 (5 characters)?",
    asked_at: Date.UTC(2031, 4, 2, 6),
    timeout_ms: 120 * minute,
    default_response: null,
    reject_on_timeout: false,
    approvers: [],
    required_role: null,
    quorum: 1,
    forbid_initiator: false,
    allow_agents: false,
    initiator: { kind: "operator", sub: "ida", email: "ida@example.com" },
    notify: [],
    remind_after_ms: null,
    escalate: null,
    ...changes,
  };
}

export function person(sub: string, changes: Partial<Decider> = {}): Decider {
  return { sub, kind: "operator", email: `${sub}@example.com`, roles: ["operator"], ...changes };
}

/** The arguments of a tool call as they are; no value in them is a secret. */
export const argumentsOf = (given: CallArguments["given"]): CallArguments => ({
  given,
  redacted: given,
  sha256: JSON.stringify(given),
});

/** As an execution asks about a tool call that waits. */
export function toolCallBody(changes: Partial<CallToAsk> = {}, more: Partial<Open> = {}) {
  const given = argumentsOf({ title: "Printer broken", priority: "high" });
  const tool_call = askedCall({
    tool: "tickets.create",
    arguments: given,
    editable: true,
    remember: "none",
    model_reason: null,
    agent_name: "clerk",
    iteration_number: 1,
    invocation_id: "0198c1de-0000-7000-8000-00000000000c",
    security_context: "build",
    capability_index: 0,
    ...changes,
  });
  return {
    ...openBody({
      owner: { kind: "execution", key: runId },
      kind: "tool_call",
      workflow_id: null,
      workflow_name: null,
      state_name: null,
      visit: null,
      prompt: promptOf(tool_call),
      reject_on_timeout: true,
      tool_call,
      ...more,
    }),
    arguments: changes.arguments ?? given,
  };
}

export const source = { http_request_id: "req-1", ip: "192.0.2.7", user_agent: "test" };

const act = (by: Decider) => ({ by, source, manages_fleet: false, work_id: null });

export const approveBody = (by: Decider, changes: object = {}) => ({
  ...act(by),
  feedback: null,
  approved_by: null,
  ...changes,
});
export const rejectBody = (by: Decider, changes: object = {}) => ({
  ...act(by),
  reason: "too dear",
  rejected_by: null,
  ...changes,
});
export const signalBody = (by: Decider, text: string, changes: object = {}) => ({
  by,
  source,
  manages_fleet: false,
  signal_name: null,
  text,
  payload: null,
  ...changes,
});
export const linkBody = (by: Decider | null, recipient: string, hash: string) => ({
  by,
  source,
  manages_fleet: false,
  recipient,
  hash,
});
export const byLink = (hash: string, decision: "approve" | "reject" = "approve") => ({
  source,
  hash,
  decision,
  feedback: null,
  reason: decision === "reject" ? "no" : null,
});
