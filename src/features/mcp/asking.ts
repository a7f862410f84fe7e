/**
 * Calls that wait for a person whom the caller's own client can ask: the question goes to the client as input that the
 * call requires, and the answer decides the approval as that person. Everything else about such a call, what it waits for
 * and how it ends, is as for every waiting call; a client that never comes back leaves it pending.
 */
import {
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { Identity } from "../../../actors/identity/identity.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { madeStorable } from "../../../actors/manifest/storable.ts";
import type { CallOutcome } from "../../../actors/tool-call/messages.ts";
import { type Approvals, deciderOf } from "../approvals/port.ts";
import type { WaitingCalls } from "../waiting-calls/port.ts";
import type { FaceCall } from "./call.ts";
import { type Answered, principalOf, type ToolCalls } from "./calls.ts";
import { requireScope } from "./refusal.ts";
import type { Carried, RequestStates } from "./request-state.ts";

/** What a call of the tool server came to, or what has to be asked first. */
export type Made =
  | Answered
  | { readonly is: "asks"; readonly question: InputRequiredResult }
  /** People had been asked. */
  | ({ readonly is: "ended" } & CallOutcome);

export interface AskingOptions {
  readonly calls: Pick<ToolCalls, "call" | "attempt">;
  readonly waiting: Pick<WaitingCalls, "question" | "get">;
  readonly approvals: Pick<Approvals, "mayDecide" | "record" | "approve" | "reject">;
  readonly states: RequestStates;
  readonly newId: () => string;
}

export type Asking = ReturnType<typeof createAsking>;

/** How long a call that was approved is waited for, s; `svc_invocation_get` reads on behind it. */
const waitSeconds = 50;
/** Characters of a question: people must see all that they decide about, and clients show it in one piece. */
const maxQuestion = 16_384;
const maxReason = 2_000;
const answerName = "decision";

export function createAsking({ calls, waiting, approvals, states, newId }: AskingOptions) {
  /** The open question for the caller's own person; null where the client may not, or cannot, ask it. */
  async function questionOf(call: FaceCall, { invocation_id }: Waiting): Promise<InputRequiredResult | null> {
    const { caller, elicits, key } = call;
    const { identity, tenant } = caller;
    if (!elicits || !mayAnswer(identity)) return null;
    const open = await waiting.question(whoOf(call), invocation_id);
    if (open?.elicit !== true) return null;
    const approvalId = open.approval_id;
    const by = deciderOf(identity, tenant);
    if (!(await approvals.mayDecide({ tenant, approvalId, by, managesFleet: false }))) return null;
    const { prompt, tool_call } = await approvals.record(tenant, approvalId);
    const message = `${prompt}\n\n${JSON.stringify(tool_call?.arguments ?? {}, null, 2)}`;
    if (tool_call?.truncated !== false || message.length > maxQuestion) return null;
    const carried = { invocationId: invocation_id, approvalId, seen: tool_call.arguments_sha256, key };
    return inputRequired({
      inputRequests: { [answerName]: inputRequired.elicit({ message, requestedSchema: form }) },
      requestState: states.seal(call, { ...carried, questionId: newId() }),
    });
  }

  async function asked(call: FaceCall, pending: Waiting): Promise<Made> {
    const question = await questionOf(call, pending);
    return question === null ? pending : { is: "asks", question };
  }

  /**
   * @returns false: another approver has changed the arguments since the question was put, so that nothing was decided
   * @throws Problem 403 for a person who may not decide this any more
   */
  async function decide({ caller }: FaceCall, carried: Carried, answer: Decision): Promise<boolean> {
    const { approvalId, questionId, seen } = carried;
    const { identity, tenant, source } = caller;
    requireScope(identity, answer.approves ? "approval:approve" : "approval:reject");
    const act = { tenant, approvalId, by: deciderOf(identity, tenant), source, managesFleet: false };
    try {
      if (answer.approves) await approvals.approve(act, questionId, { arguments_sha256: seen });
      else await approvals.reject(act, questionId, answer.reason, null);
    } catch (error) {
      if (error instanceof Problem && error.code === "arguments_changed") return false;
      // Another person, or the time that was over, was first: what came of it is what counts.
      if (!(error instanceof Problem) || error.code !== "approval_already_decided") throw error;
    }
    return true;
  }

  /** Goes on behind an answer. */
  async function goOn(call: FaceCall, carried: Carried): Promise<Made> {
    const answer = readAnswer(call.responses);
    const isDecided = answer.is === "decision" && (await decide(call, carried, answer));
    const who = whoOf(call);
    const { invocationId: invocation_id } = carried;
    const open = await waiting.question(who, invocation_id);
    if (open !== null) {
      const { approval_id, expires_at } = open;
      const pending = { is: "waiting", approval_id, expires_at, invocation_id } as const;
      // The next in turn may be asked as well, and who saw other arguments; who put the question aside, or is one of
      // several, is not asked again.
      const isAnswered = isDecided && approval_id === carried.approvalId;
      return answer.is === "aside" || isAnswered ? pending : asked(call, pending);
    }
    const { status, approval_id, expires_at, outcome, result } = await waiting.get(
      who,
      invocation_id,
      waitSeconds,
      call.signal,
    );
    if (status === "pending") {
      return { is: "waiting", approval_id: String(approval_id), expires_at: String(expires_at), invocation_id };
    }
    return { is: "ended", outcome: outcome as CallOutcome["outcome"], result: isObject(result) ? result : {} };
  }

  return {
    /**
     * What the client carried back, for a call that it makes again with an answer.
     * @throws ProtocolError for what was altered, is another caller's or call's, or too old
     */
    carriedBy(call: Parameters<RequestStates["open"]>[0], requestState: string): Carried {
      const carried = mayAnswer(call.caller.identity) ? states.open(call, requestState) : null;
      if (carried !== null) return carried;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", {
        reason: "invalid_request_state",
      });
    },

    /**
     * Makes a call of a tool of the service, or goes on with one.
     * @throws Problem as `ToolCalls.call`
     */
    async make(call: FaceCall, tool: string, given: { readonly [member: string]: Json }): Promise<Made> {
      const { caller, carried, key, signal } = call;
      if (carried !== null) return (await calls.attempt(caller, tool)) ?? goOn(call, carried);
      const answered = await calls.call(caller, { tool, given, key, signal });
      return answered.is === "waiting" ? asked(call, answered) : answered;
    },
  };
}

type Waiting = Extract<Answered, { readonly is: "waiting" }>;

const whoOf = ({ caller }: FaceCall) => ({ tenant: caller.tenant, principal: principalOf(caller) });

/** A person, by a token of an identity provider: no machine and no key, which programs keep. */
function mayAnswer({ kind, keyId, clientId, scopes }: Identity): boolean {
  const isPerson = kind !== "service_account" && keyId === null && clientId === null;
  return isPerson && scopes.has("approval:approve") && scopes.has("approval:reject");
}

const form = {
  type: "object" as const,
  properties: {
    decision: { type: "string" as const, title: "Decision", enum: ["approve", "reject"] },
    reason: { type: "string" as const, title: "Reason", description: "Why it is rejected", maxLength: maxReason },
  },
  required: ["decision"],
};

interface Decision {
  readonly is: "decision";
  readonly approves: boolean;
  /** Of a rejection. */
  readonly reason: string;
}

/** What the person said: nothing that can be used, that it is put aside, or a decision. */
function readAnswer(responses: Readonly<Record<string, unknown>>): Decision | { readonly is: "none" | "aside" } {
  const answer = responses[answerName];
  if (typeof answer !== "object" || answer === null || !("action" in answer)) return { is: "none" };
  if (answer.action === "cancel") return { is: "aside" };
  const declined = "Declined by the person in the client";
  if (answer.action === "decline") return { is: "decision", approves: false, reason: declined };
  const content = "content" in answer && answer.action === "accept" ? answer.content : null;
  if (typeof content !== "object" || content === null || !("decision" in content)) return { is: "none" };
  if (content.decision === "approve") return { is: "decision", approves: true, reason: "" };
  if (content.decision !== "reject") return { is: "none" };
  const said = "reason" in content && typeof content.reason === "string" ? content.reason.trim() : "";
  return { is: "decision", approves: false, reason: madeStorable(said).slice(0, maxReason).toWellFormed() || declined };
}
