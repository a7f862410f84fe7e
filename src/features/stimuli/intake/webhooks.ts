/** One delivery to a webhook's URL, checked in the order of docs/reference/stimuli.md and handed on. */
import { createHash } from "node:crypto";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { contentOf, payloadOf } from "../../../../actors/stimulus/content.ts";
import { forwardedHeaders } from "../../../../actors/stimulus/headers.ts";
import { isReservedSource, parseSource } from "../../../../actors/stimulus/routing.ts";
import type { Arrival } from "../../../../actors/stimulus/stimulus.ts";
import { announcedLength, readRaw, requireLength } from "../../../http/input/body.ts";
import type { Incoming } from "../../../http/route.ts";
import { requireOpen } from "../../../identity/tenants/teams.ts";
import { requireActive, type Tenants } from "../../../identity/tenants/tenants.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import { FairTurns } from "../../../lib/fair-turns.ts";
import type { FailedVerifications, Handshake } from "../sources/feature.ts";
import { guardsReplays, readSignatures, type Sender, type SignedCandidate, verifyInTurns } from "../sources/feature.ts";
import type { Candidate, Sources } from "../sources/port.ts";
import { checkedKey, unavailable } from "./acceptance.ts";
import { acknowledgement } from "./acknowledgement.ts";
import { type ArrivingBodies, freeBytes } from "./arriving-bodies.ts";
import type { BodyBudget } from "./body-budget.ts";
import { type Filter, isFiltered } from "./filter.ts";
import type { Intake, IntakeAnswer } from "./intake.ts";
import type { IgnoredAnswer } from "./schema.ts";

export interface WebhookOptions {
  readonly sources: Sources;
  readonly tenants: Tenants;
  readonly failed: FailedVerifications;
  readonly arriving: ArrivingBodies;
  /** Of bodies whose signatures are being verified, by client. */
  readonly verifying: BodyBudget;
  readonly intake: Intake;
  readonly filter: Filter;
  /** Counts deliveries refused before their tenant was known. */
  readonly refused: (code: string) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** A hook's body, and a stimulus's content, bytes. */
export const maxContentBytes = 1_048_576;
/** A hook's body is no larger from a sender who has had its failures of the minute, bytes. */
const exhaustedBodyBytes = 65_536;
/** The body has arrived by then, ms. */
const bodyDeadlineMs = 15_000;
/** Bytes of a body whose decoding, parsing and digest are work. */
const largeBytes = 64 * 1024;
/** Of a content type that is kept. */
const maxContentType = 256;

export type Delivered = IntakeAnswer | { readonly nothingStored: Handshake | IgnoredAnswer };

/**
 * @param path source and, at a source's own URL, its id, as they stand in the path, percent-decoded once
 * @throws Problem as the table of docs/reference/stimuli.md says
 */
export type Deliver = (
  incoming: Pick<Incoming, "request" | "address">,
  path: { readonly source: string; readonly sourceId: string | null },
) => Promise<Delivered>;

/** Large bodies are worked on one after the other, by turns of tenants: the process has one main thread. */
const turns = new FairTurns();

export function createWebhooks(options: WebhookOptions): Deliver {
  const { sources, failed, now } = options;

  async function candidatesOf(source: string, sourceId: string | null): Promise<readonly Candidate[]> {
    if (sourceId === null) return sources.candidates(source);
    const own = await sources.candidate(source, sourceId);
    if (own === null) throw new Problem("webhook_endpoint_not_found", "There is no such webhook endpoint");
    return [own];
  }

  async function bodyOf(request: Request, client: string, limit: number): Promise<Uint8Array> {
    const bounds = { limit, deadlineMs: bodyDeadlineMs, broken: "body_read_error" } as const;
    // The HTTP parser lets no more through than is announced.
    const isSmall = (announcedLength(request) ?? Number.POSITIVE_INFINITY) <= freeBytes;
    if (isSmall) return readRaw(request, { ...bounds, watch: null });
    const { promise: unwanted, reject } = Promise.withResolvers<never>();
    // It may be given up when no request waits for it any more.
    unwanted.catch(() => {});
    let isGivenUp = false;
    const body = options.arriving.begin(client, (refusal) => {
      isGivenUp = true;
      reject(refusal);
    });
    const onPiece = (bytes: number) => {
      if (isGivenUp) throw unavailable();
      body.arrived(bytes);
    };
    try {
      return await readRaw(request, { ...bounds, watch: { onPiece, unwanted } });
    } finally {
      body.end();
    }
  }

  /** @param exhausted what the sender is refused with, who has had its failures of the minute; null: it has not */
  async function bodyOfSender(request: Request, client: string, exhausted: Problem | null): Promise<Uint8Array> {
    if (exhausted === null) return bodyOf(request, client, maxContentBytes);
    try {
      return await bodyOf(request, client, exhaustedBodyBytes);
    } catch (error) {
      throw error instanceof Problem && error.code === "body_too_large" ? exhausted : error;
    }
  }

  async function verified(
    sender: Sender,
    read: readonly SignedCandidate[],
    body: Uint8Array,
    exhausted: Problem | null,
  ): Promise<SignedCandidate> {
    const release = options.verifying.hold(sender.address ?? "", body.byteLength);
    try {
      return await verifyInTurns(read, body, now());
    } catch (error) {
      const isUnsigned =
        error instanceof Problem && (error.code === "invalid_signature" || error.code === "secrets_unavailable");
      if (!isUnsigned) throw error;
      await failed.count(sender);
      throw exhausted ?? error;
    } finally {
      release();
    }
  }

  /** @throws Problem 402, 403 */
  async function requireReceiving({ tenant, registered }: Candidate): Promise<void> {
    const known = await options.tenants.find(tenant);
    // A variable may bind a tenant that has not been used yet.
    if (known === null) requireActive(await options.tenants.ensure(tenant));
    else requireOpen(known, false);
    if (registered?.enabled === false) throw new Problem("route_disabled", "This source route is disabled");
  }

  /** The body, once its signature is right. @throws Problem as rows 2 to 9 of the table say */
  async function authenticated(request: Request, sender: Sender): Promise<Authenticated> {
    const { source, sourceId } = sender;
    const exhausted = failed.exhausted(sender);
    if (exhausted !== null && (announcedLength(request) ?? 0) > exhaustedBodyBytes) throw exhausted;
    requireLength(request, maxContentBytes);
    const read = readSignatures(await candidatesOf(source, sourceId), request.headers);
    const body = await bodyOfSender(request, sender.address ?? "", exhausted);
    return { ...(await verified(sender, read, body, exhausted)), body };
  }

  async function take({ request, address }: Parameters<Deliver>[0], path: Parameters<Deliver>[1]): Promise<Delivered> {
    const source = parseSource(path.source);
    if (source === null) throw new Problem("invalid_source", "This is no name of a source");
    if (isReservedSource(source)) throw new Problem("not_found", "There is nothing here");
    const sourceId = path.sourceId?.toLowerCase() ?? null;
    const delivery = await authenticated(request, { address, source, sourceId });
    const { candidate, preset, body } = delivery;
    await requireReceiving(candidate);
    if (body.byteLength > largeBytes) await turns.take(candidate.tenant);
    const { headers } = request;
    const text = contentOf(body);
    const contentType = contentTypeOf(headers);
    const { registered } = candidate;
    const isRead = preset.readsPayload || (registered !== null && isFiltered(registered));
    const payload = isRead && text.encoding === "utf-8" ? payloadOf(text.content, contentType) : null;
    const nothingStored =
      preset.handshake(headers, payload) ?? options.filter(registered, { headers, payload: () => payload });
    if (nothingStored !== null) return { nothingStored };
    return options.intake(arrivalOf(delivery, headers, { ...text, contentType, payload }));
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

interface Authenticated extends SignedCandidate {
  readonly body: Uint8Array;
}

interface Content extends ReturnType<typeof contentOf> {
  readonly contentType: string | null;
  readonly payload: Json;
}

function arrivalOf(delivery: Authenticated, headers: Headers, { content, encoding, contentType, payload }: Content) {
  const { candidate, body } = delivery;
  const { registered, tenant, source } = candidate;
  const digest = sha256Hex(body);
  const forwarded = forwardedHeaders(headers, registered?.forwardHeaders ?? ["*"]);
  const arrival: Arrival = {
    tenant,
    source,
    channel: "webhook",
    acknowledge: acknowledgement(headers, registered),
    content,
    contentEncoding: encoding,
    contentType,
    contentSize: body.byteLength,
    contentSha256: digest,
    headers: forwarded.headers,
    headersTruncated: forwarded.truncated,
    key: keyOf(delivery, headers, payload) ?? (registered?.idempotencyFallback === "body_sha256" ? digest : null),
    guard: isGuarded(delivery) ? signedDigest(delivery) : null,
    sourceId: registered?.id ?? null,
    override: null,
    replayOf: null,
    receivedBy: { kind: "webhook", sub: `webhook:${source}`, email: null, tier: null, realm: null },
  };
  return arrival;
}

/** What is signed comes first: a sender that repeats a captured delivery can change what is not. */
const keyOf = ({ preset, signed }: Authenticated, headers: Headers, payload: Json): string | null =>
  preset.signedKey(signed, payload) ??
  checkedKey("X-Idempotency-Key", headers.get("x-idempotency-key")) ??
  preset.headerKey(headers);

const isGuarded = ({ candidate: { registered, preset }, signed }: Authenticated): boolean =>
  guardsReplays(registered ?? { replayGuard: null, preset }, signed.timestamp !== null);

function signedDigest({ signed, body }: Authenticated): string {
  // Digests of keys lie in the same table; no key begins with NUL.
  return createHash("sha256").update("\0").update(signed.prefix).update(body).digest("hex");
}

function contentTypeOf(headers: Headers): string | null {
  const type = headers.get("content-type");
  return type !== null && type.length <= maxContentType && /^[\x20-\x7e]+$/.test(type) ? type : null;
}
