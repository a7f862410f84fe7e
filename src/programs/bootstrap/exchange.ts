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

const maxRetries = 8;
const retryWindowMs = 300_000;
const firstBackoffMs = 500;
const maxBackoffMs = 30_000;
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
  while (true) {
    const answer = await deliver(JSON.stringify(message), input.llmTimeoutMs + replyGraceMs, parts);
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

/** Sends one message until it is answered for good: at most 8 repeats within 300 s, waits not counted. */
async function deliver(body: string, timeoutMs: number, parts: ExchangeParts): Promise<Delivery> {
  let retries = 0;
  let firstFailure: number | null = null;
  while (true) {
    const reply = await parts.send(body, timeoutMs);
    const verdict = judge(reply);
    if (verdict.kind === "body" || verdict.kind === "refused") return verdict;
    if (verdict.kind === "join") {
      parts.report("no answer in time; joining the work again");
      continue;
    }
    const backoff = parts.random() * Math.min(maxBackoffMs, firstBackoffMs * 2 ** retries);
    const wait = Math.max(backoff, verdict.afterMs ?? 0);
    firstFailure ??= parts.now();
    if (retries >= maxRetries || parts.now() + wait - firstFailure > retryWindowMs) {
      return { kind: "unavailable", reason: verdict.reason };
    }
    retries += 1;
    parts.report(`${verdict.reason}; retry ${retries} of ${maxRetries} in ${Math.round(wait)} ms`);
    await parts.sleep(wait);
  }
}

type Verdict =
  | Exclude<Delivery, { kind: "unavailable" }>
  | { readonly kind: "join" }
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs: number | null };

/** What one reply means for the exchange. */
export function judge(reply: Reply): Verdict {
  switch (reply.kind) {
    case "timed_out":
      return { kind: "join" };
    case "unreachable":
      return { kind: "retry", reason: `gateway unreachable (${reply.reason})`, afterMs: null };
    case "unreadable":
      return { kind: "retry", reason: "unreadable reply", afterMs: null };
    case "answered": {
      const body = reply.body as Record<string, unknown>;
      if (reply.status >= 200 && reply.status < 300) {
        const known = body.type === "final" || (body.type === "dispatch" && typeof body.dispatch_id === "string");
        return known ? { kind: "body", body } : { kind: "retry", reason: "unreadable reply", afterMs: null };
      }
      const code = typeof body.code === "string" ? body.code : "unknown";
      return isRetriable(reply.status, code)
        ? { kind: "retry", reason: `gateway answered ${reply.status} ${code}`, afterMs: reply.retryAfterMs }
        : { kind: "refused", status: reply.status, code };
    }
  }
}

function isRetriable(status: number, code: string): boolean {
  return status === 429 || status === 503 || status === 504 || (status === 502 && code === "upstream_network");
}
