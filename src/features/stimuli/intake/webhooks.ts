/** One delivery to a webhook's URL, checked in the order of docs/reference/stimuli.md and handed on. */
import { createHash } from "node:crypto";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { contentOf, payloadOf } from "../../../../actors/stimulus/content.ts";
import { forwardedHeaders } from "../../../../actors/stimulus/headers.ts";
import { isReservedSource, parseSource } from "../../../../actors/stimulus/routing.ts";
import type { Arrival } from "../../../../actors/stimulus/stimulus.ts";
import { announcedLength, readRaw, requireLength } from "../../../http/body.ts";
import { prefersAsync } from "../../../http/preferences.ts";
import type { Incoming } from "../../../http/route.ts";
import { requireActive, type Tenants } from "../../../identity/tenants.ts";
import type { FailedVerifications, Handshake } from "../sources/feature.ts";
import { readSignatures, type SignedCandidate, verifySignatures } from "../sources/feature.ts";
import type { Candidate, Sources } from "../sources/port.ts";
import { checkedKey } from "./acceptance.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { Intake, IntakeAnswer } from "./intake.ts";

export interface WebhookOptions {
  readonly sources: Sources;
  readonly tenants: Tenants;
  readonly failed: FailedVerifications;
  readonly budget: BodyBudget;
  readonly intake: Intake;
  /** Counts deliveries refused before their tenant was known. */
  readonly refused: (code: string) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** A hook's body, and a stimulus's content, bytes. */
export const maxContentBytes = 1_048_576;
/** The body has arrived by then, ms. */
const bodyDeadlineMs = 15_000;
/** Of a content type that is kept. */
const maxContentType = 256;

export type Delivered = IntakeAnswer | { readonly handshake: Handshake };

/**
 * @param path source and, at a source's own URL, its id, as they stand in the path, percent-decoded once
 * @throws Problem as the table of docs/reference/stimuli.md says
 */
export type Deliver = (
  incoming: Pick<Incoming, "request" | "address">,
  path: { readonly source: string; readonly sourceId: string | null },
) => Promise<Delivered>;

export function createWebhooks(options: WebhookOptions): Deliver {
  const { sources, failed, now } = options;

  async function candidatesOf(source: string, sourceId: string | null): Promise<readonly Candidate[]> {
    if (sourceId === null) return sources.candidates(source);
    const own = await sources.candidate(source, sourceId);
    if (own === null) throw new Problem("webhook_endpoint_not_found", "There is no such webhook endpoint");
    return [own];
  }

  async function bodyOf(request: Request, client: string): Promise<Uint8Array> {
    const release = options.budget.hold(client, announcedLength(request) ?? maxContentBytes);
    try {
      return await readRaw(request, { limit: maxContentBytes, deadlineMs: bodyDeadlineMs, broken: "body_read_error" });
    } finally {
      release();
    }
  }

  async function verified(client: string, source: string, read: readonly SignedCandidate[], body: Uint8Array) {
    try {
      return verifySignatures(read, body, now());
    } catch (error) {
      if (error instanceof Problem && error.code === "invalid_signature") await failed.count(client, source);
      throw error;
    }
  }

  /** @throws Problem 403 */
  async function requireOpen({ tenant, registered }: Candidate): Promise<void> {
    // A variable may bind a tenant that has not been used yet.
    requireActive((await options.tenants.status(tenant)) ?? (await options.tenants.ensure(tenant)));
    if (registered?.enabled === false) throw new Problem("route_disabled", "This source route is disabled");
  }

  async function take({ request, address }: Parameters<Deliver>[0], path: Parameters<Deliver>[1]): Promise<Delivered> {
    const source = parseSource(path.source);
    if (source === null) throw new Problem("invalid_source", "This is no name of a source");
    if (isReservedSource(source)) throw new Problem("not_found", "There is nothing here");
    const client = address ?? "";
    failed.check(client, source);
    requireLength(request, maxContentBytes);
    const { headers } = request;
    const read = readSignatures(await candidatesOf(source, path.sourceId), headers);
    const body = await bodyOf(request, client);
    const { candidate, preset, signed } = await verified(client, source, read, body);
    await requireOpen(candidate);
    const { content, encoding } = contentOf(body);
    const contentType = contentTypeOf(headers);
    const payload = preset.readsPayload && encoding === "utf-8" ? payloadOf(content, contentType) : null;
    const handshake = preset.handshake(headers, payload);
    if (handshake !== null) return { handshake };
    const { registered, tenant } = candidate;
    const digest = createHash("sha256").update(body).digest("hex");
    const forwarded = forwardedHeaders(headers, registered?.forwardHeaders ?? ["*"]);
    const arrival: Arrival = {
      tenant,
      source,
      channel: "webhook",
      acknowledge: prefersAsync(headers) ? "received" : (registered?.acknowledge ?? "routed"),
      content,
      contentEncoding: encoding,
      contentType,
      contentSize: body.byteLength,
      contentSha256: digest,
      headers: forwarded.headers,
      headersTruncated: forwarded.truncated,
      key:
        checkedKey("X-Idempotency-Key", headers.get("x-idempotency-key")) ??
        preset.key(signed, headers, payload) ??
        (registered?.idempotencyFallback === "body_sha256" ? digest : null),
      sourceId: registered?.id ?? null,
      override: null,
      replayOf: null,
      receivedBy: { kind: "webhook", sub: `webhook:${source}`, email: null, tier: null },
    };
    const answer = await options.intake(arrival);
    if (registered !== null) sources.received(registered, now());
    return answer;
  }

  return async (incoming, path) => {
    try {
      return await take(incoming, path);
    } catch (error) {
      if (error instanceof Problem) options.refused(error.code);
      throw error;
    }
  };
}

function contentTypeOf(headers: Headers): string | null {
  const type = headers.get("content-type");
  return type !== null && type.length <= maxContentType && /^[\x20-\x7e]+$/.test(type) ? type : null;
}
