/**
 * Routes become an application.
 *
 * Elysia routes and listens. The pipeline is our own, because callers are authenticated before their body is read.
 * Every handler given to Elysia therefore takes only request, params and server: Elysia reads no body, query, header
 * or cookie that a handler does not ask for.
 */
import { type AnyElysia, Elysia } from "elysia";
import { Problem } from "../../actors/kernel/problem.ts";
import type { Network } from "../../actors/policy/network/address.ts";
import type { Authenticator } from "../identity/authenticate.ts";
import { clientAddress } from "./client-address.ts";
import { entryCheck, type ServedNames } from "./entry.ts";
import { BodyGates } from "./input/body-turns.ts";
import { warningsHeader, warningsText } from "./input/warnings.ts";
import { type Logger, recordedUrl } from "./operations/log.ts";
import type { Metrics } from "./operations/metrics.ts";
import { pipeline } from "./pipeline.ts";
import { asProblem, internalError, problemResponse } from "./problem.ts";
import type { RequestAudit } from "./request-audit.ts";
import type { Incoming, Listener, Method, RequestWarning, Route } from "./route.ts";

export interface AppOptions {
  readonly routes: readonly Route[];
  /** Null on a listener whose routes are all public or prove callers themselves. */
  readonly authenticator: Authenticator | null;
  /** Told of refusals and of acting in other tenants; nothing is when null or absent. */
  readonly audit?: RequestAudit | null;
  readonly logger: Logger;
  readonly metrics: Metrics | null;
  /** Origins a browser may call from; `*` = any. */
  readonly corsOrigins: readonly string[];
  /** Proxies whose word on the client's address is taken; none when absent. */
  readonly trustedProxies?: readonly Network[];
  /** The only names it answers to; any when null or absent. */
  readonly served?: ServedNames | null;
  /** Milliseconds within which a request body must have arrived; default 30 s. */
  readonly bodyDeadlineMs?: number;
}

export interface App {
  readonly elysia: AnyElysia;
  /** Answers one request, of a listener or made in this process. */
  handle(request: Request): Promise<Response>;
  /**
   * Routes whose path ends in `*`, for a listener that knows the rest of the path as it was sent: `request.url` has its
   * `..` resolved already, so that a path that climbs would look like another one.
   */
  readonly climbing: readonly ClimbingRoute[];
  /** Tells streams that this node leaves. */
  beginStop(): void;
  /** Bytes of bodies that requests hold now. */
  heldBytes(): number;
}

export interface ClimbingRoute {
  readonly method: Method;
  /** With `*` at its end. */
  readonly path: string;
  /** Answers a request of this route by the parameters given, not by those of its URL. */
  handle(request: Request, params: Readonly<Record<string, string>>): Promise<Response>;
}

/** Looks at an answer before it is sent, and gives the one to send. `route` is null for what no route answers. */
export type AnswerInspector = (route: Route | null, request: Request, response: Response) => Promise<Response>;

let inspector: AnswerInspector | null = null;

/** Has every app of this process show its answers first: tests hold them against their schemas. Off in production. */
export function inspectAnswers(inspect: AnswerInspector): void {
  inspector = inspect;
}

/** @throws when two routes share method and path */
export function createApp(options: AppOptions): App {
  const leaving = new AbortController();
  const cors = createCors(options.corsOrigins);
  const allowedAt = methodTable(options.routes);
  const ownShapes = new Map(
    options.routes.flatMap(({ path, refusing }) => (refusing === null ? [] : [[path, refusing] as const])),
  );
  const trustedProxies = options.trustedProxies ?? [];
  const bodyDeadlineMs = options.bodyDeadlineMs ?? 30_000;

  /** Wraps one way of answering with everything that holds for every answer. */
  function answering(route: Route | null, answer: (incoming: Incoming, params: Params) => Promise<Response>) {
    return async (request: Request, params: Params, server: Listener | null): Promise<Response> => {
      const began = performance.now();
      const incoming = new LazyIncoming(request, requestIdOf(request.headers), server, leaving.signal, trustedProxies);
      let response: Response;
      try {
        response = await answer(incoming, params);
      } catch (error) {
        response = refuse(error, incoming);
      }
      response = withHeaders(response, incoming, cors, route?.sse ?? false);
      if (inspector !== null) response = await inspector(route, request, response);
      if (request.method === "HEAD") response = headOnly(response);
      record(request, route?.path ?? "unmatched", response.status, began, incoming.requestId);
      return response;
    };
  }

  function refuse(error: unknown, { requestId, request }: Incoming): Response {
    const problem = asProblem(error);
    if (problem === null) {
      options.logger.error(
        { request_id: requestId, method: request.method, url: recordedUrl(request.url), err: error },
        "request failed",
      );
    } else if (problem.status >= 500) {
      options.logger.warn(
        { request_id: requestId, code: problem.code, cause: error === problem ? undefined : String(error) },
        "request refused",
      );
    }
    const refusing = ownShapes.size === 0 ? undefined : ownShapes.get(pathOf(request));
    return (refusing ?? problemResponse)(problem ?? internalError(), requestId);
  }

  function record(request: Request, path: string, status: number, began: number, requestId: string): void {
    const ms = performance.now() - began;
    options.metrics?.request(knownMethod(request.method), path, status, ms / 1000);
    // Probes come every few seconds for ever: those that went well would bury the rest.
    const level = status < 400 && path.startsWith("/health") ? "debug" : "info";
    if (!options.logger.isLevelEnabled(level)) return;
    options.logger[level](
      {
        request_id: requestId,
        method: request.method,
        url: recordedUrl(request.url),
        status,
        ms: Math.round(ms * 10) / 10,
      },
      "request",
    );
  }

  // One router for `handle` and for the listener, so that both answer alike.
  // Without `standardHostname: false` Elysia looks for the path from the 12th character on, wherever a short Host ends.
  const elysia = new Elysia({
    systemRouter: false,
    nativeStaticResponse: false,
    handler: { standardHostname: false },
  });
  const fault = entryCheck(options.served ?? null);
  const refuseAtEntry = (request: Request, problem: Problem) =>
    answering(null, () => Promise.reject(problem))(request, {}, elysia.server);
  const climbing: ClimbingRoute[] = [];
  const gates = new BodyGates();
  for (const route of options.routes) {
    const run = answering(route, pipeline(route, options.authenticator, options.audit ?? null, bodyDeadlineMs, gates));
    if (route.path.endsWith("/*")) {
      climbing.push({
        method: route.method,
        path: route.path,
        handle: (request, params) => {
          const problem = fault(request);
          return problem === null ? run(request, params, elysia.server) : refuseAtEntry(request, problem);
        },
      });
    }
    const methods = route.method === "GET" ? ["GET", "HEAD"] : [route.method];
    for (const method of methods) {
      elysia.route(method, route.path, ({ request, params, server }) => run(request, params, server), {
        parse: "none",
      });
    }
  }
  const unmatched = answering(null, async ({ request, url }) => {
    const allowed = allowedAt(url.pathname);
    if (allowed.length === 0) throw new Problem("not_found", "There is nothing here");
    const preflight = request.method === "OPTIONS" ? cors.preflight(request.headers, allowed) : null;
    if (preflight) return preflight;
    const message = `${request.method} is not allowed here`;
    throw new Problem("method_not_allowed", message, {}, { Allow: allowed.join(", ") });
  });
  elysia.all("/", ({ request, server }) => unmatched(request, {}, server), { parse: "none" });
  elysia.all("/*", ({ request, server }) => unmatched(request, {}, server), { parse: "none" });
  elysia.onError(({ error, request, server }) => answering(null, () => Promise.reject(error))(request, {}, server));

  return {
    elysia,
    climbing,
    handle: (request) => {
      const problem = fault(request);
      return problem === null ? Promise.resolve(elysia.handle(request)) : refuseAtEntry(request, problem);
    },
    beginStop: () => leaving.abort(),
    heldBytes: () => gates.bytes,
  };
}

type Params = Readonly<Record<string, string>>;

/**
 * The path of a request that is refused, perhaps before it was routed: of a malformed Host comes a URL that cannot be read,
 * and a token may stand in front of the path still.
 */
function pathOf({ url }: Request): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  const target = start < 0 ? "/" : url.slice(start);
  const [path = ""] = (URL.canParse(url) ? new URL(url).pathname : target).split(/[?#]/);
  return path.replace(/^\/x\/[^/]*(?=\/)/, "").replace(/(?<=.)\/$/, "");
}

/** Url, signal and address are made at their first use. The entry check has seen that the URL can be parsed. */
class LazyIncoming implements Incoming {
  private parsed: URL | null = null;
  readonly warnings: RequestWarning[] = [];
  constructor(
    readonly request: Request,
    readonly requestId: string,
    readonly server: Listener | null,
    readonly stopping: AbortSignal,
    private readonly trustedProxies: readonly Network[],
  ) {}
  get url(): URL {
    this.parsed ??= new URL(this.request.url);
    return this.parsed;
  }
  get signal(): AbortSignal {
    return this.request.signal;
  }
  get address(): string | null {
    const peer = this.server?.requestIP(this.request)?.address ?? null;
    return clientAddress(peer, this.request.headers, this.trustedProxies);
  }
}

function requestIdOf(headers: Headers): string {
  const inbound = headers.get("x-request-id");
  return inbound !== null && /^[A-Za-z0-9._-]{1,128}$/.test(inbound) ? inbound : crypto.randomUUID();
}

function withHeaders(
  response: Response,
  { request, requestId, warnings }: Incoming,
  cors: Cors,
  sse: boolean,
): Response {
  // A fetched response has immutable headers; ours are not fetched, but a handler may pass one on.
  const open = response.url === "" ? response : new Response(response.body, response);
  open.headers.set("X-Request-Id", requestId);
  if (warnings.length > 0) open.headers.set(warningsHeader, warningsText(warnings));
  if (sse) {
    open.headers.set("Cache-Control", "no-store");
    open.headers.set("Referrer-Policy", "no-referrer");
  }
  cors.apply(request.headers, open.headers);
  return open;
}

/** The head of an answer; a stream behind it is ended. */
function headOnly(response: Response): Response {
  void response.body?.cancel().catch(() => {});
  return new Response(null, { status: response.status, headers: response.headers });
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/** Method names are the caller's text; only the usual ones become label values. */
const knownMethod = (method: string): string => (methods.has(method) ? method : "OTHER");

/** Which methods a path answers to, for `Allow`. */
function methodTable(routes: readonly Route[]): (path: string) => string[] {
  const byPath = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const known = byPath.get(path) ?? [];
    if (known.includes(method)) throw new Error(`Two routes answer ${method} ${path}`);
    byPath.set(path, [...known, ...(method === "GET" ? ["GET", "HEAD"] : [method])]);
  }
  const patterns = [...byPath].map(([path, allowed]) => ({ pattern: pathPattern(path), allowed }));
  return (path) => [...new Set(patterns.flatMap(({ pattern, allowed }) => (pattern.test(path) ? allowed : [])))];
}

function pathPattern(path: string): RegExp {
  const parts = path.split("/").map((part) => {
    if (part === "*") return ".*";
    return part.startsWith(":") ? "[^/]+" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}$`);
}

interface Cors {
  apply(request: Headers, response: Headers): void;
  /** The answer to a browser's preliminary question; null when it was none we grant. */
  preflight(request: Headers, allowed: readonly string[]): Response | null;
}

const exposedHeaders =
  "X-Request-Id, X-Svc-Warnings, Location, ETag, Retry-After, Idempotent-Replay, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, " +
  "RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset";
const acceptedHeaders =
  "Authorization, Content-Type, Accept, Idempotency-Key, X-Request-Id, X-Tenant-Id, X-Svc-Tenant, X-Svc-Team, Last-Event-ID, " +
  "X-Svc-Security-Context, MCP-Protocol-Version, Mcp-Method, Mcp-Name";

function createCors(origins: readonly string[]): Cors {
  const any = origins.includes("*");
  const granted = (headers: Headers): string | null => {
    const origin = headers.get("origin");
    if (origin === null) return null;
    return any ? "*" : origins.includes(origin) ? origin : null;
  };
  return {
    apply(request, response) {
      if (origins.length === 0) return;
      if (!any) response.append("Vary", "Origin");
      const origin = granted(request);
      if (origin === null) return;
      response.set("Access-Control-Allow-Origin", origin);
      response.set("Access-Control-Expose-Headers", exposedHeaders);
    },
    preflight(request, allowed) {
      if (granted(request) === null || !request.has("access-control-request-method")) return null;
      return new Response(null, {
        status: 204,
        headers: {
          "Access-Control-Allow-Methods": allowed.join(", "),
          "Access-Control-Allow-Headers": acceptedHeaders,
          "Access-Control-Max-Age": "600",
        },
      });
    },
  };
}
