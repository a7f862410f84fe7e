/** A store of objects that speaks S3's protocol: put, read and removed by name. */
import { piecesOf } from "./body.ts";
import { type ObjectClient, objectClient, unlessMissing } from "./client.ts";
import { ObjectsUnavailable } from "./failure.ts";
import type { ObjectSettings } from "./settings.ts";
import { abortUpload, beginUpload, type ObjectUpload, PartRoom, removeOne, type UploadOptions } from "./upload.ts";

export interface StoredObject {
  readonly key: string;
  readonly size: number;
}

export type ObjectStore = ReturnType<typeof openObjects>;

/** A request names so many objects at most. */
const maxRemoved = 1_000;
/** Where a store removes objects one by one. */
const removedAtOnce = 16;
/** A store that says nothing for so long does not answer. Callers are answered themselves within seconds. */
const usualAnswerMs = 4_000;
/** What a store answers that cannot remove many at once. */
const refusals: readonly unknown[] = [400, 405, 501];

export interface ObjectOptions {
  /** Until the head of an answer is there, beside the time that a body may take, ms. */
  readonly answerMs?: number;
}

/** @throws TypeError where `objectContradictions` finds something */
export function openObjects(settings: ObjectSettings, { answerMs = usualAnswerMs }: ObjectOptions = {}) {
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey, s3Bucket: bucket } = settings;
  if (accessKeyId === null || secretAccessKey === null || bucket === "") throw new TypeError("the store is not set up");
  const { s3Endpoint: endpoint, s3Region: region, s3ForcePathStyle: forcePathStyle, s3Prefix: prefix } = settings;
  const ask = objectClient({ endpoint, region, forcePathStyle, accessKeyId, secretAccessKey }, answerMs);
  return objectsOver(ask, bucket, prefix);
}

/** @param prefix begins every name; empty: none */
function objectsOver(ask: ObjectClient, bucket: string, prefix: string) {
  const room = new PartRoom();
  const full = (key: string): string => (prefix === "" ? key : `${prefix}/${key}`);
  const at = (key: string) => ({ Bucket: bucket, Key: full(key) });
  let removesMany = true;

  async function removeTogether(keys: readonly string[]): Promise<boolean> {
    const Objects = keys.map((key) => ({ Key: full(key) }));
    try {
      const Delete = { Objects, Quiet: true };
      const { Errors = [] } = await ask((s3, options) => s3.deleteObjects({ Bucket: bucket, Delete }, options));
      const [first] = Errors;
      if (first === undefined) return true;
      throw new ObjectsUnavailable(`not removed: ${/^[A-Za-z0-9]{1,64}$/.exec(first.Code ?? "")?.[0] ?? ""}`, 200);
    } catch (error) {
      if (error instanceof ObjectsUnavailable && refusals.includes(error.answered)) return false;
      throw error;
    }
  }

  const store = {
    upload: (options: UploadOptions): ObjectUpload =>
      beginUpload(ask, room, { at: at(options.key), begun: options.begun }),

    /**
     * Bytes of an object from `start` to before `end`, as they come; null: there is no such object. No bytes are not asked for.
     * @throws Problem 503, also while it is read, where the store stops
     */
    async read(
      key: string,
      { start, end }: { readonly start: number; readonly end: number },
      signal: AbortSignal | null = null,
    ): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>> | null> {
      // No range of bytes says nothing, and an empty object has none.
      if (start >= end) return nothing();
      const Range = `bytes=${start}-${end - 1}`;
      const answer = await unlessMissing(
        ask((s3, options) => s3.getObject({ ...at(key), Range }, options), { signal }),
      );
      if (answer === null) return null;
      return exactly(piecesOf(answer.Body?.transformToWebStream() ?? null, signal), end - start);
    },

    /** Whether there is such an object, and its size. */
    async look(key: string): Promise<StoredObject | null> {
      const answer = await unlessMissing(ask((s3, options) => s3.headObject(at(key), options)));
      return answer === null ? null : { key, size: answer.ContentLength ?? 0 };
    },

    /** Repeatable. */
    async remove(keys: readonly string[]): Promise<void> {
      for (let done = 0; done < keys.length; done += maxRemoved) {
        const some = keys.slice(done, done + maxRemoved);
        if (removesMany && some.length > 1) removesMany = await removeTogether(some);
        if (removesMany && some.length > 1) continue;
        for (let from = 0; from < some.length; from += removedAtOnce) {
          const few = some.slice(from, from + removedAtOnce);
          await Promise.all(few.map((key) => removeOne(ask, at(key))));
        }
      }
    },

    /** Takes away the parts of an upload that its process did not end. Repeatable. */
    abandon: (key: string, uploadId: string): Promise<void> => abortUpload(ask, at(key), uploadId),

    /** Writes, reads and removes something. @param name of its own @throws ObjectsUnavailable */
    async probe(name: string): Promise<void> {
      const written = new TextEncoder().encode(name);
      const upload = store.upload({ key: name });
      await upload.write(written);
      await upload.finish();
      const pieces: Uint8Array[] = [];
      for await (const piece of (await store.read(name, { start: 0, end: written.byteLength })) ?? [])
        pieces.push(piece);
      await store.remove([name]);
      if (!Buffer.concat(pieces).equals(written)) throw new ObjectsUnavailable("what was read is not what was written");
      if ((await store.look(name)) !== null) throw new ObjectsUnavailable("what was removed is still there");
    },
  };
  return store;
}

async function* nothing(): AsyncGenerator<Uint8Array<ArrayBuffer>> {}

/** @throws ObjectsUnavailable where other than so many bytes come */
async function* exactly(source: AsyncGenerator<Uint8Array<ArrayBuffer>>, bytes: number) {
  let left = bytes;
  for await (const piece of source) {
    left -= piece.byteLength;
    if (left < 0) throw new ObjectsUnavailable("the object is longer than it should be");
    yield piece;
  }
  if (left !== 0) throw new ObjectsUnavailable("the answer broke off");
}
