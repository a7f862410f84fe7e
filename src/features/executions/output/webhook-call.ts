/** A webhook that is asked what an output becomes: one attempt, and what a failed one means. */
import type { NetworkSpec } from "../../../../actors/agent/manifest/spec.ts";
import {
  EgressFailed,
  EgressRefused,
  type GuardedOptions,
  type GuardedResponse,
  guardedFetch,
} from "../../../adapters/egress/port.ts";
import { type ActivityContext, Retryable, Terminal } from "../../../runtime/port.ts";
import { contentTypeOf, requestHeaders } from "./output.ts";

export interface WebhookRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What the manifest lists: an address off the open internet is called only where it does. */
  readonly network: NetworkSpec | null;
  readonly timeoutMs: number;
  /** Of all attempts; every one carries the same `Idempotency-Key`. */
  readonly maxAttempts: number;
  /** Pause before the second attempt; it doubles. 1000 when left out. */
  readonly firstDelayMs?: number | undefined;
}

export interface WebhookAnswer {
  /** "" when the webhook has nothing to say. */
  readonly output: string;
  /** Whether the answer was longer than an output may be, and was cut. */
  readonly truncated: boolean;
}

const maxOutputBytes = 1_048_576;
/** As many as a manifest may ask for. */
export const mostAttempts = 10;
const longestPauseMs = 30_000;

/**
 * The attempt of an activity.
 * @param failed told why the request came to nothing
 * @throws Terminal `webhook_failed`; Retryable while another attempt may help; what it threw when its signal is aborted
 */
export async function callWebhook(
  request: WebhookRequest,
  context: ActivityContext,
  outside: GuardedOptions,
  failed: (error: unknown) => void,
): Promise<WebhookAnswer> {
  const { attempt, signal } = context;
  const { maxAttempts, firstDelayMs = 1000 } = request;
  try {
    return answered(await call(request, context, outside));
  } catch (error) {
    if (signal.aborted || error instanceof Terminal) throw error;
    failed(error);
    const { message, final } = failureOf(error);
    if (final || attempt >= maxAttempts) throw new Terminal("webhook_failed", message);
    throw new Retryable(message, Math.min(longestPauseMs, firstDelayMs * 2 ** (attempt - 1)));
  }
}

function call(
  { url, method, headers, body, network, timeoutMs }: WebhookRequest,
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
      timeoutMs,
      maxBytes: maxOutputBytes,
      network,
      reach: "public",
      signal,
    },
    outside,
  );
}

/** @throws NotTaken, Terminal */
function answered({ status, body, truncated }: GuardedResponse): WebhookAnswer {
  if (status < 200 || status > 299) throw new NotTaken(status);
  if (body.length === 0) return { output: "", truncated: false };
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
