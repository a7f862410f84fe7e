/** One turn of an approval under construction: the next state beside the effects that go with it. */

import { type AuditedBy, auditEntry } from "../kernel/audit.ts";
import type { Json } from "../kernel/json.ts";
import { iso } from "../kernel/time.ts";
import { type Context, type Turn, TurnEffects } from "../kernel/turn.ts";
import { type Answer, resultOf, timeoutAnswer } from "./answers.ts";
import type { ApprovalMessages } from "./messages.ts";
import {
  type ApprovalDecided,
  approvalProtocol,
  type Decider,
  type NotificationEvent,
  type Open,
  ownerMessages,
  type Source,
  type Via,
} from "./messages.ts";
import { announcements } from "./notifications.ts";
import { approvalEvents, type EventDetails, type StoredEvent, storedEvent } from "./record.ts";
import { type ApprovalState, type DecidedBy, type Decision, nameOf } from "./state.ts";
import { type CallArguments, narrowest, type Remember } from "./tool-call.ts";
import { toldWatchers, withWatcher } from "./watching.ts";

/** Who decides, and how the decision came in; a link proves an address and no subject. */
export interface DecisionSource {
  readonly by: Omit<Decider, "sub"> & Pick<DecidedBy, "sub" | "issued_by">;
  readonly via: Via;
  readonly source: Source;
  readonly work_id: string | null;
}

/** The decider as records show it: of a link also who was handed it. */
export function decidedBy({ issued_by, ...by }: DecisionSource["by"]): DecidedBy {
  return { ...personOf(by), ...(issued_by === undefined ? {} : { issued_by }) };
}

/** A caller as records show one. */
export const personOf = ({
  sub,
  kind,
  email,
  realm,
}: Pick<DecisionSource["by"], "sub" | "kind" | "email" | "realm">) => ({
  sub,
  kind,
  email,
  ...(realm === undefined ? {} : { realm }),
});

function auditedDecider(by: DecisionSource["by"], source: Source): AuditedBy {
  const { sub, kind, email, roles, realm = null, client = null } = by;
  return {
    actor: { kind, realm, user_id: sub, role: roles[0] ?? null, key_id: null, name: email ?? client },
    ip: source.ip,
    user_agent: source.user_agent,
    request_id: source.http_request_id,
  };
}

/** What a decision is recorded with beside the answer itself. */
export interface DecisionDetails {
  readonly payload: Json;
  readonly approved_by: string | null;
  readonly rejected_by: string | null;
  /** Of a tool call: the arguments it is approved with, where they are others; and what is granted with it. */
  readonly edit?: CallArguments | undefined;
  readonly remember?: Remember | undefined;
  /** Digest of the arguments that the approver was shown; absent: it is not said which. */
  readonly seen_sha256?: string | undefined;
}
export const noDetails: DecisionDetails = { payload: null, approved_by: null, rejected_by: null };

/** The answer of an approval; `Reply` is never where no caller waits. */
export type Result<Reply = never> = Turn<ApprovalState, Reply, ApprovalMessages>;

export class ApprovalTurn extends TurnEffects<ApprovalMessages> {
  private next: ApprovalState;

  constructor(state: ApprovalState, context: Context) {
    super(approvalProtocol, context);
    this.next = state;
  }

  get state(): ApprovalState {
    return this.next;
  }
  get now(): number {
    return this.context.now;
  }

  change(members: Partial<ApprovalState>): void {
    this.next = { ...this.next, ...members };
  }

  /** Puts what a caller did on record in the audit log of the tenant. */
  audit(action: string, { by, source }: Pick<DecisionSource, "by" | "source">, details: Record<string, Json>): void {
    const { kind, execution_id, workflow_name, state_name } = this.next.request;
    this.fact(auditEntry, {
      by: auditedDecider(by, source),
      action: `approval.${action}`,
      target: { type: "approval", id: this.context.key },
      details: { kind, execution_id, workflow_name, state_name, ...details },
    });
  }

  /** Adds to the history, which only ever grows. */
  record(type: StoredEvent["type"], details: EventDetails = {}): void {
    this.append(approvalEvents, storedEvent(type, details));
  }

  announce(event: NotificationEvent): void {
    this.push(...announcements(this.context.key, this.next, event));
  }

  /** The answer is the decision: it is recorded, and the owner goes on with it in the same commit. */
  settle(answer: Answer, { by, via, source, work_id }: DecisionSource, details: DecisionDetails = noDetails): void {
    this.record(answer.status, { by, via, source, note: this.noteOf(answer, by) });
    this.decide(answer, { via, by: decidedBy(by), work_id }, details);
  }

  /** There was no decision in time. */
  timeOut(): void {
    this.record("timed_out", { via: "timeout" });
    this.decide(timeoutAnswer(this.next.request), { via: "timeout", by: null, work_id: null }, noDetails);
  }

  /** The owner no longer waits for the decision: there is no result, and the owner knows already. */
  withdraw(reason: string): void {
    this.record("withdrawn", { via: "cancel", note: reason });
    this.close("withdrawn", {
      at: this.now,
      via: "cancel",
      by: null,
      decision: null,
      response: null,
      feedback: null,
      approved_by: null,
      rejected_by: null,
      work_id: null,
    });
    this.forgetArguments();
    this.tellWatchers();
  }

  /** One more waits with the owner. */
  watch(watcher: Open["owner"]): void {
    const { status, watchers = [] } = this.next;
    if (status === "pending") this.change({ watchers: withWatcher(watchers, watcher) });
    else this.push(...toldWatchers(this.context, this.next, [watcher]));
  }

  private tellWatchers(): void {
    const { watchers = [] } = this.next;
    if (watchers.length === 0) return;
    this.push(...toldWatchers(this.context, this.next, watchers));
    this.change({ watchers: [] });
  }

  /** Of an approval by several people how many have agreed so far, of a link where it came from. */
  noteOf({ decision }: Pick<Answer, "decision">, { issued_by }: DecisionSource["by"]): string | null {
    const { quorum } = this.next.request;
    const parts = quorum > 1 && decision !== "rejected" ? [`${this.next.consents.length} of ${quorum}`] : [];
    if (issued_by === null) parts.push("by a link from a mail");
    else if (issued_by !== undefined) parts.push(`by a link that ${nameOf(issued_by)} issued`);
    return parts.length === 0 ? null : parts.join(", ");
  }

  private decide(answer: Answer, facts: Pick<Decision, "via" | "by" | "work_id">, details: DecisionDetails): void {
    const { payload, approved_by, rejected_by } = details;
    const { decision, response, feedback } = answer;
    this.close(answer.status, { at: this.now, ...facts, decision, response, feedback, approved_by, rejected_by });
    const { key, now } = this.context;
    const at = iso(now);
    const body: ApprovalDecided = {
      approval_id: key,
      status: answer.status,
      via: facts.via,
      decided_at: at,
      result: resultOf(key, answer, { by: facts.by, at, payload, approved_by, rejected_by }),
      ...this.callOutcome(answer),
    };
    this.forgetArguments();
    const { owner } = this.next.request;
    const to = { kind: owner.kind, messages: ownerMessages };
    this.tell(to, owner.key, "approval_decided", body, { coCommit: true });
    this.tellWatchers();
  }

  /** What the owner of a tool call is told beside the decision. */
  private callOutcome({ status, feedback }: Answer): Partial<ApprovalDecided> {
    const { call, consents, request } = this.next;
    if (call === undefined || request.tool_call === undefined) return {};
    if (status !== "approved") return { reason: feedback };
    const { arguments_sha256 } = request.tool_call;
    const edit = call.edited && call.given !== null ? { arguments: call.given, arguments_sha256 } : {};
    return { ...edit, remember: narrowest(consents.map(({ remember = "none" }) => remember)) };
  }

  /** No approver can edit them any more. */
  private forgetArguments(): void {
    const { call } = this.next;
    if (call !== undefined && call.given !== null) this.change({ call: { ...call, given: null } });
  }

  private close(status: ApprovalState["status"], decision: Decision): void {
    this.change({ status, decision });
    this.cancelTimer("expire");
    const { remind_after_ms, escalate } = this.next.request;
    if (remind_after_ms !== null) this.cancelTimer("remind");
    if (escalate !== null) this.cancelTimer("escalate");
    this.announce("resolved");
  }

  /** Closes the turn. Without `reply` the caller is never answered. */
  turn<Reply = never>(reply?: Reply): Result<Reply> {
    return { state: this.next, effects: this.effects, ...(reply === undefined ? {} : { reply }) };
  }
}

/** The answer to what changes nothing. */
export function unchanged<Reply = never>(state: ApprovalState | null, reply?: Reply): Result<Reply> {
  return { state, effects: [], ...(reply === undefined ? {} : { reply }) };
}
