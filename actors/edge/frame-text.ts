/**
 * One frame as the text of one WebSocket message: an object with a type `t` and a body `b`, which is JSON text within a
 * JSON string; a signed frame has its number `s` and its signature `sig` as well, and `kid` where the service signs.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isObject, type Json, nestsDeeper } from "../kernel/json.ts";
import { readBase64 } from "./base64.ts";

export interface FrameSignature {
  /** Counts the signed frames of a direction and connection: 1, 2, 3, …. */
  readonly s: number;
  /** 64 bytes. */
  readonly bytes: Uint8Array;
  /** Which key of the service; null: it was not told. */
  readonly kid: string | null;
}

export interface Frame {
  readonly t: string;
  /** The body's text, exactly as it was received: what the signature is over. */
  readonly b: string;
  /** Null: the frame is not signed. */
  readonly signature: FrameSignature | null;
}

/** How deep a body may nest; results of tools nest less. */
const maxDepth = 64;
/** Of `t` and `kid`, characters. */
const maxName = 128;

/** @returns null for what is no frame, which closes the connection with 4000 */
export function readFrame(text: string): Frame | null {
  const outer = parsed(text, 4);
  if (!isObject(outer)) return null;
  const { t, b, s, sig, kid = null } = outer;
  if (!isName(t) || typeof b !== "string" || !b.isWellFormed()) return null;
  if (s === undefined && sig === undefined) return { t, b, signature: null };
  const bytes = typeof sig === "string" ? readBase64(sig, 64) : null;
  if (typeof s !== "number" || !Number.isSafeInteger(s) || s < 1 || bytes === null) return null;
  if (kid !== null && !isName(kid)) return null;
  return { t, b, signature: { s, bytes, kid } };
}

const isName = (value: unknown): value is string =>
  typeof value === "string" && value.length <= maxName && /^[\x20-\x7e]+$/.test(value);

/** The body of a frame, once its signature holds. @returns null where it does not fit, which closes with 4000 */
export function readBody<S extends TSchema>(schema: S, b: string): Static<S> | null {
  const body = parsed(b, maxDepth);
  if (body === undefined || !isWellFormed(body)) return null;
  return Value.Check(schema, body) ? body : null;
}

/** Undefined for what is no JSON, or nests too deep. */
function parsed(text: string, deepest: number): Json | undefined {
  if (nestsDeeper(text, deepest)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Whether no string of it, names included, holds half a surrogate pair. */
function isWellFormed(value: Json): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (value === null || typeof value !== "object") return true;
  if (Array.isArray(value)) return value.every((item: Json) => isWellFormed(item));
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member ?? null));
}

/** @param b the body's text */
export const unsignedText = (t: string, b: string): string => JSON.stringify({ t, b });

/** @param sig base64 of the signature over `frameMessage` @param kid of the service's key; null where a daemon signs */
export const signedText = (t: string, s: number, b: string, sig: string, kid: string | null): string =>
  JSON.stringify(kid === null ? { t, s, b, sig } : { t, s, b, kid, sig });
