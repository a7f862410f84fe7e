/**
 * The conversation with the gateway: one question, then commands to run until there is a final answer.
 *
 * Every message may be sent again unchanged: the gateway joins work in progress or replays its reply.
 * That is what makes a restarted node, or another one, able to go on where the last one stopped.
 */
import type { ExecRequest, ExecResult } from "./exec.ts";
import { readExecRequest } from "./exec.ts";
import type { BootstrapInput } from "./input.ts";
import { LiveOutput } from "./live-output.ts";
import type { Reply, Send } from "./transport.ts";

/** Of messages that a gateway tried to answer and could not. */
const maxRetries = 8;
/** How long a message is repeated where the token does not say how long the execution may take. */
const unboundedMs = 300_000;
const firstBackoffMs = 500;
/** Asking a service that is away costs it nothing, and what waits for it should go on soon once it is back. */
const longestBackoffMs = { unreachable: 5_000, wait: 30_000, answer: 30_000 } as const;
/** A request waits this much longer than the model may take. */
const replyGraceMs = 30_000;

export type ExchangeOutcome =
  | { readonly kind: "final"; readonly content: string }
  /** The gateway said no; repeating would not help. */
  | { readonly kind: "refused"; readonly status: number; readonly code: string }
  | { readonly kind: "unavailable"; readonly reason: string };

export interface ExchangeParts {
  readonly send: Send;
  readonly exec: (request: ExecRequest, live: LiveOutput) => Promise<ExecResult>;
  readonly sleep: (ms: number) => Promise<void>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly report: (message: string) => void;
}

/** Runs the exchange to its end. */
export async function exchange(input: BootstrapInput, parts: ExchangeParts): Promise<ExchangeOutcome> {
  let message: Record<string, unknown> = {
    type: "generate",
    execution_id: input.executionId,
    agent_id: input.agentId,
    iteration_number: input.iteration,
    model_alias: input.modelAlias,
    prompt: input.prompt,
    messages: [],
  };
  const endsAt = input.lifetimeMs === null ? null : parts.now() + input.lifetimeMs;
  while (true) {
    const answer = await deliver(JSON.stringify(message), input.llmTimeoutMs + replyGraceMs, endsAt, parts);
    if (answer.kind !== "body") return answer;
    const { body } = answer;
    if (body.type === "final") {
      return { kind: "final", content: typeof body.content === "string" ? body.content : "" };
    }
    const request = readExecRequest(body);
    parts.report(`running ${request.command} (${request.args.length} arguments)`);
    const result = await parts.exec(request, liveOutput(input, String(body.dispatch_id), parts));
    parts.report(`${request.command} ended with ${result.exit_code} after ${result.duration_ms} ms`);
    message = {
      type: "dispatch_result",
      execution_id: input.executionId,
      dispatch_id: body.dispatch_id,
      ...result,
    };
  }
}

/** How long a message with output may take; the next one carries what it did not bring. */
const outputTimeoutMs = 10_000;

function liveOutput({ executionId }: BootstrapInput, dispatchId: string, { send, now }: ExchangeParts): LiveOutput {
  const head = { type: "dispatch_output", execution_id: executionId, dispatch_id: dispatchId };
  return new LiveOutput({
    now,
    async post(chunks) {
      const reply = await send(JSON.stringify({ ...head, chunks }), outputTimeoutMs);
      if (reply.kind !== "answered") return "later";
      if (reply.status >= 200 && reply.status < 300) return "taken";
      // A node of an earlier version does not know the message.
      return reply.status === 429 || reply.status >= 500 ? "later" : "never";
    },
  });
}

type Delivery =
  | { readonly kind: "body"; readonly body: Record<string, unknown> }
  | Exclude<ExchangeOutcome, { kind: "final" }>;

/**
 * Sends one message until it is answered for good. While no gateway answers, or all that one says is that it cannot now, that
 * is as long as the execution may take: an outage is no fault of the agent. What a gateway tried and could not do is
 * repeated `maxRetries` times.
 */
async function deliver(
  body: string,
  timeoutMs: number,
  endsAt: number | null,
  parts: ExchangeParts,
): Promise<Delivery> {
  let failures = 0;
  let failedAnswers = 0;
  let givesUpAt = endsAt;
  while (true) {
    const verdict = judge(await parts.send(body, timeoutMs));
    if (verdict.kind === "body" || verdict.kind === "refused") return verdict;
    if (verdict.kind === "join") {
      if (givesUpAt !== null && parts.now() > givesUpAt) return { kind: "unavailable", reason: "no answer in time" };
      parts.report("no answer in time; joining the work again");
      continue;
    }
    const { cause, reason, afterMs } = verdict;
    const ceiling = Math.min(longestBackoffMs[cause], firstBackoffMs * 2 ** failures);
    const wait = Math.max(parts.random() * ceiling, afterMs ?? 0);
    givesUpAt ??= parts.now() + unboundedMs;
    if (cause === "answer") failedAnswers += 1;
    if (failedAnswers > maxRetries || parts.now() + wait > givesUpAt) return { kind: "unavailable", reason };
    failures += 1;
    parts.report(`${reason}; retry ${failures} in ${Math.round(wait)} ms`);
    await parts.sleep(wait);
  }
}

type Verdict =
  | Exclude<Delivery, { kind: "unavailable" }>
  | { readonly kind: "join" }
  | { readonly kind: "retry"; readonly cause: Cause; readonly reason: string; readonly afterMs: number | null };

/** What is repeated: no gateway took the message; one asks to wait, or its reply was spoilt; one tried and failed. */
type Cause = "unreachable" | "wait" | "answer";

/** What one reply means for the exchange. */
export function judge(reply: Reply): Verdict {
  switch (reply.kind) {
    case "timed_out":
      return { kind: "join" };
    case "unreachable":
      return { kind: "retry", cause: "unreachable", reason: `gateway unreachable (${reply.reason})`, afterMs: null };
    case "unreadable":
      // A proxy before the nodes says so while there is no node.
      return unreadable(reply.status >= 500 ? "unreachable" : "wait");
    case "answered": {
      const body = reply.body as Record<string, unknown>;
      if (reply.status >= 200 && reply.status < 300) {
        const known = body.type === "final" || (body.type === "dispatch" && typeof body.dispatch_id === "string");
        return known ? { kind: "body", body } : unreadable("wait");
      }
      const { status, retryAfterMs: afterMs } = reply;
      const code = typeof body.code === "string" ? body.code : "unknown";
      const cause = status === 429 || status === 503 ? "wait" : "answer";
      return isRetriable(status, code)
        ? { kind: "retry", cause, reason: `gateway answered ${status} ${code}`, afterMs }
        : { kind: "refused", status, code };
    }
  }
}

const unreadable = (cause: Cause): Verdict => ({ kind: "retry", cause, reason: "unreadable reply", afterMs: null });

function isRetriable(status: number, code: string): boolean {
  return status === 429 || status === 503 || status === 504 || (status === 502 && code === "upstream_network");
}
