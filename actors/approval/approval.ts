/**
 * The life of an approval: a question to people that its owner, a workflow run, waits for.
 *
 *   ─open─▶ pending ─┬─ approve, signal, link ─▶ approved   (once enough different people have)
 *                    ├─ reject, signal, link ──▶ rejected   (one is enough)
 *                    ├─ signal ────────────────▶ responded  (neither a yes nor a no)
 *                    ├─ expires_at ────────────▶ timed_out
 *                    └─ withdraw ──────────────▶ withdrawn  (the owner no longer waits)
 *
 * The first decision is the only one. From `expires_at` on only the timeout decides, even when its timer has not
 * fired: the next message applies it. A caller without permission (`permissions.ts`) is refused, the refusal is
 * recorded, the approval stays open. A decision, its record and the owner's next step are one commit.
 */

import { defineActor } from "../kernel/actor.ts";
import { schedule } from "../kernel/effect.ts";
import { iso } from "../kernel/time.ts";
import type { Context } from "../kernel/turn.ts";
import { type Answer, signalAnswer } from "./answers.ts";
import { noteExecuted, replaceArguments, unfitness } from "./edits.ts";
import { approvalProtocol, type DecisionReply, type ForbiddenCode, type Open } from "./messages.ts";
import { notificationDetails } from "./notifications.ts";
import { decisionRefusal, hasConsented, isMisused, peopleBehind, peopleOf, recipientRefusal } from "./permissions.ts";
import { argumentsLog } from "./record.ts";
import { escapedJson } from "./shown.ts";
import { ApprovalState } from "./state.ts";
import type { CallArguments } from "./tool-call.ts";
import {
  ApprovalTurn,
  type DecisionDetails,
  type DecisionSource,
  decidedBy,
  noDetails,
  personOf,
  type Result,
  unchanged,
} from "./turn.ts";
import { toldWatchers } from "./watching.ts";

type State = ApprovalState | null;

/** Refusals recorded per approval; further ones are not. */
const maxRefusals = 200;
/** Links that are valid at once; the oldest expire first. */
const maxLinks = 100;
const maxLinksEver = 2000;

export const approval = defineActor({
  ...approvalProtocol,
  state: ApprovalState,
  timers: (state) => (state.status === "pending" ? timersOf(state) : []),
  receive: {
    open(state, { arguments: given, ...request }, context) {
      if (state !== null) return unchanged(state);
      const turn = new ApprovalTurn(asked(request, given), context);
      turn.record("requested");
      if (given !== undefined) turn.append(argumentsLog, { shown: escapedJson(given.redacted), sha256: given.sha256 });
      turn.announce("requested");
      turn.push(...timersOf(turn.state));
      return turn.turn();
    },

    approve(state, { feedback, approved_by, arguments: edit, remember, seen_sha256, ...act }, context) {
      const answer: Answer = { status: "approved", decision: "approved", response: "approved", feedback };
      const details = { ...noDetails, approved_by, edit, remember, seen_sha256 };
      return decide(state, context, { ...act, via: "approve" }, answer, details);
    },

    reject(state, { reason, rejected_by, ...act }, context) {
      const answer: Answer = { status: "rejected", decision: "rejected", response: "rejected", feedback: reason };
      const details = { ...noDetails, rejected_by };
      return decide(state, context, { ...act, via: "reject" }, answer, details);
    },

    signal(state, { signal_name, text, payload, ...act }, context) {
      // A signal is meant for a run; none of them decides about a tool call.
      if (state?.request.kind === "tool_call") return unchanged(state, notByThisWay);
      const answer = signalAnswer(signal_name, text);
      return decide(state, context, { ...act, via: "signal", work_id: null }, answer, { ...noDetails, payload });
    },

    issue_link(state, { by, source, manages_fleet, recipient, hash }, context) {
      if (state === null) return unchanged(state, { outcome: "unknown" });
      const turn = new ApprovalTurn(state, context);
      if (!isOpen(turn)) return turn.turn(alreadyDecided(turn.state));
      if (state.links_issued >= maxLinksEver) return unchanged(state, { outcome: "too_many" });
      // A link is enough to decide: an issuer who may not decide may not issue one, for any recipient.
      const own = by === null ? fleetRefusal(state) : decisionRefusal(state, by, manages_fleet);
      const code = own ?? recipientRefusal(state, recipient);
      if (code !== null) {
        if (by !== null) refuse(turn, { by, via: "link", source }, `${code}: a link for ${recipient}`);
        return turn.turn({ outcome: "forbidden", code });
      }
      const issued_by = by === null ? null : personOf(by);
      const link = { hash, recipient, issuer: by === null ? [] : peopleOf(by), issued_by, used: false };
      const links = [...state.links, link].slice(-maxLinks);
      turn.change({ links, links_issued: state.links_issued + 1 });
      turn.record("link_issued", { by, source, note: recipient });
      if (by !== null) turn.audit("link_issued", { by, source }, { recipient });
      return turn.turn({ outcome: "issued", expires_at: iso(state.expires_at) });
    },

    decide_by_link(state, { hash, source, decision, feedback, reason, seen_sha256, caller = null }, context) {
      if (state === null) return unchanged(state, { outcome: "unknown" });
      const link = state.links.find((one) => one.hash === hash);
      const turn = new ApprovalTurn(state, context);
      if (!isOpen(turn)) return turn.turn(linkAfter(turn.state));
      if (link === undefined || link.used) return unchanged(state, { outcome: "link_expired" });
      if (caller !== null && isMisused(link, caller)) {
        const code = "approver_not_allowed";
        refuse(turn, { by: caller, via: "link", source }, `${code}: a link for ${link.recipient}`);
        return turn.turn({ outcome: "forbidden", code });
      }
      const isYes = decision === "approve";
      const unfit = isYes ? unfitness(state, { seen_sha256 }) : null;
      // The link stays good: its holder looks again.
      if (unfit !== null) return turn.turn({ outcome: "unfit", code: unfit });
      turn.change({ links: state.links.map((one) => (one === link ? { ...one, used: true } : one)) });
      const by = { sub: null, kind: "link", email: link.recipient, roles: [], issued_by: link.issued_by ?? null };
      const status = isYes ? "approved" : "rejected";
      const answer: Answer = { status, decision: status, response: status, feedback: isYes ? feedback : reason };
      return answered(turn, { by, via: "link", source, work_id: null }, answer, noDetails, peopleBehind(link));
    },

    expire(state, _, context) {
      if (state?.status !== "pending") return unchanged(state);
      const turn = new ApprovalTurn(state, context);
      // The timer fired early by another node's clock; schedule again. The sweep covers a lost timer.
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

    watch(state, { owner }, context) {
      if (state === null) return { state, effects: toldWatchers(context, null, [owner]) };
      const turn = new ApprovalTurn(state, context);
      turn.watch(owner);
      return turn.turn();
    },

    executed: noteExecuted,

    notified(state, outcome, context) {
      const details = state === null ? null : notificationDetails(state, outcome);
      if (state === null || details === null) return unchanged(state);
      const turn = new ApprovalTurn(state, context);
      turn.record("notified", details);
      return turn.turn();
    },

    erase(state) {
      return state?.status === "pending" ? unchanged(state) : { state: null, effects: [] };
    },
  },
});

const notByThisWay: DecisionReply = { outcome: "forbidden", code: "approver_not_allowed" };

function asked(request: Open, given: CallArguments | undefined): ApprovalState {
  const { tool_call } = request;
  const kept = tool_call?.editable === true ? (given?.given ?? null) : null;
  const call = { given: kept, edited: false, executed: null, voided: [] };
  return {
    ...(tool_call === undefined ? {} : { call }),
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
function timersOf({ request, created_at, expires_at }: ApprovalState) {
  const remindAt = created_at + (request.remind_after_ms ?? request.timeout_ms);
  const escalateAt = created_at + (request.escalate?.after_ms ?? request.timeout_ms);
  return [
    schedule("expire", expires_at, "expire", {}),
    ...(remindAt < expires_at ? [schedule("remind", remindAt, "remind", {})] : []),
    ...(escalateAt < expires_at ? [schedule("escalate", escalateAt, "escalate", {})] : []),
  ];
}

/** An authenticated caller decides. */
function decide(
  state: State,
  context: Context,
  {
    manages_fleet,
    ...origin
  }: DecisionSource & { readonly by: { readonly sub: string }; readonly manages_fleet: boolean },
  answer: Answer,
  details: DecisionDetails,
): Result<DecisionReply> {
  if (state === null) return unchanged(state, { outcome: "unknown" });
  const earlier = earlierReply(state, origin.work_id);
  if (earlier !== null) return unchanged(state, earlier);
  const turn = new ApprovalTurn(state, context);
  if (!isOpen(turn)) return turn.turn(alreadyDecided(turn.state));
  const code = decisionRefusal(state, origin.by, manages_fleet);
  if (code !== null) {
    refuse(turn, origin, code);
    return turn.turn({ outcome: "forbidden", code });
  }
  const unfit = unfitness(state, details);
  if (unfit !== null) return turn.turn({ outcome: "unfit", code: unfit });
  return answered(turn, origin, answer, details, peopleOf(origin.by));
}

/**
 * A permitted answer. A rejection decides. Any other answer decides once as many different people have given it as the
 * quorum asks for; a person who repeats theirs is counted once.
 */
function answered(
  turn: ApprovalTurn,
  origin: DecisionSource,
  answer: Answer,
  details: DecisionDetails,
  people: readonly string[],
): Result<DecisionReply> {
  const { by, work_id } = origin;
  const { quorum } = turn.state.request;
  if (details.edit !== undefined) replaceArguments(turn, details.edit, origin);
  if (answer.decision !== "rejected" && !hasConsented(turn.state, people)) {
    const consent = {
      by: decidedBy(by),
      at: turn.now,
      feedback: answer.feedback,
      approved_by: details.approved_by,
      people: [...people],
      work_id,
      ...(details.remember === undefined ? {} : { remember: details.remember }),
    };
    turn.change({ consents: [...turn.state.consents, consent] });
    if (turn.state.consents.length < quorum) {
      turn.record(answer.status, { ...origin, note: turn.noteOf(answer, by) });
      auditAnswer(turn, origin, answer, false);
    }
  }
  const approvals = turn.state.consents.length;
  if (answer.decision !== "rejected" && approvals < quorum) {
    return turn.turn({ outcome: "counted", approvals, quorum });
  }
  turn.settle(answer, origin, details);
  auditAnswer(turn, origin, answer, true);
  return turn.turn(decidedReply(turn.state));
}

/** @param decides false: it was counted, and more people must agree */
function auditAnswer(turn: ApprovalTurn, origin: DecisionSource, answer: Answer, decides: boolean): void {
  const { issued_by } = origin.by;
  turn.audit(answer.status, origin, {
    via: origin.via,
    decides,
    approvals: turn.state.consents.length,
    quorum: turn.state.request.quorum,
    ...(issued_by === undefined ? {} : { link_issued_by: issued_by }),
  });
}

/** Whether a decision can still be taken. An approval whose time has passed is timed out by this very turn. */
function isOpen(turn: ApprovalTurn): boolean {
  if (turn.state.status !== "pending") return false;
  if (turn.now < turn.state.expires_at) return true;
  turn.timeOut();
  return false;
}

function refuse(turn: ApprovalTurn, origin: Omit<DecisionSource, "work_id">, note: string): void {
  const { refusals } = turn.state;
  if (refusals >= maxRefusals) return;
  turn.change({ refusals: refusals + 1 });
  turn.record("refused", { ...origin, note });
}

/** A decision link carries no scopes, so it cannot decide a fleet run. */
function fleetRefusal({ request }: ApprovalState): ForbiddenCode | null {
  return request.kind === "fleet_run" ? "insufficient_scope" : null;
}

/** What the same request was answered before; null when it is new. */
function earlierReply(state: ApprovalState, workId: string | null): DecisionReply | null {
  if (workId === null) return null;
  if (state.decision?.work_id === workId) return decidedReply(state);
  const voided = state.call?.voided.find(({ work_id }) => work_id === workId);
  if (voided !== undefined) return { outcome: "counted", approvals: voided.approvals, quorum: state.request.quorum };
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

/** After the approval closed: an expired or withdrawn one answers `link_expired`, a decided one tells the decision. */
function linkAfter(state: ApprovalState): DecisionReply {
  const isExpired = state.status === "timed_out" || state.status === "withdrawn";
  return isExpired ? { outcome: "link_expired" } : alreadyDecided(state);
}
