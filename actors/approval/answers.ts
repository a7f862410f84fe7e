/** What a person's answer means, and the answer that a timeout gives (docs/reference/approvals.md). */
import type { Json } from "../kernel/json.ts";
import type { ApprovalStatus, Open } from "./messages.ts";
import type { DecidedBy } from "./state.ts";

const yes: ReadonlySet<string> = new Set(["yes", "y", "1", "true", "approve", "approved"]);
const no: ReadonlySet<string> = new Set(["no", "n", "0", "false", "reject", "rejected"]);

/** How the manifest's rules see an answer. */
export type ApprovalVerdict = "approved" | "rejected" | "responded";

/** An answer as it will be recorded. */
export interface Answer {
  /** Of the approval. */
  readonly status: Exclude<ApprovalStatus, "pending" | "withdrawn">;
  /** Of the result: `timed_out` where no default applies. */
  readonly decision: ApprovalVerdict | "timed_out";
  readonly response: string;
  readonly feedback: string | null;
}

/** Yes, no, or something else, in any case. */
export function verdictOf(text: string): ApprovalVerdict {
  const word = text.toLowerCase();
  if (yes.has(word)) return "approved";
  return no.has(word) ? "rejected" : "responded";
}

/** The text of a signal; null when it carries none. */
export function signalText(signal: {
  readonly response: string | null;
  readonly signal_name: string | null;
  readonly payload: Json;
}): string | null {
  const { response, signal_name, payload } = signal;
  if (response !== null) return response;
  if (typeof payload === "string") return payload;
  const inner = payload !== null && typeof payload === "object" && Object.hasOwn(payload, "response");
  const text = inner ? (payload as { readonly response?: Json }).response : undefined;
  if (typeof text === "string") return text;
  if (typeof text === "number" || typeof text === "boolean") return String(text);
  return signal_name;
}

/** A signal's name fixes the verdict where it is a yes or a no; its text does otherwise. */
export function signalAnswer(signalName: string | null, text: string): Answer {
  const named = signalName === null ? "responded" : verdictOf(signalName);
  const verdict = named === "responded" ? verdictOf(text) : named;
  return { status: verdict, decision: verdict, response: text, feedback: null };
}

/** The answer of the manifest where there was no decision in time. */
export function timeoutAnswer({ default_response, reject_on_timeout }: Open): Answer {
  const status = "timed_out";
  if (default_response !== null) {
    return { status, decision: verdictOf(default_response), response: default_response, feedback: null };
  }
  if (reject_on_timeout) return { status, decision: "rejected", response: "rejected", feedback: "timed out" };
  return { status, decision: "timed_out", response: "", feedback: null };
}

/** Why the run fails, should no rule of the state care. */
const errorCodes: { readonly [decision: string]: string } = {
  rejected: "approval_rejected",
  timed_out: "human_input_timeout",
};

/** The result of a Human state. */
export function resultOf(
  approvalId: string,
  answer: Answer,
  facts: {
    readonly by: DecidedBy | null;
    /** ISO 8601. */
    readonly at: string;
    readonly payload: Json;
    readonly approved_by: string | null;
    readonly rejected_by: string | null;
  },
): { readonly [member: string]: Json } {
  const { status, decision, response, feedback } = answer;
  const error = errorCodes[decision];
  return {
    status: error === undefined ? "success" : "failed",
    decision,
    response,
    feedback,
    payload: facts.payload,
    approved_by: facts.approved_by,
    rejected_by: facts.rejected_by,
    decided_by: facts.by,
    decided_at: facts.at,
    timeout: status === "timed_out",
    approval_id: approvalId,
    ...(error === undefined ? {} : { error }),
  };
}
