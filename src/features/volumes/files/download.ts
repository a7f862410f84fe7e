/** Sending a file: as the client takes it, whole or the part it asks for, never held in memory. */
import type { Stats } from "node:fs";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { media } from "../../../http/answer.ts";
import type { Sendable } from "../places/port.ts";

/** The answers of a route that sends a file by `sendFile`: the whole, a part, or that the client has it already. */
export const fileContent = { 200: media("*/*"), 206: media("*/*"), 304: media("*/*") };

export interface Sending {
  readonly type: string;
  /** In quotes. */
  readonly etag: string;
}

/** Tells one state of a file from another without reading it. */
export function statEtag({ ino, size, mtimeMs }: Stats): string {
  return `"${ino.toString(36)}-${size.toString(36)}-${Math.round(mtimeMs * 1000).toString(36)}"`;
}

/**
 * The answer with a file's bytes. Closes the file.
 * @throws Problem 416 `range_not_satisfiable`
 */
export async function sendFile(request: Request, file: Sendable, { type, etag }: Sending): Promise<Response> {
  const { name, size } = file;
  try {
    const headers: Record<string, string> = {
      "Accept-Ranges": "bytes",
      "Content-Disposition": disposition(name),
      "Content-Type": type,
      ETag: etag,
      "X-Content-Type-Options": "nosniff",
    };
    if (namesEtag(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
    const range = rangeOf(request.headers, size, etag);
    const [start, end] = range ?? [0, size];
    if (range !== null) headers["Content-Range"] = `bytes ${start}-${end - 1}/${size}`;
    const status = range === null ? 200 : 206;
    if (request.method === "HEAD") return new Response(null, { status, headers });
    // Of a part Bun would make a 206 by itself, of a whole with a Range header as well: the decision is ours.
    const isWhole = range === null && !request.headers.has("range");
    const body = await file.body(isWhole ? null : { start, end });
    return new Response(body, { status, headers });
  } finally {
    file.close();
  }
}

/** One range of bytes, end exclusive; null when the whole file is wanted. @throws Problem 416 */
function rangeOf(headers: Headers, size: number, etag: string): readonly [start: number, end: number] | null {
  const condition = headers.get("if-range");
  if (condition !== null && condition !== etag) return null;
  // Several ranges at once, and what is none, may be answered with the whole.
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(headers.get("range")?.trim() ?? "");
  const [, from = "", to = ""] = match ?? [];
  if (match === null || (from === "" && to === "")) return null;
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === "" || to === "" ? size : Math.min(size, Number(to) + 1);
  if (from !== "" && to !== "" && Number(to) < Number(from)) return null;
  if (start >= size || end <= start) {
    const headers = { "Content-Range": `bytes */${size}` };
    throw new Problem("range_not_satisfiable", `The file has ${size} bytes`, { size }, headers);
  }
  return [start, end];
}

function namesEtag(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.split(",").some((part) => part.trim() === "*" || part.trim().replace(/^W\//, "") === etag);
}

/** RFC 6266: a plain name for every client, and the exact one for clients that support it. */
function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const exact = encodeURIComponent(name.toWellFormed()).replace(
    /['()*!]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
