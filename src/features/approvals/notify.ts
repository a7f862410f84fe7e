/** The activity `approval.notify`: tells one destination of one event of an approval. */
import { Value } from "@sinclair/typebox/value";
import { Webhook } from "standardwebhooks";
import { LinkReply } from "../../../actors/approval/messages.ts";
import {
  type Destination,
  destinationsOf,
  NOTIFY,
  Notification,
  newsOf,
} from "../../../actors/approval/notifications.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import { type GuardedOptions, guardedFetch } from "../../adapters/egress/port.ts";
import type { Mail } from "../../adapters/mail/port.ts";
import { signatureHeader, signatureOf } from "../../lib/signature.ts";
import {
  type ActivityContext,
  type ActivityDefinition,
  Retryable,
  type Runtime,
  Terminal,
} from "../../runtime/port.ts";
import { letterOf } from "./letter.ts";
import { hashOf, linkTo, newToken } from "./token.ts";

export interface NotifyOptions {
  readonly runtime: Pick<Runtime, "read">;
  readonly outside: GuardedOptions;
  /** Null: no mail is sent from here. */
  readonly mail: Mail | null;
  /** Start of every decision link; null: mails carry none. */
  readonly publicUrl: string | null;
  /** Unix ms. */
  readonly now: () => number;
  /** Pause before the second attempt; it doubles. The contract's 10 s when left out. */
  readonly firstDelayMs?: number;
}

type News = ReturnType<typeof newsOf>;

const maxAttempts = 5;
const timeoutMs = 30_000;
/** What a destination answers is read no further. */
const maxAnswerBytes = 4096;

export function approvalNotifyActivity(options: NotifyOptions): ActivityDefinition {
  const { runtime, firstDelayMs = 10_000 } = options;
  return {
    name: NOTIFY,
    // A destination that does not answer keeps its place for a while; tenants get theirs in turn.
    concurrency: 256,
    retry: { attempts: maxAttempts, firstDelayMs },
    run: async (input, context) => {
      const { event, place } = Value.Parse(Notification, input);
      const { actor, attempt, signal } = context;
      const stored = await runtime.read(actor);
      // The runtime checked it against the actor's schema when it was written.
      const state = stored?.state as unknown as ApprovalState | undefined;
      const destination = state && destinationsOf(state, event)[place];
      if (state === undefined || destination === undefined) throw new Terminal("approval_not_found", "It was erased");
      try {
        await send(destination, newsOf(actor.key, actor.tenant, state, event), context, options);
        return null;
      } catch (error) {
        if (signal.aborted || error instanceof Terminal) throw error;
        const message = error instanceof Error ? error.message : String(error);
        if (attempt < maxAttempts) throw new Retryable(message, firstDelayMs * 2 ** (attempt - 1));
        throw new Terminal("notification_failed", message);
      }
    },
  };
}

function send(destination: Destination, news: News, context: ActivityContext, options: NotifyOptions): Promise<void> {
  if (destination.type === "webhook") return post(destination, news, context, options);
  if (options.mail === null) throw new Terminal("not_configured", "No mail is sent from this node");
  return write(destination.recipient, news, context, options.mail, options.publicUrl);
}

/** @throws EgressRefused, EgressFailed, or an Error for an answer that is no success */
async function post(
  { url, secret }: Extract<Destination, { type: "webhook" }>,
  news: News,
  { id, signal }: ActivityContext,
  { outside, now }: NotifyOptions,
): Promise<void> {
  const body = JSON.stringify(news);
  const { status } = await guardedFetch(
    {
      url,
      method: "POST",
      headers: { "Content-Type": "application/json", "User-Agent": "svc", ...signedHeaders(secret, id, now(), body) },
      body,
      timeoutMs,
      maxBytes: maxAnswerBytes,
      network: null,
      signal,
    },
    outside,
  );
  if (status < 200 || status > 299) throw new Error(`It was answered with status ${status}`);
}

/** Standard Webhooks, and the service's own signature beside it. Without a secret nothing is signed. */
function signedHeaders(secret: string | null, id: string, at: number, body: string): Record<string, string> {
  const named = { "webhook-id": id, "webhook-timestamp": String(Math.floor(at / 1000)) };
  if (secret === null) return named;
  const signature = signerOf(secret).sign(id, new Date(at), body);
  return { ...named, "webhook-signature": signature, [signatureHeader]: signatureOf(secret, body) };
}

/** The specification's secrets are base64, with or without `whsec_`; any other text is a key by its bytes. */
function signerOf(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    return new Webhook(Buffer.from(secret), { format: "raw" });
  }
}

/** @throws when the mail server did not take it */
async function write(
  recipient: string,
  news: News,
  context: ActivityContext,
  mail: Mail,
  publicUrl: string | null,
): Promise<void> {
  const isOver = news.event === "resolved" || publicUrl === null;
  const link = isOver ? null : await linkFor(recipient, context, publicUrl);
  await mail.send({ id: context.id, to: recipient, ...letterOf(news, link) });
}

/** A link of the recipient's own; null for whoever may not decide, and once it is decided. */
async function linkFor(recipient: string, context: ActivityContext, publicUrl: string): Promise<string | null> {
  const token = newToken();
  const source = { http_request_id: null, ip: null, user_agent: null };
  const body = { by: null, source, manages_fleet: false, recipient, hash: hashOf(token) };
  const reply = Value.Parse(LinkReply, await context.ask("issue_link", body));
  return reply.outcome === "issued" ? linkTo(publicUrl, token) : null;
}
