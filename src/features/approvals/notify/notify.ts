/** The activity `approval.notify`: tells one destination of one event of an approval. */

import { Webhook } from "standardwebhooks";
import { approval } from "../../../../actors/approval/approval.ts";
import { approvalProtocol, notify } from "../../../../actors/approval/messages.ts";
import { type Destination, destinationsOf, notificationBody } from "../../../../actors/approval/notifications.ts";
import { listedByUrl } from "../../../../actors/policy/network/policy.ts";
import { type GuardedOptions, guardedFetch } from "../../../adapters/egress/port.ts";
import type { Mail } from "../../../adapters/mail/port.ts";
import { signatureHeader, signatureOf } from "../../../lib/digest.ts";
import {
  type Activity,
  type ActivityContext,
  implement,
  isServiceAway,
  Retryable,
  type Runtime,
  Terminal,
} from "../../../runtime/port.ts";
import { type Incidents, reportRefusedCall } from "../../incidents/port.ts";
import { hashOf, linkTo, newToken } from "../links/token.ts";
import { mailMessageOf } from "./mail-message.ts";

export interface NotifyOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly outside: GuardedOptions;
  readonly incidents: Pick<Incidents, "report">;
  /** Null: no mail is sent from here. */
  readonly mail: Mail | null;
  /** Start of every decision link; null: mails carry none. */
  readonly publicUrl: string | null;
  /** Unix ms. */
  readonly now: () => number;
  /** Pause before the second attempt; it doubles. 10 s when left out. */
  readonly firstDelayMs?: number;
}

type NotificationBody = ReturnType<typeof notificationBody>;

const maxAttempts = 5;
const timeoutMs = 30_000;
/** What a destination answers is read no further. */
const maxAnswerBytes = 4096;

export function approvalNotifyActivity(options: NotifyOptions): Activity {
  const { runtime, firstDelayMs = 10_000 } = options;
  return implement(
    notify,
    {
      // A destination that does not answer keeps its place for a while; tenants get theirs in turn.
      concurrency: 256,
      retry: { attempts: maxAttempts, firstDelayMs },
    },
    async ({ event, place }, context) => {
      const { actor, attempt, signal } = context;
      const state = await runtime.of(approval).at(actor.tenant, actor.key).read();
      const destination = state === null ? undefined : destinationsOf(state, event)[place];
      if (state === null || destination === undefined) throw new Terminal("approval_not_found", "It was erased");
      try {
        await send(destination, notificationBody(actor.key, actor.tenant, state, event), context, options);
        return null;
      } catch (error) {
        if (signal.aborted || error instanceof Terminal || isServiceAway(error)) throw error;
        reportRefusedCall(options.incidents, { tenant: actor.tenant, agentId: null, executionId: actor.key }, error);
        const message = error instanceof Error ? error.message : String(error);
        if (attempt < maxAttempts) throw new Retryable(message, firstDelayMs * 2 ** (attempt - 1));
        throw new Terminal("notification_failed", message);
      }
    },
  );
}

function send(
  destination: Destination,
  news: NotificationBody,
  context: ActivityContext,
  options: NotifyOptions,
): Promise<void> {
  if (destination.type === "webhook") return post(destination, news, context, options);
  if (options.mail === null) throw new Terminal("not_configured", "No mail is sent from this node");
  return write(destination.recipient, news, context, options.mail, options.publicUrl);
}

/** @throws EgressRefused, EgressFailed, or an Error for an answer that is no success */
async function post(
  { url, secret }: Extract<Destination, { type: "webhook" }>,
  news: NotificationBody,
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
      // What a workflow's author writes as an address; it is no template.
      network: listedByUrl(url),
      reach: "public",
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
  news: NotificationBody,
  context: ActivityContext,
  mail: Mail,
  publicUrl: string | null,
): Promise<void> {
  const isOver = news.event === "resolved" || publicUrl === null;
  const link = isOver ? null : await linkFor(recipient, context, publicUrl);
  await mail.send({ id: context.id, to: recipient, ...mailMessageOf(news, link) });
}

/** A link of the recipient's own; null for one who may not decide, and once it is decided. */
async function linkFor(recipient: string, context: ActivityContext, publicUrl: string): Promise<string | null> {
  const token = newToken();
  const source = { http_request_id: null, ip: null, user_agent: null };
  const body = { by: null, source, manages_fleet: false, recipient, hash: hashOf(token) };
  const reply = await context.of(approvalProtocol).ask("issue_link", body);
  return reply.outcome === "issued" ? linkTo(publicUrl, token) : null;
}
