/** Uploads: streamed beside the volume, checked, and moved into place whole or not at all. */

import { createHash } from "node:crypto";
import { posix } from "node:path";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import type { StorageQuota } from "../../../../actors/policy/storage-quota.ts";
import { ToolFailure } from "../../tools/port.ts";
import { sniffBytes, sniffedType, typeOfName } from "../media-types.ts";
import { answering, invalidPath, isDirectoryProblem, PathRefused, readPath } from "../paths.ts";
import type { Change, Draft, Entry, Places } from "../places/port.ts";
import { ownerOfRow, type VolumeRow } from "../records.ts";
import type { Uploaded } from "../schema.ts";
import type { Caller, VolumeService } from "../service.ts";
import { bodyOf } from "./body.ts";
import { boundaryOf, decoded, partsOf } from "./multipart.ts";
import { boundsOf, type ComingUpload, noRoom, type UploadRoom } from "./upload-room.ts";

/** Room for what stands around a file in a multipart body. */
const envelopeBytes = 1024 * 1024;
const maxNumbered = 1000;
const maxNameBytes = 255;

/** A file that has arrived and lies beside the volume. */
interface Arrived {
  readonly draft: Draft;
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
  room: UploadRoom,
  caller: Caller,
  row: VolumeRow,
  request: Request,
  pathInQuery: string | null,
): Promise<Uploaded> {
  const { places } = service;
  const quota = await service.quotaOf(caller.tenant);
  const limit = quota.fileBytes;
  const boundary = boundaryOf(request.headers.get("content-type"));
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > limit + (boundary === null ? 0 : envelopeBytes)) throw tooLarge(limit);
  const nameOf = (given: string | null, path: string | null) => usableName(given) ?? baseName(path) ?? "upload.bin";
  const named = boundary === null ? nameInHeader(request.headers) : null;
  // Refused before anything is read.
  if (boundary === null) await answering(() => targetOf(places, row, pathInQuery, nameOf(named, pathInQuery)));
  await service.refreshed(row);
  const held = await service.records.held(caller.tenant, ownerOfRow(row, caller), row.volume_id);
  /** Bytes that the file replaces. Where its path is still to come they may be all that the volume holds. */
  const replacedBy = async (filename: string | null, path: string | null): Promise<number> => {
    if (path === null && boundary !== null) return held.volumeBytes;
    const target = await targetOf(places, row, path, nameOf(filename, path));
    return (await entryAt(places, row, target.path))?.size ?? 0;
  };
  const drafts: Draft[] = [];
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
    const draft = await places.draft(row);
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
    const target = await answering(() => targetOf(places, row, path, nameOf(file.filename, path)));
    const placed = await answering(() => place(service, caller, quota, row, file, target));
    for (const [index, one] of coming.entries()) one.close(index === 0 ? placed.grown : 0);
    return placed.uploaded;
  } finally {
    // One that cannot be taken away now is taken up by a sweep: it keeps no room, and hides no answer.
    await Promise.allSettled(drafts.map((draft) => draft.discard()));
    // Only now: the room that a draft takes is another upload's once it is gone.
    for (const one of coming) one.close(0);
  }
}

const tooLarge = (limit: number): Problem =>
  new Problem("file_too_large", `A file may have at most ${limit} bytes`, { limit }, { Connection: "close" });

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
  draft: Draft,
  filename: string | null,
  limit: number,
  take: (bytes: number) => void,
): Promise<Arrived> {
  const hash = createHash("sha256");
  let size = 0;
  let head: Uint8Array = new Uint8Array(0);
  for await (const piece of source) {
    size += piece.byteLength;
    if (size > limit) throw tooLarge(limit);
    take(piece.byteLength);
    if (head.byteLength < sniffBytes) head = Buffer.concat([head, piece]).subarray(0, sniffBytes);
    // What was handed over before is written meanwhile.
    hash.update(piece);
    await draft.write(piece);
  }
  await draft.finish();
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
  if (unusable || Buffer.byteLength(name) > maxNameBytes) {
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

async function targetOf(places: Places, row: VolumeRow, path: string | null, filename: string): Promise<Target> {
  if (path === null || path === "") return { path: readPath(`/uploads/${filename}`), chosen: true };
  const wanted = readPath(path);
  const isNamedOne = path.endsWith("/") || wanted === "/" || wanted === "/uploads";
  const isFolder = isNamedOne || (await entryAt(places, row, wanted))?.directory === true;
  return { path: isFolder ? readPath(`${wanted}/${filename}`) : wanted, chosen: false };
}

async function entryAt(places: Places, row: VolumeRow, path: string): Promise<Entry | null> {
  try {
    return await places.look(row, path);
  } catch (error) {
    if (error instanceof ToolFailure && error.code === "not_found") return null;
    throw error;
  }
}

/** Decides over the quotas and moves the file to its place, in one piece with what is counted. */
async function place(
  service: VolumeService,
  caller: Caller,
  quota: StorageQuota,
  row: VolumeRow,
  file: Arrived,
  target: Target,
): Promise<{ readonly uploaded: Uploaded; readonly grown: number }> {
  const { tenant } = caller;
  const { places, records } = service;
  await service.refreshed(row);
  return places.change(row, async (change) => {
    const path = target.chosen ? await freePath(change, file, target.path) : target.path;
    const name = posix.basename(path);
    const before = await change.look(path);
    if (before?.directory) throw isDirectoryProblem();
    const more = file.size - (before?.size ?? 0);
    const held = await records.held(tenant, ownerOfRow(row, caller), row.volume_id, change.transaction);
    const full = boundsOf(caller, quota, row, held).find(({ limit, used }) => more > 0 && used + more > limit);
    if (full !== undefined) throw noRoom(full, quota);
    const content = { sha256: file.sha256, mime_type: sniffedType(file.head) ?? typeOfName(name) };
    const { modifiedMs } = await change.put(path, { draft: file.draft, size: file.size, content });
    const uploaded = {
      volume_id: row.volume_id,
      path,
      name,
      mime_type: content.mime_type,
      size: file.size,
      size_bytes: file.size,
      sha256: file.sha256,
      uploaded_at: iso(modifiedMs),
    };
    return { uploaded, grown: more };
  });
}

/** A path nothing else lies at, or where the very same content lies. */
async function freePath(change: Change, file: Arrived, path: string): Promise<string> {
  const { dir, base } = posix.parse(path);
  for (let number = 0; number < maxNumbered; number++) {
    const candidate = number === 0 ? path : posix.join(dir, numbered(base, number));
    const before = await change.look(candidate);
    if (before === null || before.content?.sha256 === file.sha256) return candidate;
  }
  throw new Problem("destination_exists", "There are too many files of that name");
}

/** The number before the extension; what a name may not be longer for is cut off before it. */
function numbered(base: string, number: number): string {
  const parsed = posix.parse(base);
  const isExtension = Buffer.byteLength(parsed.ext) < maxNameBytes / 2;
  const end = `-${number}${isExtension ? parsed.ext : ""}`;
  const stem = [...(isExtension ? parsed.name : base)];
  while (Buffer.byteLength(stem.join("")) + Buffer.byteLength(end) > maxNameBytes) stem.pop();
  return `${stem.join("")}${end}`;
}
