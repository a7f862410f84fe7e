/** Uploads: streamed beside the volume, checked, and moved into place whole or not at all. */

import { createHash } from "node:crypto";
import { chownSync, lstatSync, renameSync, type Stats } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { join, posix } from "node:path";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import type { StorageQuota } from "../../../../actors/policy/storage-quota.ts";
import type { Transaction } from "../../../store/postgres/pool.ts";
import { address, look, View, viewOf } from "../../tools/fs/port.ts";
import { ToolFailure } from "../../tools/port.ts";
import { ownerOfRow, type VolumeRow } from "../records.ts";
import type { Uploaded } from "../schema.ts";
import type { Caller, VolumeService } from "../service.ts";
import type { Digests } from "./digests.ts";
import { typeOfName } from "./files.ts";
import { boundaryOf, decoded, partsOf } from "./multipart.ts";
import { answering, invalidPath, isDirectoryProblem, PathRefused, readPath } from "./paths.ts";
import { sniffBytes, sniffedType } from "./sniff.ts";
import { boundsOf, type ComingUpload, noRoom, type UploadRoom } from "./upload-room.ts";

/** Room for what stands around a file in a multipart body. */
const envelopeBytes = 1024 * 1024;
const maxNumbered = 1000;

/** A file that has arrived and lies beside the volume. */
interface Arrived {
  readonly draft: string;
  readonly filename: string | null;
  readonly size: number;
  readonly sha256: string;
  readonly head: Uint8Array;
}

/** Where it shall go. */
interface Target {
  readonly path: string;
  /** The path was the service's choice: what is there already is not replaced. */
  readonly chosen: boolean;
}

/**
 * @param room of the uploads under way on this node
 * @param pathInQuery `?path=`, before a form's own field
 * @throws Problem 400, 402 `quota_exceeded`, 413 `file_too_large`, 422
 */
export async function upload(
  service: VolumeService,
  digests: Digests,
  room: UploadRoom,
  caller: Caller,
  row: VolumeRow,
  request: Request,
  pathInQuery: string | null,
): Promise<Uploaded> {
  const quota = await service.quotaOf(caller.tenant);
  const limit = quota.fileBytes;
  const boundary = boundaryOf(request.headers.get("content-type"));
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > limit + (boundary === null ? 0 : envelopeBytes)) throw tooLarge(limit);
  const nameOf = (given: string | null, path: string | null) => usableName(given) ?? baseName(path) ?? "upload.bin";
  const named = boundary === null ? nameInHeader(request.headers) : null;
  // Refused before anything is read.
  if (boundary === null) await answering(() => targetOf(service, row, pathInQuery, nameOf(named, pathInQuery)));
  await service.refreshed(row);
  const held = await service.records.held(caller.tenant, ownerOfRow(row, caller), row.volume_id);
  /** Bytes that the file replaces. Where its path is still to come they may be all that the volume holds. */
  const replacedBy = (filename: string | null, path: string | null): number => {
    if (path === null && boundary !== null) return held.volumeBytes;
    const target = targetOf(service, row, path, nameOf(filename, path));
    using view = new View(viewOf(service.layout.volume(row.volume_id), "/"));
    return statsAt(view, target.path)?.size ?? 0;
  };
  const folder = service.layout.uploads;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const drafts: string[] = [];
  const coming: ComingUpload[] = [];
  const receive = async (
    source: AsyncIterable<Uint8Array>,
    filename: string | null,
    path: string | null,
  ): Promise<Arrived> => {
    const replaced = await answering(() => replacedBy(filename, path));
    const taking = room.open(boundsOf(caller, quota, row, held), quota, replaced);
    coming.push(taking);
    // The whole of it, where that is known, before the first byte is read.
    let ahead = boundary === null ? announced : 0;
    if (ahead > 0) taking.take(ahead);
    const take = (bytes: number) => {
      const more = bytes - ahead;
      ahead = Math.max(0, -more);
      if (more > 0) taking.take(more);
    };
    const draft = join(folder, crypto.randomUUID());
    drafts.push(draft);
    return arrive(source, draft, filename, limit, take);
  };
  try {
    const form =
      boundary === null
        ? { file: await receive(bodyOf(request), named, pathInQuery), path: null }
        : await readForm(counted(bodyOf(request), limit), boundary, pathInQuery, receive);
    if (form.file === null) throw new Problem("missing_file", "The form holds no file");
    const { file } = form;
    const path = pathInQuery ?? form.path;
    const target = await answering(() => targetOf(service, row, path, nameOf(file.filename, path)));
    const placed = await answering(() => place(service, digests, caller, quota, row, file, target));
    for (const [index, one] of coming.entries()) one.close(index === 0 ? placed.grown : 0);
    return placed.uploaded;
  } finally {
    for (const one of coming) one.close(0);
    await Promise.all(drafts.map((draft) => rm(draft, { force: true })));
  }
}

const tooLarge = (limit: number): Problem =>
  new Problem("file_too_large", `A file may have at most ${limit} bytes`, { limit }, { Connection: "close" });

async function* bodyOf({ body }: Request): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  try {
    yield* body;
  } catch {
    throw new Problem("malformed_body", "The body broke off", {}, { Connection: "close" });
  }
}

async function* counted(source: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of source) {
    size += piece.byteLength;
    if (size > limit + envelopeBytes) throw tooLarge(limit);
    yield piece;
  }
}

/**
 * Writes what comes to a file of its own.
 * @param take asked for each piece before it is written
 * @throws Problem 413 `file_too_large`
 */
async function arrive(
  source: AsyncIterable<Uint8Array>,
  draft: string,
  filename: string | null,
  limit: number,
  take: (bytes: number) => void,
): Promise<Arrived> {
  const hash = createHash("sha256");
  const file = await open(draft, "wx", 0o644);
  let size = 0;
  let head: Uint8Array = new Uint8Array(0);
  try {
    for await (const piece of source) {
      size += piece.byteLength;
      if (size > limit) throw tooLarge(limit);
      take(piece.byteLength);
      if (head.byteLength < sniffBytes) head = Buffer.concat([head, piece]).subarray(0, sniffBytes);
      hash.update(piece);
      await file.writeFile(piece);
    }
  } finally {
    await file.close();
  }
  return { draft, filename, size, sha256: hash.digest("hex"), head };
}

/** The part `file`, else the first with a filename; the field `path` wherever it stands. */
async function readForm(
  stream: AsyncIterable<Uint8Array>,
  boundary: string,
  pathInQuery: string | null,
  receive: (source: AsyncIterable<Uint8Array>, filename: string | null, path: string | null) => Promise<Arrived>,
): Promise<{ file: Arrived | null; path: string | null }> {
  let named: Arrived | null = null;
  let first: Arrived | null = null;
  let path: string | null = null;
  for await (const part of partsOf(stream, boundary)) {
    if (part.name === "file" && named === null) named = await receive(part.body, part.filename, pathInQuery ?? path);
    else if (part.name === "path" && part.filename === null) path = await readText(part.body);
    else if (part.filename !== null && named === null && first === null)
      first = await receive(part.body, part.filename, pathInQuery ?? path);
  }
  return { file: named ?? first, path };
}

async function readText(source: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    size += piece.byteLength;
    if (size > 8192) throw invalidPath("is too long");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function nameInHeader(headers: Headers): string | null {
  const written = headers.get("x-filename");
  if (written === null) return null;
  return decoded(written) ?? written;
}

/** @throws Problem 422 `invalid_path` for a name that can be no file's */
function usableName(name: string | null): string | null {
  if (name === null || name === "") return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  const unusable = /[/\\\u0000-\u001f\u007f]/.test(name) || name === "." || name === ".." || !name.isWellFormed();
  if (unusable || Buffer.byteLength(name) > 255) {
    const climbs = name.split(/[/\\]/).includes("..");
    const violation = climbs ? "path_traversal_blocked" : "filesystem_policy_violation";
    throw new PathRefused("has a filename that cannot be used", violation, name);
  }
  return name;
}

function baseName(path: string | null): string | null {
  const name = path === null || path.endsWith("/") ? "" : path.slice(path.lastIndexOf("/") + 1);
  return name === "" || name === "." ? null : name;
}

function targetOf({ layout }: VolumeService, row: VolumeRow, path: string | null, filename: string): Target {
  if (path === null || path === "") return { path: readPath(`/uploads/${filename}`), chosen: true };
  const wanted = readPath(path);
  const isFolder = path.endsWith("/") || wanted === "/" || wanted === "/uploads" || isDirectoryAt(layout, row, wanted);
  return { path: isFolder ? readPath(`${wanted}/${filename}`) : wanted, chosen: false };
}

function isDirectoryAt(layout: VolumeService["layout"], row: VolumeRow, path: string): boolean {
  using view = new View(viewOf(layout.volume(row.volume_id), "/"));
  try {
    return view.at(path, { access: "see" }, (found) => view.kindOf(found) === "directory");
  } catch (error) {
    if (error instanceof ToolFailure && error.code === "not_found") return false;
    throw error;
  }
}

/** Decides over the quotas and moves the file to its place, in one piece with what is counted. */
async function place(
  service: VolumeService,
  digests: Digests,
  caller: Caller,
  quota: StorageQuota,
  row: VolumeRow,
  file: Arrived,
  target: Target,
): Promise<{ readonly uploaded: Uploaded; readonly grown: number }> {
  const { tenant } = caller;
  const { layout, records } = service;
  await service.refreshed(row);
  return records.exclusively(tenant, async (transaction) => {
    using view = new View(viewOf(layout.volume(row.volume_id), "/"));
    const path = target.chosen ? await freePath(view, digests, row, file, target.path, transaction) : target.path;
    const name = posix.basename(path);
    const before = statsAt(view, path);
    if (before?.isDirectory()) throw isDirectoryProblem();
    const more = file.size - (before?.size ?? 0);
    const held = await records.held(tenant, ownerOfRow(row, caller), row.volume_id, transaction);
    const full = boundsOf(caller, quota, row, held).find(({ limit, used }) => more > 0 && used + more > limit);
    if (full !== undefined) throw noRoom(full, quota);
    await records.grow(transaction, tenant, row.volume_id, more, before === null ? 1 : 0);
    const content = { sha256: file.sha256, mime_type: sniffedType(file.head) ?? typeOfName(name) };
    const stats = view.at(path, { access: "write", createParents: true }, (found) => {
      const { owner } = found.directory.mount;
      if (process.getuid?.() === 0) chownSync(file.draft, owner.uid, owner.gid);
      renameSync(file.draft, address(found));
      return lstatSync(address(found));
    });
    await digests.note(row.volume_id, path, stats, content, transaction);
    const uploaded = {
      volume_id: row.volume_id,
      path,
      name,
      mime_type: content.mime_type,
      size: file.size,
      size_bytes: file.size,
      sha256: file.sha256,
      uploaded_at: iso(stats.mtimeMs),
    };
    return { uploaded, grown: more };
  });
}

/** Null when nothing is there, or not even a directory for it. */
function statsAt(view: View, path: string): Stats | null {
  try {
    return view.at(path, { access: "write" }, look);
  } catch (error) {
    if (error instanceof ToolFailure && error.code === "not_found") return null;
    throw error;
  }
}

/** A path nothing else lies at, or where the very same content lies. */
async function freePath(
  view: View,
  digests: Digests,
  row: VolumeRow,
  file: Arrived,
  path: string,
  transaction: Transaction,
): Promise<string> {
  const { dir, name, ext } = posix.parse(path);
  for (let number = 0; number < maxNumbered; number++) {
    const candidate = number === 0 ? path : posix.join(dir, `${name}-${number}${ext}`);
    const stats = statsAt(view, candidate);
    if (stats === null) return candidate;
    if (!stats.isFile() || stats.size !== file.size) continue;
    const facts = { path: candidate, size: stats.size, modifiedMs: stats.mtimeMs };
    const known = (await digests.known(row.volume_id, [facts], transaction)).get(candidate);
    if (known?.sha256 === file.sha256) return candidate;
  }
  throw new Problem("destination_exists", "There are too many files of that name");
}
