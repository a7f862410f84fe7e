/** The activities of output handlers: calling a webhook, and reading the accepted output back. */
import type { OutputHandler } from "../../actors/execution/plan.ts";
import type { ExecutionState } from "../../actors/execution/state.ts";
import { type GuardedOptions, type GuardedResponse, guardedFetch } from "../egress/guarded-fetch.ts";
import { EgressFailed, EgressRefused } from "../egress/outside.ts";
import { type ActivityContext, type ActivityDefinition, Retryable, type Runtime, Terminal } from "../runtime/port.ts";
import { contentTypeOf, handlerText, outputOf, requestHeaders } from "./output.ts";
import type { Plans } from "./plans.ts";

export interface HandlerOptions {
  readonly runtime: Pick<Runtime, "read" | "log">;
  readonly plans: Plans;
  readonly outside: GuardedOptions;
  /** Pause before the second attempt; it doubles. */
  readonly firstDelayMs?: number;
}

type Webhook = Extract<OutputHandler, { type: "webhook" }>;

const maxOutputBytes = 1_048_576;
/** As many as a manifest may ask for. */
const mostAttempts = 10;
const longestPauseMs = 30_000;

export function outputHandleActivity(options: HandlerOptions): ActivityDefinition {
  const { runtime, plans, outside, firstDelayMs = 1000 } = options;
  return {
    name: "output.handle",
    // Waiting for somebody else's server costs a node next to nothing.
    concurrency: 128,
    retry: { attempts: mostAttempts, firstDelayMs: 200 },
    run: async (_, context) => {
      const { actor, attempt, signal } = context;
      const stored = await runtime.read(actor);
      if (!stored) throw new Terminal("execution_not_found", "The execution was removed");
      const plan = await plans.of(actor);
      const handler = plan.output_handler;
      if (handler?.type !== "webhook") throw new Terminal("webhook_failed", "No webhook handles the output");
      // The runtime checked it against the actor's schema when it was written.
      const { header, iteration } = stored.state as unknown as ExecutionState;
      const output = await outputOf(runtime, actor);
      const run = { executionId: actor.key, header, plan, iteration: iteration.number, output };
      const body = handler.body_template === null ? output : handlerText(handler.body_template, run);
      try {
        return answered(await call(handler, body, context, outside), output);
      } catch (error) {
        if (signal.aborted || error instanceof Terminal) throw error;
        const { message, final } = failureOf(error);
        if (final || attempt >= handler.max_attempts) throw new Terminal("webhook_failed", message);
        throw new Retryable(message, Math.min(longestPauseMs, firstDelayMs * 2 ** (attempt - 1)));
      }
    },
  };
}

export function outputRecallActivity(runtime: Pick<Runtime, "log">): ActivityDefinition {
  return {
    name: "output.recall",
    concurrency: 32,
    retry: { attempts: 10, firstDelayMs: 200 },
    run: async (_, { actor }) => ({ output: await outputOf(runtime, actor) }),
  };
}

function call(
  { url, method, headers, timeout_ms }: Webhook,
  body: string,
  { id, signal }: ActivityContext,
  outside: GuardedOptions,
): Promise<GuardedResponse> {
  const defaults = { "Content-Type": contentTypeOf(body), "User-Agent": "svc" };
  return guardedFetch(
    {
      url,
      method,
      headers: requestHeaders(defaults, headers, { "Idempotency-Key": id }),
      body,
      timeoutMs: timeout_ms,
      maxBytes: maxOutputBytes,
      network: null,
      signal,
    },
    outside,
  );
}

/** The answer of a webhook: the new output, or nothing new. @throws NotTaken, Terminal */
function answered({ status, body, truncated }: GuardedResponse, output: string) {
  if (status < 200 || status > 299) throw new NotTaken(status);
  if (body.length === 0) return { output, truncated: false };
  const text = textOf(body, truncated);
  if (text === null) throw new Terminal("webhook_failed", "The webhook's answer is not UTF-8 text");
  return { output: text, truncated };
}

/** The receiver answered, but not with success. */
export class NotTaken extends Error {
  override readonly name = "NotTaken";
  constructor(readonly status: number) {
    super(`The webhook answered with status ${status}`);
  }
}

/** Where the answer was cut, so may its last character be. */
function textOf(body: Uint8Array, cut: boolean): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body, { stream: cut });
  } catch {
    return null;
  }
}

/** Statuses that another attempt may change. */
const passing: readonly number[] = [408, 425, 429];

/** What may be told of a failed request, the address as far as its host; `final`: the next attempt would fail too. */
export function failureOf(error: unknown): { readonly message: string; readonly final: boolean } {
  if (error instanceof NotTaken) {
    const { message, status } = error;
    return { message, final: status < 500 && !passing.includes(status) };
  }
  if (error instanceof EgressRefused) return { message: error.message, final: true };
  if (error instanceof EgressFailed) return { message: error.message, final: error.code === "invalid_url" };
  return { message: "The request could not be sent", final: false };
}
