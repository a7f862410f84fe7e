/** A store of objects that speaks S3's protocol: put, read and removed by name. */
import { createHash } from "node:crypto";
import { ObjectsUnavailable } from "./failure.ts";
import type { ObjectSettings } from "./settings.ts";
import { bodyOf, boundedText, type ObjectTransport, objectTransport, type TransportOptions } from "./transport.ts";
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
const maxAnswerBytes = 8 * 1024 * 1024;

/** @throws TypeError where `objectContradictions` finds something */
export function openObjects(settings: ObjectSettings, options: TransportOptions) {
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey, s3Bucket: bucket } = settings;
  if (accessKeyId === null || secretAccessKey === null || bucket === "") throw new TypeError("the store is not set up");
  const { s3Endpoint: endpoint, s3Region: region, s3ForcePathStyle: forcePathStyle, s3Prefix: prefix } = settings;
  const address = { endpoint, region, bucket, forcePathStyle, accessKeyId, secretAccessKey };
  return objectsOver(objectTransport(address, options), prefix);
}

/** @param prefix begins every name; empty: none */
function objectsOver(send: ObjectTransport, prefix: string) {
  const room = new PartRoom();
  const full = (key: string): string => (prefix === "" ? key : `${prefix}/${key}`);
  let removesMany = true;

  async function removeTogether(keys: readonly string[]): Promise<boolean> {
    const objects = keys.map((key) => `<Object><Key>${full(key)}</Key></Object>`).join("");
    const body = new TextEncoder().encode(`<Delete><Quiet>true</Quiet>${objects}</Delete>`);
    const headers = {
      "content-md5": createHash("md5").update(body).digest("base64"),
      "content-type": "application/xml",
    };
    const request = {
      method: "POST",
      key: "",
      query: { delete: "" },
      headers,
      body,
      expected: [400, 405, 501],
    } as const;
    const answer = await send(request);
    const said = await boundedText(answer, maxAnswerBytes);
    if (!answer.ok) return false;
    const [, code = ""] = /<Error>.*?<Code>([A-Za-z0-9]{1,64})<\/Code>/s.exec(said) ?? [];
    if (code !== "") throw new ObjectsUnavailable(`not removed: ${code}`, answer.status);
    return true;
  }

  const store = {
    upload: (options: UploadOptions): ObjectUpload => beginUpload(send, room, { ...options, key: full(options.key) }),

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
      const headers = { range: `bytes=${start}-${end - 1}` };
      const answer = await send({ method: "GET", key: full(key), headers, signal, expected: [404] });
      if (answer.status !== 404) return exactly(bodyOf(answer, signal), end - start);
      await boundedText(answer, maxAnswerBytes);
      return null;
    },

    /** Whether there is such an object, and its size. */
    async look(key: string): Promise<StoredObject | null> {
      const answer = await send({ method: "HEAD", key: full(key), expected: [404] });
      return answer.ok ? { key, size: Number(answer.headers.get("content-length") ?? 0) } : null;
    },

    /** Repeatable. @param keys without characters that XML reserves */
    async remove(keys: readonly string[]): Promise<void> {
      for (let at = 0; at < keys.length; at += maxRemoved) {
        const some = keys.slice(at, at + maxRemoved);
        if (removesMany && some.length > 1) removesMany = await removeTogether(some);
        if (removesMany && some.length > 1) continue;
        for (let from = 0; from < some.length; from += removedAtOnce) {
          const few = some.slice(from, from + removedAtOnce);
          await Promise.all(few.map((key) => removeOne(send, full(key))));
        }
      }
    },

    /** Takes away the parts of an upload that its process did not end. Repeatable. */
    abandon: (key: string, uploadId: string): Promise<void> => abortUpload(send, full(key), uploadId),

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
