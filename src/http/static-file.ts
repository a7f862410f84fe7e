/** Files that never change while a node runs, as clients and caches ask for them: compressed, with an ETag. */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { Type } from "@sinclair/typebox";
import { JsonObject } from "../../actors/kernel/json.ts";
import { media } from "./answer.ts";

export interface StaticFile {
  /** The media type, with its character set where it is text. */
  readonly type: string;
  /** As they are kept. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether `bytes` are compressed with gzip. */
  readonly isPacked: boolean;
  /** Of the content, sixteen hexadecimal digits. */
  readonly hash: string;
}

/** What `answerFile` answers with, for a route's `responses`. @param types media types beside JSON */
export const fileResponses = (...types: readonly string[]) =>
  ({ 200: Type.Union([JsonObject, media("application/json", ...types)]), 304: media() }) as const;

/** Media types whose bytes are compressed already. */
const dense = /^(?:image\/(?!svg)|font\/|application\/(?:zip|gzip|octet-stream))/;

const packed = promisify(gzip);
const unpacked = promisify(gunzip);

/** Compresses beside the main thread. @param content text, which is sent as UTF-8, or bytes */
export async function staticFile(type: string, content: string | Uint8Array<ArrayBuffer>): Promise<StaticFile> {
  const plain = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const hash = new Bun.CryptoHasher("sha256").update(plain).digest("hex").slice(0, 16);
  const small = dense.test(type) ? plain : new Uint8Array(await packed(plain, { level: 9 }));
  return small.length < plain.length
    ? { type, bytes: small, isPacked: true, hash }
    : { type, bytes: plain, isPacked: false, hash };
}

/**
 * The file, or 304 where the client has it.
 * @param headers `Cache-Control`, `Content-Security-Policy` and the like
 * @param status of the answer that has the file
 */
export async function answerFile(
  request: Request,
  file: StaticFile,
  headers: Readonly<Record<string, string>>,
  status = 200,
): Promise<Response> {
  const sendsPacked = file.isPacked && takesGzip(request.headers.get("accept-encoding"));
  const etag = sendsPacked ? `"${file.hash}-gzip"` : `"${file.hash}"`;
  const common = {
    ETag: etag,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    ...(file.isPacked ? { Vary: "Accept-Encoding" } : {}),
    ...headers,
  };
  if (status === 200 && isHeld(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers: common });
  }
  const body = file.isPacked && !sendsPacked ? new Uint8Array(await unpacked(file.bytes)) : file.bytes;
  return new Response(body, {
    status,
    headers: { ...common, "Content-Type": file.type, ...(sendsPacked ? { "Content-Encoding": "gzip" } : {}) },
  });
}

/** Whether `Accept-Encoding` has gzip, by its name or by `*`, and does not refuse it by a quality of 0. */
function takesGzip(accepted: string | null): boolean {
  const offers = (accepted ?? "").split(",").map((offer) => offer.trim().toLowerCase());
  const named =
    offers.find((offer) => /^(?:x-)?gzip\s*(?:;|$)/.test(offer)) ?? offers.find((offer) => offer.startsWith("*"));
  return named !== undefined && !/;\s*q=0(?:\.0*)?$/.test(named);
}

function isHeld(held: string | null, etag: string): boolean {
  return (held ?? "").split(",").some((one) => one.trim().replace(/^W\//, "") === etag || one.trim() === "*");
}
