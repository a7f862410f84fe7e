/** Reading request bodies: bounded in size and in time, without trust in their headers. */
import { Problem, type ProblemCode } from "../../../actors/kernel/problem.ts";
import { withTimeout } from "../../lib/timers.ts";
import type { BodyRule, RawContent } from "../route.ts";
import type { BodyShare } from "./body-turns.ts";
import { tooComplex } from "./json-shape.ts";

export interface BodyInput {
  readonly value: unknown;
  readonly bytes: Uint8Array;
}

const nothing = new Uint8Array(0);

/**
 * Reads and decodes a body as its route's rule says.
 * @param deadlineMs the whole body must have arrived by then
 * @param share      holds the body's bytes, and says when it is read
 * @throws Problem 400 `malformed_body`, 413 `body_too_large`, 415 `unsupported_media_type`, 503 `service_unavailable`
 */
export async function readBody(
  request: Request,
  rule: BodyRule,
  deadlineMs: number,
  share: BodyShare,
): Promise<BodyInput> {
  const mediaType = mediaTypeOf(request.headers.get("content-type"));
  const announced = announcedLength(request);
  if (announced !== null && announced > 0) requireMediaType(mediaType, rule);
  if (announced !== null && announced > rule.limit) throw tooLarge(rule.limit);
  if (announced !== 0) share.hold(announced ?? rule.limit);
  const bytes = announced === 0 ? nothing : await readBytes(request, announced, rule.limit, deadlineMs);
  if (bytes.byteLength > 0) requireMediaType(mediaType, rule);
  if (announced === null) share.hold(bytes.byteLength);
  await share.turn(request, rule.kind, bytes.byteLength);
  if (rule.kind === "raw") return { value: rawContent(bytes, mediaType), bytes };
  if (bytes.byteLength === 0 && rule.optional) return { value: {}, bytes };
  return { value: parseJson(bytes), bytes };
}

/** The media type in lower case without parameters; null when there is none. */
function mediaTypeOf(header: string | null): string | null {
  const type = header?.split(";", 1)[0]?.trim().toLowerCase();
  return type === undefined || type === "" ? null : type;
}

/** The body's length as the request tells it; null when it does not. */
export function announcedLength(request: Request): number | null {
  const header = request.headers.get("content-length");
  if (header === null) return request.body === null ? 0 : null;
  return /^\d+$/.test(header) ? Number(header) : null;
}

function requireMediaType(mediaType: string | null, rule: BodyRule): void {
  const fits =
    mediaType === null ||
    (rule.kind === "json"
      ? /^application\/(?:[\w.-]+\+)?json$/.test(mediaType)
      : (rule.accepts?.includes(mediaType) ?? true));
  if (fits) return;
  const wanted = rule.kind === "json" ? "application/json" : (rule.accepts ?? []).join(", ");
  throw new Problem("unsupported_media_type", `The Content-Type must be ${wanted}`, {}, hangUp);
}

/** After a refusal the rest of the body is not waited for. */
const hangUp = { Connection: "close" };

const tooLarge = (limit: number) =>
  new Problem("body_too_large", `The body is larger than ${limit} bytes`, { limit_bytes: limit }, hangUp);

/** @throws Problem 413 `body_too_large` when the request announces more than `limit` bytes */
export function requireLength(request: Request, limit: number): void {
  if ((announcedLength(request) ?? 0) > limit) throw tooLarge(limit);
}

interface RawReading {
  readonly limit: number;
  readonly deadlineMs: number;
  readonly broken: ProblemCode;
  /** Null: the body is read at once, which costs half as much; only for one whose announced length is small. */
  readonly watch: BodyWatch | null;
}

interface BodyWatch {
  /** Told of each piece; what it throws ends the reading. */
  readonly onPiece: (bytes: number) => void;
  /** Rejects when the body is not wanted any more. */
  readonly unwanted: Promise<never>;
}

/**
 * A body as it comes, for routes that look at more than a media type before they read it.
 * @throws Problem 413 `body_too_large`; 400 with code `broken` when it breaks off or is late; what `onPiece` throws
 */
export async function readRaw(request: Request, bounds: RawReading): Promise<Uint8Array> {
  const announced = announcedLength(request);
  if (announced === 0) return nothing;
  try {
    return await readBytes(request, announced, bounds.limit, bounds.deadlineMs, bounds.broken, bounds.watch);
  } catch (error) {
    // The rest of a body that is not wanted is not waited for.
    throw error instanceof Problem && error.status === 503
      ? new Problem(error.code, error.message, error.extras, { ...error.headers, ...hangUp })
      : error;
  }
}

async function readBytes(
  request: Request,
  announced: number | null,
  limit: number,
  deadlineMs: number,
  broken: ProblemCode = "malformed_body",
  watch: BodyWatch | null = null,
): Promise<Uint8Array> {
  if (announced !== null && announced > limit) throw tooLarge(limit);
  if (!request.body) return nothing;
  const late = () => new Problem(broken, "The body did not arrive in time", {}, hangUp);
  // With a length announced the HTTP parser lets no more through; otherwise pieces are counted as they come.
  const reading =
    announced === null || watch !== null
      ? readCounting(request.body, limit, watch?.onPiece ?? (() => {}))
      : request.arrayBuffer();
  const wanted = watch === null ? reading : Promise.race([reading, watch.unwanted]);
  try {
    const body = await withTimeout<ArrayBuffer | Uint8Array>(wanted, deadlineMs, late);
    return body instanceof Uint8Array ? body : new Uint8Array(body);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(broken, "The body broke off", {}, hangUp);
  } finally {
    reading.catch(() => {});
  }
}

async function readCounting(
  body: ReadableStream<Uint8Array>,
  limit: number,
  onPiece: (bytes: number) => void,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.byteLength;
    if (size > limit) throw tooLarge(limit);
    onPiece(piece.byteLength);
    pieces.push(piece);
  }
  return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces, size);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Problem("malformed_body", "The body is not UTF-8 text");
  }
}

function rawContent(bytes: Uint8Array, mediaType: string | null): RawContent {
  return { bytes, mediaType, text: () => decode(bytes) };
}

function parseJson(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) throw new Problem("malformed_body", "A JSON body is needed");
  const reason = tooComplex(bytes);
  if (reason !== null) throw new Problem("malformed_body", `The body ${reason}`);
  const text = decode(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("malformed_body", "The body is not valid JSON");
  }
}
