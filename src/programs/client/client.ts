/**
 * The API from outside, typed by its own document (`api.ts`): what the console and the command line call. It runs in
 * browsers and on Bun.
 *
 *     const svc = createClient({ url: "https://svc.example", token: async () => token });
 *     const { items } = await answer(svc.GET("/v1/agents", { params: { query: { limit: 50 } } }));
 *     const run = await answer(svc.POST("/v1/agents/{id}/execute", { params: { path: { id } }, body: { input } }));
 *
 * Answers are typed as their JSON; `parseAs: "text"` or `"blob"` takes another. Every refusal is an `ApiError`; a service
 * that cannot be reached, an `Unreachable`.
 */
import createFetchClient, { type Client as FetchClient, type Middleware } from "openapi-fetch";
import type { components, paths } from "./api.ts";
import { refusalOf, Unreachable } from "./errors.ts";
import { filledPath } from "./paths.ts";

/** The named shapes of the API, by the names of the document: `Schemas["Agent"]`. */
export type Schemas = components["schemas"];

export interface ClientOptions {
  /** Of the service, with the path it may be served under; without a slash at the end. */
  readonly url: string;
  /**
   * The bearer token for the next request; null sends none. Several requests may ask at once.
   * @param refused the token with which a request was just refused with 401: the next one should differ
   */
  readonly token: (refused: string | null) => Promise<string | null>;
  /** The tenant to act for, where it is not the caller's own: for operators and service accounts. */
  readonly tenant?: () => string | null;
  /** The team in whose tenant a person acts. */
  readonly team?: () => string | null;
  /** Another `fetch`, for tests and proxies. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** How long a call may take with its whole answer, ms; 250,000 when absent: the service itself takes 240 s at most. */
  readonly timeoutMs?: number;
}

export interface Client extends FetchClient<paths, "application/json"> {
  readonly url: string;
  /**
   * One request of any shape, with the caller's identity; 304 is an answer. Its time is bounded until the answer
   * begins. @throws ApiError, Unreachable
   */
  readonly send: (path: string, init?: RequestInit) => Promise<Response>;
  /**
   * Puts the caller's identity into the headers of a request that is sent by other means.
   * @param refused the token with which it was just refused
   * @returns the token; null: there is none
   */
  readonly identify: (headers: Headers, refused: string | null) => Promise<string | null>;
}

const usualTimeoutMs = 250_000;
const methods = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"] as const;

/** Calls that time out or fail on the way are not repeated: the caller knows whether it may be. */
export function createClient(options: ClientOptions): Client {
  const { url, timeoutMs = usualTimeoutMs } = options;
  const identify = identifying(options);
  const fetchAuthorized = authorized(identify, options.fetch ?? ((request) => fetch(request)));
  const client = createFetchClient<paths, "application/json">({
    baseUrl: url,
    fetch: fetchAuthorized,
    credentials: "omit",
    querySerializer: { array: { style: "form", explode: true } },
    pathSerializer: filledPath,
    // A text is sent as it is: no operation takes one as JSON.
    bodySerializer: (body: unknown) => (isPlain(body) ? JSON.stringify(body) : body),
  });
  const throwing: Middleware = {
    async onResponse({ response }) {
      if (!response.ok && response.status !== 304) throw await refusalOf(response);
      return undefined;
    },
  };
  client.use(throwing);
  return Object.assign(client, {
    ...bounded(client, timeoutMs),
    url,
    identify,
    send: (path: string, init: RequestInit = {}) =>
      within(timeoutMs, init.signal, async (signal) => {
        const response = await fetchAuthorized(new Request(url + path, { credentials: "omit", ...init, signal }));
        if (!response.ok && response.status !== 304) throw await refusalOf(response);
        return response;
      }),
  });
}

/** A manifest as it was written, for operations that take YAML: `svc.POST("/v1/agents", { ...yamlBody(text) })`. */
export const yamlBody = (text: string) => ({ body: text, headers: { "Content-Type": "application/yaml" } }) as const;

/** What a call answered; where it asked for what changed (`If-None-Match`), undefined for 304. @throws ApiError, Unreachable */
export async function answer<T>(call: Promise<{ readonly data?: T }>): Promise<NonNullable<T>> {
  const { data } = await call;
  // Refusals have thrown by now; an answer without a body is undefined and is typed as such.
  return data as NonNullable<T>;
}

const isPlain = (body: unknown): boolean =>
  typeof body !== "string" &&
  !(body instanceof Blob) &&
  !(body instanceof FormData) &&
  !(body instanceof URLSearchParams);

/** The same methods, each bounded in time. */
function bounded(client: FetchClient<paths, "application/json">, timeoutMs: number) {
  type Call = (path: string, init?: RequestInit) => Promise<unknown>;
  const calls = methods.map((method) => {
    // The types of a method follow its path; passed on, they are those of any.
    const call = client[method] as unknown as Call;
    const inTime: Call = (path, init) => within(timeoutMs, init?.signal, (signal) => call(path, { ...init, signal }));
    return [method, inTime];
  });
  return Object.fromEntries(calls) as Pick<FetchClient<paths, "application/json">, (typeof methods)[number]>;
}

/** @throws Unreachable when the time is up; what `work` throws, also for a caller who gave up */
async function within<T>(
  ms: number,
  caller: AbortSignal | null | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  try {
    return await work(caller ? AbortSignal.any([caller, late.signal]) : late.signal);
  } catch (error) {
    if (late.signal.aborted && !caller?.aborted) throw new Unreachable(new Error(`no answer within ${ms / 1000} s`));
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const identifying =
  ({ token, tenant, team }: ClientOptions): Client["identify"] =>
  async (headers, refused) => {
    const bearer = await token(refused);
    if (bearer !== null) headers.set("Authorization", `Bearer ${bearer}`);
    const acting = tenant?.() ?? null;
    // Operators name a tenant by the first, service accounts by the second; each is ignored from the other.
    if (acting !== null) for (const name of ["X-Svc-Tenant", "X-Tenant-Id"]) headers.set(name, acting);
    const member = team?.() ?? null;
    if (member !== null) headers.set("X-Svc-Team", member);
    return bearer;
  };

/** Adds the caller's identity; a token that ended meanwhile is replaced once. */
function authorized(identify: Client["identify"], reach: (request: Request) => Promise<Response>) {
  const attempt = async (request: Request): Promise<Response> => {
    try {
      return await reach(request);
    } catch (error) {
      if (request.signal.aborted) throw error;
      throw new Unreachable(error);
    }
  };
  return async (request: Request): Promise<Response> => {
    const again = request.clone();
    const bearer = await identify(request.headers, null);
    const response = await attempt(request);
    if (response.status !== 401 || bearer === null) return response;
    const fresh = await identify(again.headers, bearer);
    if (fresh === null || fresh === bearer) return response;
    await response.body?.cancel();
    return attempt(again);
  };
}
