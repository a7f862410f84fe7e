/** Putting one object: pieces as they come, in one request where they are few, else in parts, at flat memory. */
import { Problem } from "../../../actors/kernel/problem.ts";
import { ObjectsUnavailable } from "./failure.ts";
import { boundedText, type ObjectTransport } from "./transport.ts";

/** Every part but the last; stores take 5 MiB or more. */
const partBytes = 8 * 1024 * 1024;
const maxParts = 10_000;
/** The largest object whose length is not known when it begins. */
const maxObjectBytes = partBytes * maxParts;
const firstBytes = 64 * 1024;
/** Parts of one upload that are sent while the next one fills. */
const maxSending = 3;
/** A store may take so long to put parts together, ms. */
const joinMs = 30_000;
const maxAnswerBytes = 64 * 1024;

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

export function beginUpload(send: ObjectTransport, room: PartRoom, { key, begun }: UploadOptions): ObjectUpload {
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
    const answer = await send({ method: "POST", key, query: { uploads: "" }, signal });
    const [, id] = /<UploadId>([^<]{1,1024})<\/UploadId>/.exec(await boundedText(answer, maxAnswerBytes)) ?? [];
    if (id === undefined) throw new ObjectsUnavailable("it began no upload", answer.status);
    return id;
  }

  async function sendPart(id: string, number: number, body: Uint8Array<ArrayBuffer>): Promise<void> {
    const query = { partNumber: String(number), uploadId: id };
    const answer = await send({ method: "PUT", key, query, body, signal });
    await boundedText(answer, maxAnswerBytes);
    etags[number - 1] = answer.headers.get("etag") ?? "";
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
    const parts = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
    const text = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
    const body = new TextEncoder().encode(text);
    const headers = { "content-type": "application/xml" };
    const request = {
      method: "POST",
      key,
      query: { uploadId: id },
      headers,
      body,
      signal,
      workMs: joinMs,
      expected: [404],
    } as const;
    const answer = await send(request);
    const said = await boundedText(answer, maxAnswerBytes);
    // A store may begin its answer before it knows how it ends.
    if (answer.ok && !said.includes("<Error>")) return;
    // What was said to an attempt before this one may have been lost.
    const there = await send({ method: "HEAD", key, expected: [404], signal });
    if (!there.ok) throw new ObjectsUnavailable("it did not put the parts together", answer.status);
  }

  return {
    async write(piece) {
      if (failure !== null) throw failure;
      try {
        for (let at = 0; at < piece.byteLength; ) {
          const take = Math.min(piece.byteLength - at, partBytes - used);
          makeRoom(take);
          buffer.set(piece.subarray(at, at + take), used);
          used += take;
          at += take;
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
          const answer = await send({ method: "PUT", key, body: buffer.subarray(0, used), signal });
          await boundedText(answer, maxAnswerBytes);
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
      if (uploadId !== null && !isDone) await abortUpload(send, key, uploadId);
      // A request that was given up may have been done all the same.
      else await removeOne(send, key);
    },
  };
}

const tooLarge = (): Problem =>
  new Problem("file_too_large", `A file may have at most ${maxObjectBytes} bytes`, { limit: maxObjectBytes });

/** Takes away the parts of an upload that does not go on. Repeatable. */
export async function abortUpload(send: ObjectTransport, key: string, uploadId: string): Promise<void> {
  const answer = await send({ method: "DELETE", key, query: { uploadId }, expected: [404] });
  await boundedText(answer, maxAnswerBytes);
}

/** Repeatable. */
export async function removeOne(send: ObjectTransport, key: string): Promise<void> {
  await boundedText(await send({ method: "DELETE", key, expected: [404] }), maxAnswerBytes);
}
