/**
 * The life of an approval: a question to people that its owner, a workflow run, waits for.
 *
 *   ─open─▶ pending ─┬─ approve, signal, link ─▶ approved   (once enough different people have)
 *                    ├─ reject, signal, link ──▶ rejected   (one is enough)
 *                    ├─ signal ────────────────▶ responded  (neither a yes nor a no)
 *                    ├─ expires_at ────────────▶ timed_out
 *                    └─ withdraw ──────────────▶ withdrawn  (nobody waits any more)
 *
 * The first decision is the only one. From `expires_at` on there is none but the timeout's, even when its timer has
 * not fired yet: whoever comes then sets it off. Whoever may not decide (`deciding.ts`) is refused and noted, and the
 * question stays open. A decision, its record and the owner's next step are one commit.
 */

import { defineActor } from "../kernel/actor.ts";
import { iso } from "../kernel/time.ts";
import type { Context } from "../kernel/turn.ts";
import { type Answer, signalAnswer } from "./answers.ts";
import { hasConsented, peopleBehind, peopleOf, recipientRefusal, refusalOf } from "./deciding.ts";
import { approvalProtocol, type DecisionReply, type ForbiddenCode, type Open } from "./messages.ts";
import { accountOf } from "./notifications.ts";
import { ApprovalState } from "./state.ts";
import { type Actor, ApprovalTurn, noRemarks, type Remarks, type Result, unchanged } from "./turn.ts";

type State = ApprovalState | null;

/** Refusals noted of one approval: those that go on trying are known by then. */
const maxRefusals = 200;
/** Links that are good at once; older ones die first. */
const maxLinks = 100;
const maxLinksEver = 2000;

export const approval = defineActor({
  ...approvalProtocol,
  state: ApprovalState,
  receive: {
    open(state, request, context) {
      if (state !== null) return unchanged(state);
      const turn = new ApprovalTurn(asked(request), context);
      turn.record("requested");
      turn.announce("requested");
      setTimers(turn);
      return turn.turn();
    },

    approve(state, { feedback, approved_by, ...act }, context) {
      const answer: Answer = { status: "approved", decision: "approved", response: "approved", feedback };
      const remarks = { ...noRemarks, approved_by };
      return decide(state, context, { ...act, via: "approve" }, answer, remarks);
    },

    reject(state, { reason, rejected_by, ...act }, context) {
      const answer: Answer = { status: "rejected", decision: "rejected", response: "rejected", feedback: reason };
      const remarks = { ...noRemarks, rejected_by };
      return decide(state, context, { ...act, via: "reject" }, answer, remarks);
    },

    signal(state, { signal_name, text, payload, ...act }, context) {
      const answer = signalAnswer(signal_name, text);
      return decide(state, context, { ...act, via: "signal", work_id: null }, answer, { ...noRemarks, payload });
    },

    issue_link(state, { by, source, manages_fleet, recipient, hash }, context) {
      if (state === null) return unchanged(state, { outcome: "unknown" });
      const turn = new ApprovalTurn(state, context);
      if (!isOpen(turn)) return turn.turn(alreadyDecided(turn.state));
      if (state.links_issued >= maxLinksEver) return unchanged(state, { outcome: "too_many" });
      // A link in one's hands decides: who may not decide may not have one made, whoever is to use it.
      const own = by === null ? fleetRefusal(state) : refusalOf(state, by, manages_fleet);
      const code = own ?? recipientRefusal(state, recipient);
      if (code !== null) {
        if (by !== null) refuse(turn, { by, via: "link", source }, `${code}: a link for ${recipient}`);
        return turn.turn({ outcome: "forbidden", code });
      }
      const link = { hash, recipient, issuer: by === null ? [] : peopleOf(by), used: false };
      const links = [...state.links, link].slice(-maxLinks);
      turn.change({ links, links_issued: state.links_issued + 1 });
      turn.record("link_issued", { by, source, note: recipient });
      return turn.turn({ outcome: "issued", expires_at: iso(state.expires_at) });
    },

    decide_by_link(state, { hash, source, decision, feedback, reason }, context) {
      if (state === null) return unchanged(state, { outcome: "unknown" });
      const link = state.links.find((one) => one.hash === hash);
      const turn = new ApprovalTurn(state, context);
      if (!isOpen(turn)) return turn.turn(linkAfter(turn.state));
      if (link === undefined || link.used) return unchanged(state, { outcome: "link_expired" });
      turn.change({ links: state.links.map((one) => (one === link ? { ...one, used: true } : one)) });
      const by = { sub: null, kind: "link", email: link.recipient, roles: [] };
      const isYes = decision === "approve";
      const status = isYes ? "approved" : "rejected";
      const answer: Answer = { status, decision: status, response: status, feedback: isYes ? feedback : reason };
      return answered(turn, { by, via: "link", source, work_id: null }, answer, noRemarks, peopleBehind(link));
    },

    expire(state, _, context) {
      if (state?.status !== "pending") return unchanged(state);
      const turn = new ApprovalTurn(state, context);
      // The clock that woke it was ahead of this one. Whatever is missed here, the sweep finds.
      if (isOpen(turn)) turn.schedule("expire_again", state.expires_at, "expire", {});
      return turn.turn();
    },

    remind(state, _, context) {
      if (state?.status !== "pending" || state.reminded || context.now >= state.expires_at) return unchanged(state);
      const turn = new ApprovalTurn(state, context);
      turn.change({ reminded: true });
      turn.record("reminded");
      turn.announce("reminder");
      return turn.turn();
    },

    escalate(state, _, context) {
      const isDue = state?.status === "pending" && state.escalated_at === null && context.now < state.expires_at;
      if (!isDue) return unchanged(state);
      const turn = new ApprovalTurn(state, context);
      turn.change({ escalated_at: context.now });
      turn.record("escalated", { note: state.request.escalate?.approvers.join(", ") || null });
      turn.announce("escalated");
      return turn.turn();
    },

    withdraw(state, { reason }, context) {
      if (state?.status !== "pending") return unchanged(state);
      const turn = new ApprovalTurn(state, context);
      turn.withdraw(reason);
      return turn.turn();
    },

    notified(state, outcome, context) {
      const account = state === null ? null : accountOf(state, outcome);
      if (state === null || account === null) return unchanged(state);
      const turn = new ApprovalTurn(state, context);
      turn.record("notified", account);
      return turn.turn();
    },

    erase(state) {
      return state?.status === "pending" ? unchanged(state) : { state: null, effects: [] };
    },
  },
});

function asked(request: Open): ApprovalState {
  return {
    request,
    status: "pending",
    created_at: request.asked_at,
    expires_at: request.asked_at + request.timeout_ms,
    reminded: false,
    escalated_at: null,
    consents: [],
    links: [],
    links_issued: 0,
    refusals: 0,
    decision: null,
  };
}

/** One for the deadline; the others only where they are asked for, and due before it. */
function setTimers(turn: ApprovalTurn): void {
  const { request, created_at, expires_at } = turn.state;
  turn.schedule("expire", expires_at, "expire", {});
  const remindAt = created_at + (request.remind_after_ms ?? request.timeout_ms);
  if (remindAt < expires_at) turn.schedule("remind", remindAt, "remind", {});
  const escalateAt = created_at + (request.escalate?.after_ms ?? request.timeout_ms);
  if (escalateAt < expires_at) turn.schedule("escalate", escalateAt, "escalate", {});
}

/** Somebody known answers. */
function decide(
  state: State,
  context: Context,
  { manages_fleet, ...actor }: Actor & { readonly by: { readonly sub: string }; readonly manages_fleet: boolean },
  answer: Answer,
  remarks: Remarks,
): Result<DecisionReply> {
  if (state === null) return unchanged(state, { outcome: "unknown" });
  const earlier = earlierReply(state, actor.work_id);
  if (earlier !== null) return unchanged(state, earlier);
  const turn = new ApprovalTurn(state, context);
  if (!isOpen(turn)) return turn.turn(alreadyDecided(turn.state));
  const code = refusalOf(state, actor.by, manages_fleet);
  if (code !== null) {
    refuse(turn, actor, code);
    return turn.turn({ outcome: "forbidden", code });
  }
  return answered(turn, actor, answer, remarks, peopleOf(actor.by));
}

/**
 * An answer of somebody who may give it. A rejection decides. Anything else decides once as many different people have
 * given it as the quorum wants; who repeats theirs is counted once.
 */
function answered(
  turn: ApprovalTurn,
  actor: Actor,
  answer: Answer,
  remarks: Remarks,
  people: readonly string[],
): Result<DecisionReply> {
  const { by, work_id } = actor;
  const { quorum } = turn.state.request;
  if (answer.decision !== "rejected" && !hasConsented(turn.state, people)) {
    const consent = {
      by: { sub: by.sub, kind: by.kind, email: by.email },
      at: turn.now,
      feedback: answer.feedback,
      approved_by: remarks.approved_by,
      people: [...people],
      work_id,
    };
    turn.change({ consents: [...turn.state.consents, consent] });
    if (turn.state.consents.length < quorum) turn.record(answer.status, { ...actor, note: turn.progress(answer) });
  }
  const approvals = turn.state.consents.length;
  if (answer.decision !== "rejected" && approvals < quorum) {
    return turn.turn({ outcome: "counted", approvals, quorum });
  }
  turn.settle(answer, actor, remarks);
  return turn.turn(decidedReply(turn.state));
}

/** Whether a decision can still be taken. An approval whose time has passed is timed out by this very turn. */
function isOpen(turn: ApprovalTurn): boolean {
  if (turn.state.status !== "pending") return false;
  if (turn.now < turn.state.expires_at) return true;
  turn.timeOut();
  return false;
}

function refuse(turn: ApprovalTurn, actor: Omit<Actor, "work_id">, note: string): void {
  const { refusals } = turn.state;
  if (refusals >= maxRefusals) return;
  turn.change({ refusals: refusals + 1 });
  turn.record("refused", { ...actor, note });
}

/** Mail proves no scope. */
function fleetRefusal({ request }: ApprovalState): ForbiddenCode | null {
  return request.kind === "fleet_run" ? "insufficient_scope" : null;
}

/** What the same request was answered before; null when it is new. */
function earlierReply(state: ApprovalState, workId: string | null): DecisionReply | null {
  if (workId === null) return null;
  if (state.decision?.work_id === workId) return decidedReply(state);
  const nth = state.consents.findIndex((consent) => consent.work_id === workId);
  return nth < 0 ? null : { outcome: "counted", approvals: nth + 1, quorum: state.request.quorum };
}

const decidedAt = ({ decision }: ApprovalState): string => iso(decision?.at ?? 0);

function decidedReply(state: ApprovalState): DecisionReply {
  return { outcome: "decided", status: state.status, decided_at: decidedAt(state) };
}

function alreadyDecided(state: ApprovalState) {
  return { outcome: "already_decided" as const, status: state.status, decided_at: decidedAt(state) };
}

/** A link dies with its time and with whoever waited; of a decision by somebody its reader is told. */
function linkAfter(state: ApprovalState): DecisionReply {
  const isDead = state.status === "timed_out" || state.status === "withdrawn";
  return isDead ? { outcome: "link_expired" } : alreadyDecided(state);
}
