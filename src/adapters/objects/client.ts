/** AWS's client for one bucket: loaded when it is first needed, and told everything, so that it looks nowhere else. */
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import type { S3, S3ClientConfig } from "@aws-sdk/client-s3";
import type { Secret } from "../../lib/secret.ts";
import { ObjectsUnavailable } from "./failure.ts";
import { fetchHandler, Unanswered } from "./handler.ts";

export interface ObjectsAddress {
  /** Null: AWS. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly forcePathStyle: boolean;
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
}

export interface AskOptions {
  /** Gives the request up. */
  readonly signal?: AbortSignal | null;
  /** How long the store may work on it beside the usual time, ms. */
  readonly workMs?: number;
}

type RequestOptions = NonNullable<Parameters<S3["getObject"]>[1]>;

/** Asks the store something, of which every failure is an ObjectsUnavailable, or the reason of the signal. */
export type ObjectClient = <T>(
  work: (s3: S3, options: RequestOptions) => Promise<T>,
  options?: AskOptions,
) => Promise<T>;

/** What fails at once is tried again; what does not answer is not, since a caller waits. */
const pausesMs = [100, 400];
const passing: readonly unknown[] = [429, 500, 502, 503, 504];

/** @param answerMs until the head of an answer is there, beside the time that the body may take */
export function objectClient(address: ObjectsAddress, answerMs: number): ObjectClient {
  let loading: Promise<S3> | null = null;
  return async (work, { signal = null, workMs = 0 } = {}) => {
    loading ??= load(address, answerMs);
    const s3 = await loading;
    signal?.throwIfAborted();
    try {
      return await work(s3, { requestTimeout: answerMs + workMs, ...(signal === null ? {} : { abortSignal: signal }) });
    } catch (error) {
      signal?.throwIfAborted();
      throw failureOf(error);
    }
  };
}

/** What the client loads takes some 25 MiB, so a node without an object store does without. */
async function load(address: ObjectsAddress, answerMs: number): Promise<S3> {
  const { S3 } = await import("@aws-sdk/client-s3");
  const s3 = new S3(configOf(address, answerMs));
  s3.middlewareStack.add(
    (next) => (args) => {
      const { headers, body } = args.request as Signable;
      // TLS protects bodies: a digest of each would be as much work again.
      headers["x-amz-content-sha256"] = "UNSIGNED-PAYLOAD";
      if (typeof body === "string" && "x-amz-checksum-crc32" in headers) withDigest(headers, body);
      return next(args);
    },
    { step: "build", priority: "low", name: "bodies" },
  );
  return s3;
}

/** What the client sends to a store, as it is signed. */
interface Signable {
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** Stores other than AWS's know no other digest of a list of what is removed. */
function withDigest(headers: Record<string, string>, body: string): void {
  delete headers["x-amz-checksum-crc32"];
  delete headers["x-amz-sdk-checksum-algorithm"];
  headers["content-md5"] = createHash("md5").update(body).digest("base64");
}

/** What is not named here the client reads from the environment and from files of the user's. */
function configOf(address: ObjectsAddress, answerMs: number): S3ClientConfig {
  const { endpoint, region, forcePathStyle, accessKeyId, secretAccessKey } = address;
  return {
    ...(endpoint === null ? {} : { endpoint: endpoint.replace(/\/+$/, "") }),
    ignoreConfiguredEndpointUrls: true,
    region,
    credentials: { accessKeyId: accessKeyId.reveal(), secretAccessKey: secretAccessKey.reveal() },
    forcePathStyle: forcePathStyle || (endpoint !== null && hasOneHost(endpoint)),
    requestHandler: fetchHandler(answerMs),
    retryStrategy,
    retryMode: "standard",
    maxAttempts: pausesMs.length + 1,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    expectContinueHeader: false,
    defaultsMode: "standard",
    authSchemePreference: [],
    disableClockSkewCorrection: true,
    disableS3ExpressSessionAuth: true,
    sigv4aSigningRegionSet: [],
    useArnRegion: false,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    defaultUserAgentProvider: async () => [["svc"]],
    userAgentAppId: async () => undefined,
  };
}

/** Whether no name can be put before that of the host. */
function hasOneHost(endpoint: string): boolean {
  const { hostname } = new URL(endpoint);
  return hostname === "localhost" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
}

type RetryStrategy = Extract<
  NonNullable<S3ClientConfig["retryStrategy"]>,
  { readonly acquireInitialRetryToken: unknown }
>;

const triedAgain = (times: number, pauseMs: number) => ({
  getRetryCount: () => times,
  getRetryDelay: () => pauseMs,
});

const retryStrategy: RetryStrategy = {
  acquireInitialRetryToken: async () => triedAgain(0, 0),
  async refreshRetryTokenForRetry(token, { error }) {
    const times = token.getRetryCount();
    const pause = pausesMs[times];
    if (pause === undefined || !isPassing(error)) throw new Error("it is not tried again");
    return triedAgain(times + 1, pause);
  },
  recordSuccess() {},
};

const isPassing = (error: unknown): boolean =>
  error instanceof Unanswered ? error.isPassing : passing.includes(answeredBy(error).status);

/** Callers get neither the store's text nor anything the client knows of the request. */
function failureOf(error: unknown): ObjectsUnavailable {
  if (error instanceof ObjectsUnavailable) return error;
  if (error instanceof Unanswered) return error.failure;
  const { status, code } = answeredBy(error);
  if (status === null) return new ObjectsUnavailable(error instanceof Error ? error.name : "an error");
  return new ObjectsUnavailable(`${status} ${code}`.trim(), status);
}

/** What the client writes into an error that an answer led to. */
interface Answered {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly Code?: unknown;
}

/** The status of the answer, and the store's own code for it. */
function answeredBy(error: unknown): { readonly status: number | null; readonly code: string } {
  const { $metadata, Code: code } = (error ?? {}) as Answered;
  const isCode = typeof code === "string" && /^[A-Za-z0-9]{1,64}$/.test(code);
  return { status: $metadata?.httpStatusCode ?? null, code: isCode ? code : "" };
}

/** Null where there is no such thing. */
export async function unlessMissing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ObjectsUnavailable && error.answered === 404) return null;
    throw error;
  }
}
