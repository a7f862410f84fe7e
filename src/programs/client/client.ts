/**
 * The API from outside, typed by its own document (`api.ts`): what the console and the command line call.
 *
 *     const svc = createClient({ url: "https://svc.example", token: async () => token });
 *     const { items } = await answer(svc.GET("/v1/agents", { params: { query: { limit: 50 } } }));
 *
 * Every refusal is an `ApiError`; a service that cannot be reached, an `Unreachable`.
 */
import createFetchClient, { type Client as FetchClient, type Middleware } from "openapi-fetch";
import type { components, paths } from "./api.ts";
import { refusalOf, Unreachable } from "./errors.ts";

/** The named shapes of the API, by the names of the document: `Schemas["Agent"]`. */
export type Schemas = components["schemas"];

export interface ClientOptions {
  /** Of the service, with the path it may be served under; without a slash at the end. */
  readonly url: string;
  /**
   * The bearer token for the next request; null sends none.
   * @param refused the token with which a request was just refused with 401: the next one should differ
   */
  readonly token: (refused: string | null) => Promise<string | null>;
  /** The tenant to act for, where it is not the caller's own: for operators and service accounts. */
  readonly tenant?: () => string | null;
  /** The team in whose tenant a person acts. */
  readonly team?: () => string | null;
  /** Another `fetch`, for tests and proxies. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

export interface Client extends FetchClient<paths> {
  readonly url: string;
  /** One request of any shape, with the caller's identity. @throws ApiError, Unreachable */
  readonly send: (path: string, init?: RequestInit) => Promise<Response>;
}

/** Calls that time out or fail on the way are not repeated: the caller knows whether it may be. */
export function createClient(options: ClientOptions): Client {
  const fetchAuthorized = authorized(options);
  const client = createFetchClient<paths>({
    baseUrl: options.url,
    fetch: fetchAuthorized,
    querySerializer: { array: { style: "form", explode: true } },
  });
  const throwing: Middleware = {
    async onResponse({ response }) {
      if (!response.ok && response.status !== 304) throw await refusalOf(response);
      return undefined;
    },
  };
  client.use(throwing);
  return Object.assign(client, {
    url: options.url,
    async send(path: string, init: RequestInit = {}) {
      const response = await fetchAuthorized(new Request(options.url + path, init));
      if (!response.ok) throw await refusalOf(response);
      return response;
    },
  });
}

/** Adds the caller's identity; a token that ended meanwhile is replaced once. */
function authorized({ token, tenant, team, fetch: reach = (request) => fetch(request) }: ClientOptions) {
  const attempt = async (request: Request, bearer: string | null): Promise<Response> => {
    if (bearer !== null) request.headers.set("Authorization", `Bearer ${bearer}`);
    const acting = tenant?.() ?? null;
    // Operators name a tenant by the first, service accounts by the second; each is ignored from the other.
    if (acting !== null) for (const name of ["X-Svc-Tenant", "X-Tenant-Id"]) request.headers.set(name, acting);
    const member = team?.() ?? null;
    if (member !== null) request.headers.set("X-Svc-Team", member);
    try {
      return await reach(request);
    } catch (error) {
      if (request.signal.aborted) throw error;
      throw new Unreachable(error);
    }
  };
  return async (request: Request): Promise<Response> => {
    const bearer = await token(null);
    const again = request.clone();
    const response = await attempt(request, bearer);
    if (response.status !== 401 || bearer === null) return response;
    const fresh = await token(bearer);
    if (fresh === null || fresh === bearer) return response;
    await response.body?.cancel();
    return attempt(again, fresh);
  };
}

/** What a call answered. @throws ApiError, Unreachable */
export async function answer<T>(call: Promise<{ readonly data?: T }>): Promise<NonNullable<T>> {
  const { data } = await call;
  // Refusals have thrown by now; an answer without a body is undefined and is typed as such.
  return data as NonNullable<T>;
}
