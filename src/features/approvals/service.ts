/** What can be done with approvals. Routes and workflow signals both come through here. */

import { approval } from "../../../actors/approval/approval.ts";
import type {
  ApprovalMessages,
  Decider,
  DecisionReply,
  ForbiddenCode,
  Source,
  UnfitCode,
} from "../../../actors/approval/messages.ts";
import { decisionRefusal } from "../../../actors/approval/permissions.ts";
import {
  type ApprovalEvent,
  type ApprovalRecord,
  approvalEvent,
  approvalEvents,
  approvalSummary,
  argumentsLog,
  type PendingApproval,
} from "../../../actors/approval/record.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { AskedTypeOf, BodyOf, ReplyOf } from "../../../actors/kernel/message.ts";
import { invalidField, Problem } from "../../../actors/kernel/problem.ts";
import { isStorableJson } from "../../../actors/manifest/storable.ts";
import { type ListText, listText, type Page } from "../../http/paging.ts";
import { type Address, MessageRejected, type Runtime } from "../../runtime/port.ts";
import { type CallEditor, callEdits } from "./call-edits.ts";
import { readHistoryFilter, readPendingFilter } from "./filters.ts";
import { hashOf, linkTo, newToken } from "./links/token.ts";
import type { ApprovalRecords, Listed } from "./records.ts";
import type { ApproveBody, AskedArguments, DecisionBody, HistoryQuery, PendingQuery } from "./schema.ts";

export interface ApprovalsOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: ApprovalRecords;
  /** Start of every decision link. */
  readonly publicUrl: string;
  /** Unix ms. */
  readonly now: () => number;
}

/** Who acts on which approval. */
export interface Act {
  readonly tenant: string;
  readonly approvalId: string;
  readonly by: Decider;
  readonly source: Source;
  /** Holds `aegis.edge.fleet.manage`: fleet runs need it. */
  readonly managesFleet: boolean;
}

export type Approvals = ReturnType<typeof createApprovals>;

/** Events of one approval that a record shows at most. */
const maxEvents = 5000;
/** Of each approval of a list. */
const maxEventsInList = 100;

export function createApprovals({ runtime, records, publicUrl, now }: ApprovalsOptions) {
  const approvals = runtime.of(approval);
  const edits = callEdits();

  /** @throws Problem 404 for what is unknown or foreign */
  async function ask<T extends AskedTypeOf<ApprovalMessages>>(
    tenant: string,
    approvalId: string,
    type: T,
    body: BodyOf<ApprovalMessages[T]>,
  ): Promise<ReplyOf<ApprovalMessages[T]>> {
    const actor = approvals.at(tenant, approvalId);
    try {
      return await actor.ask(type, body, { unordered: true });
    } catch (error) {
      if (error instanceof MessageRejected && (await actor.read()) === null) throw notFound();
      throw error;
    }
  }

  async function decide<T extends "approve" | "reject" | "signal">(
    { tenant, approvalId, ...act }: Act,
    type: T,
    more: Omit<BodyOf<ApprovalMessages[T]>, "by" | "source" | "manages_fleet">,
  ): Promise<DecisionBody> {
    // The compiler does not see that the two parts make the whole.
    const body = { ...acting(act), ...more } as BodyOf<ApprovalMessages[T]>;
    return decisionBody(approvalId, await ask(tenant, approvalId, type, body));
  }

  /** @throws Problem 404 `approval_not_found` */
  async function stateOf(tenant: string, approvalId: string): Promise<ApprovalState> {
    const state = await approvals.at(tenant, approvalId).read();
    if (state === null) throw notFound();
    return state;
  }

  /** What an edit means, and the digest of the arguments that it changes: it is no edit of any others. */
  async function readEdit(act: Act, edit: NonNullable<ApproveBody["arguments"]>) {
    const state = await stateOf(act.tenant, act.approvalId);
    const { tool_call } = state.request;
    const seen = tool_call === undefined ? {} : { seen_sha256: tool_call.arguments_sha256 };
    return { ...seen, arguments: await edits.read(act, state, edit) };
  }

  /** The histories of several approvals, by id. */
  async function eventsOf(ids: readonly string[]): Promise<ReadonlyMap<string, readonly ApprovalEvent[]>> {
    const behind = ids.map((key) => ({ key, seq: 0 }));
    const points = await approvals.logPoints(approvalEvents, behind, maxEventsInList);
    const entries = [...(await approvals.logEntries(approvalEvents, points))];
    entries.sort((one, other) => one.seq - other.seq);
    const byId = Map.groupBy(entries, ({ key }) => key);
    return new Map([...byId].map(([key, found]) => [key, found.map(approvalEvent)]));
  }

  return {
    /** What the latest decided approval of an execution came to, for a caller that comes too late; null: there is none. */
    async lastDecision(tenant: string, executionId: string) {
      const last = await records.lastDecision(tenant, executionId);
      return last === null ? null : { status: last.status, decided_at: last.decided_at.toISOString() };
    },

    /** Pending ones, oldest first. @throws Problem 422 */
    async pending(
      tenant: string,
      query: PendingQuery,
      page: Page,
    ): Promise<ListText<"pending_requests", PendingApproval>> {
      return sent("pending_requests", await records.pending(tenant, readPendingFilter(query), page, new Date(now())));
    },

    /** Decided ones with their events, the latest decision first. @throws Problem 422 */
    async history(tenant: string, query: HistoryQuery, page: Page): Promise<ListText<"approvals", ApprovalRecord>> {
      const listed = await records.decided(tenant, readHistoryFilter(query), page);
      const events = await eventsOf(listed.rows.map(({ approval_id }) => approval_id));
      const rows = listed.rows.map((row) => {
        const summary = JSON.parse(row.document) as object;
        return { ...row, document: JSON.stringify({ ...summary, events: events.get(row.approval_id) ?? [] }) };
      });
      return sent("approvals", { ...listed, rows });
    },

    /** How many calls of tools people are asked about now, as far as 1,000. */
    askedCalls: records.askedCalls,

    /** The pending object as JSON; null when it is unknown, foreign, decided or overdue. */
    open: (tenant: string, approvalId: string) => records.open(tenant, approvalId, new Date(now())),

    /** Everything about one, in any status. @throws Problem 404 `approval_not_found` */
    async record(tenant: string, approvalId: string): Promise<ApprovalRecord> {
      const state = await stateOf(tenant, approvalId);
      const events = await approvals.at(tenant, approvalId).log(approvalEvents, 0, maxEvents);
      return { ...approvalSummary(approvalId, tenant, state), events: events.map(approvalEvent) };
    },

    /** See `ApprovalRecords`. */
    waitingCalls: (tenant: string, executionId: string, most: number) =>
      records.waitingCalls(tenant, executionId, most),

    /** Whether a decision of the caller would be taken now. An unknown approval is none. */
    async mayDecide({ tenant, approvalId, by, managesFleet }: Omit<Act, "source">): Promise<boolean> {
      const state = await approvals.at(tenant, approvalId).read();
      const isOpen = state?.status === "pending" && now() < state.expires_at;
      return isOpen && decisionRefusal(state, by, managesFleet) === null;
    },

    /** Has edits of tool calls checked by those who run them: by the kind of the actor that asks. */
    editedBy: (ownerKind: string, editor: CallEditor): void => edits.add(ownerKind, editor),

    /** The arguments of a tool call by now. @throws Problem 404 `approval_not_found`, also for approvals of other kinds */
    async arguments(tenant: string, approvalId: string): Promise<AskedArguments> {
      const { request } = await stateOf(tenant, approvalId);
      const entries = await approvals.at(tenant, approvalId).log(argumentsLog, 0, maxEvents);
      const last = entries.at(-1)?.entry;
      if (request.tool_call === undefined || last === undefined) throw notFound();
      return { tool: request.tool_call.tool, arguments: last.shown, arguments_sha256: last.sha256 };
    },

    /**
     * @param workId of a request that may be repeated: the same again has the same answer
     * @throws Problem 404 `approval_not_found`, 409 `approval_already_decided`, 403, of a tool call also 409
     *   `arguments_changed`, 422 `arguments_not_editable`, `invalid_arguments`, `remember_not_allowed`
     */
    async approve(act: Act, workId: string, body: ApproveBody): Promise<DecisionBody> {
      const { feedback = null, approved_by = null, arguments: edit, arguments_sha256: seen, remember } = body;
      const changed = edit === undefined ? {} : await readEdit(act, edit);
      return decide(act, "approve", {
        work_id: workId,
        feedback,
        approved_by,
        ...changed,
        ...(seen === undefined ? {} : { seen_sha256: seen }),
        ...(remember === undefined ? {} : { remember }),
      });
    },

    /** As `approve`; the texts were checked already. */
    reject: (act: Act, workId: string, reason: string, rejectedBy: string | null) =>
      decide(act, "reject", { work_id: workId, reason, rejected_by: rejectedBy }),

    /**
     * Decides by a signal to a run; `signalText` of the actor's answers says what its text is.
     * @throws Problem 404 `approval_not_found`, 409 `approval_already_decided`, 403, 422 for text that cannot be stored
     */
    async signal(signal: Omit<Act, "managesFleet"> & Signal): Promise<DecisionBody> {
      const { signalName, text, payload, ...act } = signal;
      if (!isStorableJson([signalName, text, payload])) {
        throw invalidField("", "may not hold NUL or broken Unicode");
      }
      return decide({ ...act, managesFleet: false }, "signal", { signal_name: signalName, text, payload });
    },

    /**
     * Makes a decision link for a recipient, which is shown this once.
     * @throws Problem 403 when the caller or the recipient may not decide, 404, 409, 429
     */
    async issueLink(act: Act, recipient: string): Promise<{ readonly url: string; readonly expires_at: string }> {
      const token = newToken();
      const body = { ...acting(act), recipient, hash: hashOf(token) };
      const reply = await ask(act.tenant, act.approvalId, "issue_link", body);
      if (reply.outcome === "issued") return { url: linkTo(publicUrl, token), expires_at: reply.expires_at };
      if (reply.outcome === "unknown") throw notFound();
      if (reply.outcome === "forbidden") throw forbidden(reply.code);
      if (reply.outcome === "already_decided") throw alreadyDecided(reply);
      throw new Problem("rate_limited", "This approval has had too many links", {}, { "Retry-After": "3600" });
    },

    /** Whose a link is. @throws Problem 404 `approval_not_found` */
    async behindLink(token: string): Promise<Address> {
      const row = await records.ofLink(hashOf(token));
      if (row === null) throw notFound();
      return approvals.at(row.tenant, row.approval_id).address;
    },

    /** What a link asks about, and whether it can still decide. @throws Problem 404 */
    async askedByLink(
      at: Address,
      token: string,
    ): Promise<{ readonly state: ApprovalState; readonly isGood: boolean }> {
      const state = await stateOf(at.tenant, at.key);
      const link = state.links.find(({ hash }) => hash === hashOf(token));
      const isGood = state.status === "pending" && now() < state.expires_at && link?.used === false;
      return { state, isGood };
    },

    /**
     * @param caller who the request proved to come from besides the link; null where it proved no caller
     * @throws Problem 403 for the issuer of a link that was made for another, 404, 409 `approval_already_decided`,
     *   or `arguments_changed`, 410 `link_expired`
     */
    async decideByLink(
      at: Address,
      token: string,
      caller: Decider | null,
      answer: {
        readonly decision: "approve" | "reject";
        readonly feedback: string | null;
        readonly reason: string | null;
        /** Of a tool call: the digest of the arguments that the holder was shown; null: not said. */
        readonly seen: string | null;
      },
      source: Source,
    ): Promise<DecisionBody> {
      const { seen, ...said } = answer;
      const body = { caller, source, hash: hashOf(token), ...said, ...(seen === null ? {} : { seen_sha256: seen }) };
      return decisionBody(at.key, await ask(at.tenant, at.key, "decide_by_link", body));
    },
  };
}

const acting = ({ by, source, managesFleet }: Pick<Act, "by" | "source" | "managesFleet">) => ({
  by,
  source,
  manages_fleet: managesFleet,
});

export interface Signal {
  readonly signalName: string | null;
  readonly text: string;
  readonly payload: Json;
}

function sent<Alias extends string, Item>(alias: Alias, { rows, hasMore }: Listed): ListText<Alias, Item> {
  const last = hasMore ? rows.at(-1) : undefined;
  const next = last === undefined ? null : [String(last.at.getTime()), last.approval_id];
  return listText(
    alias,
    rows.map(({ document }) => document),
    next,
  );
}

function decisionBody(approvalId: string, reply: DecisionReply): DecisionBody {
  const subject = { approval_id: approvalId, request_id: approvalId };
  switch (reply.outcome) {
    case "decided":
      return { status: reply.status, ...subject, decided_at: reply.decided_at };
    case "counted":
      return { status: "pending", ...subject, approvals: reply.approvals, quorum: reply.quorum };
    case "already_decided":
      throw alreadyDecided(reply);
    case "forbidden":
      throw forbidden(reply.code);
    case "unfit":
      throw new Problem(reply.code, unfit[reply.code]);
    case "link_expired":
      throw linkExpired();
    default:
      throw notFound();
  }
}

const notFound = () => new Problem("approval_not_found", "There is no such approval");
export const linkExpired = () => new Problem("link_expired", "This link is no longer valid");

function alreadyDecided({
  status,
  decided_at,
}: {
  readonly status: string;
  readonly decided_at: string | null;
}): Problem {
  return new Problem("approval_already_decided", "This approval was already decided", { status, decided_at });
}

const unfit: Readonly<Record<UnfitCode, string>> = {
  arguments_not_editable: "The arguments of this call cannot be changed",
  remember_not_allowed: "This approval does not offer to remember that much",
  arguments_changed: "The arguments were changed meanwhile: look at them as they are now, and decide again",
};

const refusals: Readonly<Record<ForbiddenCode, string>> = {
  approver_not_allowed: "You are not among those who may decide this",
  self_approval_forbidden: "The person who started the execution may not decide this",
  insufficient_scope: "Deciding about a fleet run needs the scope aegis.edge.fleet.manage",
};

function forbidden(code: ForbiddenCode): Problem {
  return new Problem(
    code,
    refusals[code],
    code === "insufficient_scope" ? { required: "aegis.edge.fleet.manage" } : {},
  );
}
