/**
 * Human: a person decides. The approval is an actor of its own that lives beside the run: it is opened in one commit
 * with the state's entry, and its deciding turn tells the run in one commit with the decision. It keeps its own time.
 */

import { type ApprovalDecided, approvalProtocol, type Open, ownerOf } from "../../../approval/messages.ts";
import { isObject, type Json } from "../../../kernel/json.ts";
import { iso } from "../../../kernel/time.ts";
import { type KindOfState, StateFault, type StateOf, type StateResult } from "../kind.ts";
import { workflowRunProtocol } from "../messages.ts";
import { settle } from "../settling.ts";
import type { RunTurn } from "../turn.ts";

export const humanKind: KindOfState<"Human"> = {
  keepsTime: true,

  enter(run, state) {
    const prompt = run.render(state.prompt);
    if (prompt.trim() === "") throw new StateFault("template_resolved_empty", "The prompt is blank once rendered");
    const approval_id = run.context.newIdBeside(approvalProtocol);
    const expires_at = run.now + timeoutOf(state);
    run.tell(approvalProtocol, approval_id, "open", openOf(run, state, prompt), { coCommit: true });
    run.work({ of: "human", approval_id, expires_at });
    run.emit("HumanInputRequested", {
      message: "Waiting for a decision",
      state_name: run.current.name,
      details: {
        approval_id,
        prompt,
        default_response: state.default_response,
        expires_at: iso(expires_at),
      },
    });
  },

  decided(run, { approval_id, status, via, decided_at, result }) {
    const { decision = null, response = null, feedback = null } = result;
    run.emit("HumanInputResolved", {
      message: `The approval was ${status}`,
      state_name: run.current.name,
      details: { approval_id, status, decision, via, decided_at },
    });
    run.note({ human: { feedback, response, decision, approver: approverOf(result) } });
    settle(run, { ...result, status: result.status === "success" ? "success" : "failed" });
  },

  leave(run, reason) {
    const { work } = run.current;
    if (work.of !== "human") return;
    run.tell(approvalProtocol, work.approval_id, "withdraw", { reason }, { coCommit: true });
  },

  overdue: (): StateResult => ({
    status: "failed",
    decision: "timed_out",
    response: "",
    timeout: true,
    error: "human_input_timeout",
  }),
};

function openOf(run: RunTurn, state: StateOf<"Human">, prompt: string): Open {
  const { header } = run.state;
  const { name, visit } = run.current;
  return {
    owner: ownerOf(workflowRunProtocol, run.id),
    kind: "workflow",
    execution_id: run.id,
    root_execution_id: header.root_execution_id,
    workflow_id: header.workflow_id,
    workflow_name: header.workflow_name,
    state_name: name,
    visit,
    prompt,
    asked_at: run.now,
    timeout_ms: timeoutOf(state),
    default_response: state.default_response,
    reject_on_timeout: state.reject_on_timeout,
    approvers: state.approvers,
    required_role: state.required_role,
    quorum: state.quorum,
    forbid_initiator: state.forbid_initiator,
    allow_agents: state.allow_agents,
    initiator: header.initiated_by,
    notify: state.notify,
    remind_after_ms: state.remind_after_ms,
    escalate: state.escalate,
  };
}

const defaultTimeoutMs = 3_600_000;
const timeoutOf = ({ timeout_ms }: StateOf<"Human">): number => timeout_ms ?? defaultTimeoutMs;

/** The person who decided, as authenticated: by e-mail address, else by subject. Null when no person did. */
function approverOf({ decided_by }: ApprovalDecided["result"]): Json {
  if (!isObject(decided_by)) return null;
  const { email, sub } = decided_by as { readonly [member: string]: Json };
  return email ?? sub ?? null;
}
