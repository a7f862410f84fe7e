/** What people are asked about a call outside of a loop. */
import { type Open, ownerOf } from "../approval/messages.ts";
import { mailsTo } from "../approval/notifications.ts";
import { askedCall, type CallArguments, promptOf } from "../approval/tool-call.ts";
import type { AskedApproval } from "../policy/security/clearance.ts";
import { type KeptCall, toolCallProtocol } from "./messages.ts";

/** Changes of the arguments of one call; after so many, people can only agree or refuse. */
const maxEdits = 8;

interface Asked {
  readonly call: KeptCall;
  readonly shown: CallArguments;
  readonly edits?: number | undefined;
}

/** @param now Unix ms */
export function questionOf(
  { call, shown, edits = 0 }: Asked,
  invocationId: string,
  { from, approval }: AskedApproval,
  now: number,
): Open & { readonly arguments: CallArguments } {
  const tool_call = askedCall({
    tool: call.tool,
    arguments: shown,
    editable: approval.editable && edits < maxEdits,
    remember: approval.remember ?? "none",
    model_reason: null,
    agent_name: call.execution?.agent_name ?? null,
    iteration_number: call.execution?.iteration ?? null,
    invocation_id: invocationId,
    security_context: from === "manifest" ? null : from.context,
    capability_index: from === "manifest" ? null : from.capability_index,
  });
  return {
    owner: ownerOf(toolCallProtocol, invocationId),
    kind: "tool_call",
    ...placeOf(call, invocationId),
    prompt: promptOf(tool_call),
    asked_at: now,
    timeout_ms: approval.timeout_seconds * 1000,
    default_response: null,
    reject_on_timeout: !failsExecution(call, approval),
    approvers: approval.approvers,
    required_role: null,
    quorum: approval.quorum,
    forbid_initiator: approval.forbid_initiator,
    allow_agents: false,
    initiator: initiatorOf(call),
    ...openerOf(call),
    notify: call.mails === false ? [] : mailsTo(approval.approvers),
    remind_after_ms: null,
    escalate: null,
    tool_call,
    arguments: shown,
  };
}

/** Whether silence fails the execution; without one it is a rejection. */
export const failsExecution = (
  { execution, run }: Pick<KeptCall, "execution" | "run">,
  { on_timeout }: AskedApproval["approval"],
): boolean => (execution !== null || run !== undefined) && on_timeout === "fail";

/** Where the call was made: in a state of a workflow run, in an execution, or in neither. */
function placeOf({ execution, run }: KeptCall, invocationId: string) {
  if (run !== undefined) {
    const { id: execution_id, root_execution_id, workflow_id, workflow_name, state_name, visit } = run;
    return { execution_id, root_execution_id, workflow_id, workflow_name, state_name, visit };
  }
  const id = execution?.id ?? invocationId;
  const none = { workflow_id: null, workflow_name: null, state_name: null, visit: null };
  return { execution_id: id, root_execution_id: id, ...none };
}

function initiatorOf({ starter, starter_email = null }: KeptCall): Open["initiator"] {
  if (starter === null) return { kind: "unknown", sub: "", email: null };
  return { kind: starter.kind, sub: starter.sub, email: starter_email, realm: starter.realm };
}

/** Who speaks in the session of a call decides about it no more than who started its execution. */
function openerOf({ opener, opener_email = null }: KeptCall): { readonly opener?: Open["initiator"] } {
  if (opener === null) return {};
  return { opener: { kind: opener.kind, sub: opener.sub, email: opener_email, realm: opener.realm } };
}
