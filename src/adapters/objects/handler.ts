/**
 * Carries requests of AWS's client over `fetch`. Its own handlers leave a request under way when its time is over,
 * follow redirects with the signature, and read answers of any length.
 */
import { allOf, type Bytes } from "./body.ts";
import { ObjectsUnavailable } from "./failure.ts";

/** What the client has a handler send. */
interface SignedRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  /** Encoded. */
  readonly path: string;
  /** Not encoded. */
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Record<string, string>;
  /** Of this adapter: bytes in memory, or a text that the client made. */
  readonly body?: Uint8Array<ArrayBuffer> | string | undefined;
}

interface HandlerOptions {
  /** Also of a kind that this adapter does not give. */
  readonly abortSignal?: unknown;
  readonly requestTimeout?: number | undefined;
}

/** No answer came. Not the failure that callers see: the client writes into what it catches. */
export class Unanswered extends Error {
  constructor(
    readonly failure: ObjectsUnavailable,
    /** It failed at once, and may be well in a moment. */
    readonly isPassing: boolean,
  ) {
    super(failure.reason);
  }
}

/** A body that is sent may take its time at this pace at least. */
const slowestBytesPerMs = 1_024;
const maxAnswerBytes = 4 * 1024 * 1024;
const maxErrorBytes = 16 * 1024;

/** @param answerMs until the head of an answer is there, beside the time that the body may take; a request's own `requestTimeout` goes before */
export function fetchHandler(answerMs: number) {
  return {
    async handle(request: SignedRequest, { abortSignal, requestTimeout = answerMs }: HandlerOptions = {}) {
      const signal = abortSignal instanceof AbortSignal ? abortSignal : null;
      const answer = await ask(request, requestTimeout, signal);
      const headers = Object.fromEntries(answer.headers);
      return { response: { statusCode: answer.status, headers, body: await bodyOf(request, answer, signal) } };
    },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
  };
}

async function ask(request: SignedRequest, answerMs: number, signal: AbortSignal | null): Promise<Response> {
  const { method, headers, body } = request;
  const silence = new AbortController();
  const unanswered = new Unanswered(new ObjectsUnavailable("no answer in time"), false);
  const timer = setTimeout(() => silence.abort(unanswered), answerMs + (body?.length ?? 0) / slowestBytesPerMs);
  try {
    return await fetch(addressOf(request), {
      method,
      headers,
      // The signature goes to the server that the operator named, and to no other.
      redirect: "manual",
      decompress: false,
      signal: signal === null ? silence.signal : AbortSignal.any([silence.signal, signal]),
      ...(body === undefined ? {} : { body }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (silence.signal.aborted) throw unanswered;
    // What `fetch` throws may name the URL.
    throw new Unanswered(new ObjectsUnavailable(error instanceof Error ? nameOf(error) : "an error"), true);
  } finally {
    clearTimeout(timer);
  }
}

function nameOf(error: Error): string {
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" ? code : error.name;
}

/** The query goes encoded as the client signed it. */
function addressOf({ protocol, hostname, port, path, query = {} }: SignedRequest): string {
  const words = Object.entries(query).flatMap(([name, given]) =>
    [given].flat().map((value) => `${strictly(name)}=${strictly(value ?? "")}`),
  );
  const search = words.length === 0 ? "" : `?${words.sort().join("&")}`;
  return `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}${search}`;
}

/** Encodes what RFC 3986 does not reserve. */
function strictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The content of an object comes as it is read, everything else whole: the client takes any length. */
async function bodyOf(
  { method }: SignedRequest,
  answer: Response,
  signal: AbortSignal | null,
): Promise<Bytes | Uint8Array> {
  const { ok, body } = answer;
  if (ok && method === "GET") return body ?? new Blob([]).stream();
  // The status says enough where its text does not come.
  if (!ok) return await allOf(body, signal, maxErrorBytes).catch(() => new Uint8Array());
  return await allOf(body, signal, maxAnswerBytes).catch((error: unknown) => {
    throw error instanceof ObjectsUnavailable ? new Unanswered(error, false) : error;
  });
}
