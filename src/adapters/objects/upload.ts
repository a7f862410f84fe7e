/** Putting one object: pieces as they come, in one request where they are few, else in parts, at flat memory. */
import { Problem } from "../../../actors/kernel/problem.ts";
import { type ObjectClient, unlessMissing } from "./client.ts";
import { ObjectsUnavailable } from "./failure.ts";

/** Every part but the last; stores take 5 MiB or more. */
const partBytes = 8 * 1024 * 1024;
const maxParts = 10_000;
/** The largest object whose length is not known when it begins. */
const maxObjectBytes = partBytes * maxParts;
const maxIdLength = 1_024;
const firstBytes = 64 * 1024;
/** Parts of one upload that are sent while the next one fills. */
const maxSending = 3;
/** A store may take so long to put parts together, ms. */
const joinMs = 30_000;

/** An object on its way. Nothing shows it before it is finished. */
export interface ObjectUpload {
  /** Takes the next piece; resolves once another one may follow. Rejects once something could not be kept. */
  write(piece: Uint8Array): Promise<void>;
  /** The object is there, whole. @throws Problem 503 */
  finish(): Promise<void>;
  /** Gives it up, before or after its end, and takes away what arrived. Repeatable. @throws Problem 503 */
  discard(): Promise<void>;
}

export interface UploadOptions {
  readonly key: string;
  /** Told the name of the upload in parts before the first of them is sent, so that another process can take it away. */
  readonly begun?: (uploadId: string) => Promise<void>;
}

/** An object in its bucket. */
export interface ObjectName {
  readonly Bucket: string;
  readonly Key: string;
}

/** Room for parts beyond the first one that each upload of this process fills. */
export class PartRoom {
  #free: number;

  constructor(parts = 24) {
    this.#free = parts;
  }

  /** @returns false where there is none */
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  leave(): void {
    this.#free += 1;
  }
}

export function beginUpload(
  ask: ObjectClient,
  room: PartRoom,
  { at, begun }: { readonly at: ObjectName; readonly begun: UploadOptions["begun"] },
): ObjectUpload {
  const given = new AbortController();
  const { signal } = given;
  const sending = new Set<Promise<void>>();
  const etags: string[] = [];
  let buffer = new Uint8Array(firstBytes);
  let used = 0;
  let uploadId: string | null = null;
  let failure: unknown = null;
  let isDone = false;
  let isGivenUp = false;

  async function begin(): Promise<string> {
    const { UploadId: id } = await ask((s3, options) => s3.createMultipartUpload(at, options), { signal });
    if (id === undefined || id === "" || id.length > maxIdLength)
      throw new ObjectsUnavailable("it began no upload", 200);
    return id;
  }

  async function sendPart(id: string, number: number, body: Uint8Array<ArrayBuffer>): Promise<void> {
    const part = { ...at, UploadId: id, PartNumber: number, Body: body };
    const { ETag = "" } = await ask((s3, options) => s3.uploadPart(part, options), { signal });
    etags[number - 1] = ETag;
  }

  /** Sends what is full, and goes on once there is room for the next part. */
  async function dispatch(): Promise<void> {
    if (etags.length === maxParts) throw tooLarge();
    if (uploadId === null) {
      uploadId = await begin();
      await begun?.(uploadId);
    }
    const number = etags.push("");
    const isExtra = sending.size > 0 && room.take();
    const part = sendPart(uploadId, number, buffer.subarray(0, used))
      .catch((error) => {
        failure ??= error;
        given.abort(error);
      })
      .finally(() => {
        sending.delete(part);
        if (isExtra) room.leave();
      });
    sending.add(part);
    // Without room for more this one has to be away before the next fills.
    while (sending.size >= maxSending || (sending.size > 1 && !isExtra)) await Promise.race(sending);
    if (failure !== null) throw failure;
    buffer = new Uint8Array(partBytes);
    used = 0;
  }

  function makeRoom(more: number): void {
    if (used + more <= buffer.byteLength) return;
    const size = Math.min(partBytes, Math.max(used + more, buffer.byteLength * 4));
    const larger = new Uint8Array(size);
    larger.set(buffer.subarray(0, used));
    buffer = larger;
  }

  async function complete(id: string): Promise<void> {
    const Parts = etags.map((ETag, index) => ({ PartNumber: index + 1, ETag }));
    const whole = { ...at, UploadId: id, MultipartUpload: { Parts } };
    try {
      await ask((s3, options) => s3.completeMultipartUpload(whole, options), { signal, workMs: joinMs });
    } catch (error) {
      const status = error instanceof ObjectsUnavailable ? (error.answered ?? 0) : 0;
      if (status !== 404 && status < 500) throw error;
      // What was said to an attempt before this one may have been lost.
      const there = await unlessMissing(ask((s3, options) => s3.headObject(at, options), { signal }));
      if (there === null) throw error;
    }
  }

  return {
    async write(piece) {
      if (failure !== null) throw failure;
      try {
        for (let taken = 0; taken < piece.byteLength; ) {
          const take = Math.min(piece.byteLength - taken, partBytes - used);
          makeRoom(take);
          buffer.set(piece.subarray(taken, taken + take), used);
          used += take;
          taken += take;
          if (used === partBytes) await dispatch();
        }
      } catch (error) {
        failure ??= error;
        throw failure;
      }
    },

    async finish() {
      if (failure !== null) throw failure;
      try {
        if (uploadId === null) {
          const whole = { ...at, Body: buffer.subarray(0, used) };
          await ask((s3, options) => s3.putObject(whole, options), { signal });
        } else {
          if (used > 0) await dispatch();
          await Promise.all(sending);
          if (failure !== null) throw failure;
          await complete(uploadId);
        }
        isDone = true;
      } catch (error) {
        failure ??= error;
        throw failure;
      }
    },

    async discard() {
      // A store that just did not answer is not asked again while a caller waits.
      if (failure instanceof ObjectsUnavailable && failure.answered === null && !isGivenUp) throw failure;
      isGivenUp = true;
      failure ??= new ObjectsUnavailable("given up");
      given.abort(failure);
      await Promise.allSettled(sending);
      if (uploadId !== null && !isDone) await abortUpload(ask, at, uploadId);
      // A request that was given up may have been done all the same.
      else await removeOne(ask, at);
    },
  };
}

const tooLarge = (): Problem =>
  new Problem("file_too_large", `A file may have at most ${maxObjectBytes} bytes`, { limit: maxObjectBytes });

/** Takes away the parts of an upload that does not go on. Repeatable. */
export async function abortUpload(ask: ObjectClient, at: ObjectName, uploadId: string): Promise<void> {
  const upload = { ...at, UploadId: uploadId };
  await unlessMissing(ask((s3, options) => s3.abortMultipartUpload(upload, options)));
}

/** Repeatable. */
export async function removeOne(ask: ObjectClient, at: ObjectName): Promise<void> {
  await unlessMissing(ask((s3, options) => s3.deleteObject(at, options)));
}
