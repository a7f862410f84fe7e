/** One request to a store of objects: where it goes, how long it may take, how often it is tried. */
import { isIP } from "node:net";
import { ObjectsUnavailable } from "./failure.ts";
import { type SigningKeys, signed, strictly } from "./sign.ts";

export interface ObjectsAddress extends SigningKeys {
  /** Null: AWS. */
  readonly endpoint: string | null;
  readonly bucket: string;
  readonly forcePathStyle: boolean;
}

export interface ObjectRequest {
  readonly method: "GET" | "PUT" | "POST" | "DELETE" | "HEAD";
  /** Name of an object; empty: the bucket. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  /** By names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Statuses beside 2xx that are answers to this request. */
  readonly expected?: readonly number[];
  /** How long the store may work on it beside that, ms. */
  readonly workMs?: number;
  /** Gives it up. */
  readonly signal?: AbortSignal | null;
}

/** The store's answer, its head arrived. */
export type ObjectTransport = (request: ObjectRequest) => Promise<Response>;

export interface TransportOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Until the head of an answer is there, beside the time that the body may take, ms. */
  readonly answerMs?: number;
}

/** A store that says nothing for so long does not answer. Callers are answered themselves within seconds. */
const usualAnswerMs = 4_000;
/** A body that is sent may take its time at this pace at least. */
const slowestBytesPerMs = 1_024;
/** What fails at once is tried again; what does not answer is not, since a caller waits. */
const pausesMs = [100, 400];
const passing: readonly number[] = [429, 500, 502, 503, 504];
const maxErrorBytes = 16 * 1024;

export function objectTransport(address: ObjectsAddress, options: TransportOptions): ObjectTransport {
  const { now, answerMs = usualAnswerMs } = options;
  const { base, path } = placeOf(address);

  async function once(request: ObjectRequest): Promise<Response> {
    const { method, key, query = {}, headers = {}, body, workMs = 0, signal = null } = request;
    const url = new URL(base);
    url.pathname = `${path}/${key.split("/").map(strictly).join("/")}`;
    const { search, headers: sent } = signed({ method, url, query, headers }, address, now());
    url.search = search;
    const silence = new AbortController();
    const limit = answerMs + workMs + (body?.byteLength ?? 0) / slowestBytesPerMs;
    const timer = setTimeout(() => silence.abort(new ObjectsUnavailable("no answer in time")), limit);
    try {
      return await fetch(url, {
        method,
        headers: sent,
        // The signature goes to the server that the operator named, and to no other.
        redirect: "manual",
        decompress: false,
        signal: signal === null ? silence.signal : AbortSignal.any([silence.signal, signal]),
        ...(body === undefined ? {} : { body }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (silence.signal.aborted) throw silence.signal.reason;
      // What `fetch` throws may name the URL.
      throw new Passing(new ObjectsUnavailable(error instanceof Error ? nameOf(error) : "an error"));
    } finally {
      clearTimeout(timer);
    }
  }

  return async (request) => {
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await once(request);
        if (answer.ok || request.expected?.includes(answer.status)) return answer;
        const failure = new ObjectsUnavailable(await reasonOf(answer), answer.status);
        throw passing.includes(answer.status) ? new Passing(failure) : failure;
      } catch (error) {
        if (!(error instanceof Passing)) throw error;
        const pause = pausesMs[attempt];
        if (pause === undefined) throw error.failure;
        await Bun.sleep(pause);
        request.signal?.throwIfAborted();
      }
    }
  };
}

/** It may be gone in a moment. */
class Passing extends Error {
  constructor(readonly failure: ObjectsUnavailable) {
    super(failure.reason);
  }
}

function placeOf({ endpoint, region, bucket, forcePathStyle }: ObjectsAddress) {
  const base = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  const below = base.pathname.replace(/\/+$/, "");
  const isNumber = isIP(base.hostname.replace(/^\[|\]$/g, "")) !== 0;
  if (forcePathStyle || isNumber || base.hostname === "localhost")
    return { base, path: `${below}/${strictly(bucket)}` };
  base.hostname = `${bucket}.${base.hostname}`;
  return { base, path: below };
}

function nameOf(error: Error): string {
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" ? code : error.name;
}

/** The status and the store's own code for it. */
async function reasonOf(answer: Response): Promise<string> {
  const text = await boundedText(answer, maxErrorBytes).catch(() => "");
  const [, code = ""] = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(text) ?? [];
  return `${answer.status} ${code}`.trim();
}

/** How long an answer may stop in its middle, ms. */
const silenceMs = 10_000;

/** The body of an answer, given up where it stops for long. @throws ObjectsUnavailable when it breaks off */
export async function* bodyOf(answer: Response, signal: AbortSignal | null): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = answer.body?.getReader();
  if (reader === undefined) return;
  let isWhole = false;
  try {
    for (;;) {
      const { done, value } = await soon(reader.read(), signal);
      isWhole = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isWhole) await reader.cancel().catch(() => {});
  }
}

function soon<T>(reading: Promise<T>, signal: AbortSignal | null): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    const timer = setTimeout(() => reject(new ObjectsUnavailable("the answer stopped")), silenceMs);
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    reading.then(resolve, () => reject(new ObjectsUnavailable("the answer broke off"))).finally(settle);
  });
}

/** A text of the store's, which is bounded. @throws ObjectsUnavailable */
export async function boundedText(answer: Response, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of bodyOf(answer, null)) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new ObjectsUnavailable("it answered with too much");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
