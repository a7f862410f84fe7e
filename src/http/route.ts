/**
 * How a feature declares a route: data plus a thin handler.
 *
 *     export const getAgent = defineRoute({
 *       method: "GET",
 *       path: "/v1/agents/:id",
 *       summary: "One agent with its manifest",
 *       scope: "agent:read",
 *       params: Type.Object({ id: uuidParam("invalid_agent_id", "Invalid agent ID") }),
 *       query: Type.Object({ version: Type.Optional(Type.String()) }),
 *       responses: { 200: AgentDetail },
 *       handler: async (call) => agents.detail(call.tenant, call.params.id, call.query.version),
 *     });
 *
 * `createApp` runs every route through one pipeline, always in this order: request id, route and method,
 * authentication, tenant, scope, parsing and validation, handler. A handler therefore starts with a known
 * caller, an active tenant and typed input. It returns what `responses` declares
 *   - a JSON value (or `JsonText`): 200;
 *   - `reply(status, body, headers)`: any other status, or headers;
 *   - a `Response`, where `media(…)` is declared: streams, texts and bytes;
 * and throws `Problem` for every refusal (it never builds an error body itself).
 *
 * Validation of JSON bodies and queries: unknown members have no effect and are told in `X-Svc-Warnings`, `null` for
 * an optional member counts as absent, `default`s are filled in, query values are converted to the
 * declared integer, number, boolean or array. Findings become 422 `validation_failed` with `issues`.
 */
import { FormatRegistry, type Static, type TObject, type TSchema, type TString, Type } from "@sinclair/typebox";
import type { Identity } from "../../actors/identity/identity.ts";
import type { Problem, ProblemCode } from "../../actors/kernel/problem.ts";
import type { Answer, Responses } from "./answer.ts";
import type { SocketServer } from "./sockets.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The part of Bun's server a handler may need. */
export interface Listener {
  /** Seconds of silence after which this request's connection is cut; 0 = never. Streams raise it and keep alive. */
  timeout(request: Request, seconds: number): void;
  requestIP(request: Request): { readonly address: string } | null;
  /** Absent: it has no WebSockets. */
  readonly upgrade?: SocketServer["upgrade"];
}

/** One thing in a request that had no effect. */
export interface RequestWarning {
  /** The query's parameter, or the dotted place in the body. */
  readonly path: string;
  readonly code: "unknown_parameter" | "unknown_field";
  readonly message: string;
}

/** What is known of a request before its body is read. */
export interface Incoming {
  readonly request: Request;
  readonly url: URL;
  readonly requestId: string;
  /** Null when the app is driven without a listener. */
  readonly server: Listener | null;
  /** Of the client, also behind trusted proxies (docs/reference/identity.md); null = unknown. */
  readonly address: string | null;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Aborted when this node begins to leave: streams end then, and their clients resume elsewhere. */
  readonly stopping: AbortSignal;
  /** What of the request had no effect, for the answer's `X-Svc-Warnings`. */
  readonly warnings: RequestWarning[];
}

/** A call as every handler sees it. */
export interface OpenCall<Params, Query, Body> extends Incoming {
  /** The declared path, such as `/v1/agents/:id`. */
  readonly path: string;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The body as it arrived, for signatures and to recognise repeats. Empty when there was none. */
  readonly bytes: Uint8Array;
}

/** A call by an authenticated caller. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> extends OpenCall<Params, Query, Body> {
  readonly identity: Identity;
  /** The effective tenant's slug; every record this call touches belongs to it. */
  readonly tenant: string;
}

/** A call to a public route with the proof its own `prove` step found. */
export interface PublicCall<Params, Query, Body, Proof> extends OpenCall<Params, Query, Body> {
  readonly proof: Proof;
  /** Who sends it, where the route `identifies` its callers and this request was one of a caller. */
  readonly caller: Pick<Call, "identity" | "tenant"> | null;
}

/** 1 MiB: the bound of a body whose route states none. */
const defaultBodyLimit = 1024 * 1024;

export interface JsonBody<S extends TSchema = TSchema> {
  readonly kind: "json";
  readonly schema: S;
  /** An absent or empty body counts as `{}`, with any Content-Type. */
  readonly optional: boolean;
  /** Bytes; over it 413. */
  readonly limit: number;
}

/** A body of JSON, checked against its schema before the handler runs. */
export function jsonBody<S extends TSchema>(
  schema: S,
  options: { readonly optional?: boolean; readonly limit?: number } = {},
): JsonBody<S> {
  return { kind: "json", schema, optional: options.optional ?? false, limit: options.limit ?? defaultBodyLimit };
}

export interface RawBody {
  readonly kind: "raw";
  /** Media types let through, lower case without parameters; null = any. Others, unless absent, are 415. */
  readonly accepts: readonly string[] | null;
  readonly limit: number;
  /** Shown in the API document. */
  readonly schema: TSchema | null;
  /** The media types that the API document names, where any is let through. */
  readonly shown: readonly string[];
}

/** A body handed over as it came: the handler decodes it. */
export interface RawContent {
  readonly bytes: Uint8Array;
  /** Lower case, without parameters; null when the request names none. */
  readonly mediaType: string | null;
  /** The bytes as UTF-8 (a leading byte-order mark removed). Throws 400 `malformed_body` for anything else. */
  text(): string;
}

export function rawBody(
  options: {
    readonly accepts?: readonly string[];
    readonly limit?: number;
    readonly schema?: TSchema;
    readonly shown?: readonly string[];
  } = {},
): RawBody {
  return {
    kind: "raw",
    accepts: options.accepts ?? null,
    limit: options.limit ?? defaultBodyLimit,
    schema: options.schema ?? null,
    shown: options.accepts ?? options.shown ?? ["*/*"],
  };
}

export type BodyRule = JsonBody | RawBody;
export type BodyOf<B> = B extends JsonBody<infer S> ? Static<S> : B extends RawBody ? RawContent : undefined;

/** A scope, or several of which one is enough. */
export type ScopeRule = string | { readonly anyOf: readonly string[] };

interface Declaration<P extends TObject, Q extends TObject, B extends BodyRule | undefined, R extends Responses> {
  readonly method: Method;
  /** Elysia style: `/v1/agents/:id`, `/v1/executions/:id/files/*`. */
  readonly path: string;
  readonly summary: string;
  /** Section of the API document; the first path segment after `/v1/` when absent. */
  readonly tag?: string;
  /** Keeps the route out of the API document. */
  readonly hidden?: true;
  readonly params?: P;
  readonly query?: Q;
  /** Request headers the handler reads itself, for the API document. */
  readonly headers?: TObject;
  readonly body?: B;
  /** A body that the handler reads itself, for the API document: media type → shape. */
  readonly takes?: Readonly<Record<string, TSchema>>;
  readonly responses: R;
  /** Codes that the handler refuses with, for the API document; those of the pipeline's steps are known. */
  readonly refusals?: readonly ProblemCode[];
  /** Seconds the handler may take before it answers, at most 240; 30 when absent. The connection is kept that long. */
  readonly timeoutSeconds?: number;
  /** Makes the answer of every refusal at its path, where the common shape is not the one that its clients read. */
  readonly refusing?: Refusing;
}

/** @param requestId of HTTP */
export type Refusing = (problem: Problem, requestId: string) => Response;

/** How a caller stands with the rates of a route that debits. */
export type TellRates = (who: Pick<Call, "identity" | "tenant">) => Promise<Readonly<Record<string, string>>>;

export interface RouteDeclaration<
  P extends TObject,
  Q extends TObject,
  B extends BodyRule | undefined,
  R extends Responses,
  A extends Answer<R>,
> extends Declaration<P, Q, B, R> {
  readonly scope?: ScopeRule;
  /**
   * All but the platform's operators get 403 `operator_required`, before the scope is looked at; with `admin` operators
   * of another role as well, with `operator` those who only read.
   */
  readonly operatorsOnly?: true | "admin" | "operator";
  /** Machines and API keys get 403 `user_identity_required`, before the scope is looked at. */
  readonly peopleOnly?: true;
  /** Also answers in a suspended tenant: what pays for it, shows it, or takes something away. */
  readonly whileSuspended?: true;
  /**
   * Answers without the database as well: callers are then those whom the node knows from before, and it is not asked how
   * their tenant stands. For what shows nothing of any tenant.
   */
  readonly whileDatabaseAway?: true;
  /** Headers that tell the caller's rates, for answers that bring none: refusals of every step behind the scope. Never throws. */
  readonly rates?: TellRates;
  /** Before the body is read: the refusal while the feature lacks its configuration, otherwise null. `refusals` names it. */
  readonly configured?: () => Problem | null;
  /** Answers `text/event-stream`: accepts `?token=` and is never cached. */
  readonly sse?: true;
  /** Before the caller is looked at. @throws Problem for a request that goes no further */
  readonly admits?: (incoming: Incoming) => void;
  /** URL of the document that says which tokens the route takes (RFC 9728); every 401 names it. */
  readonly resourceMetadata?: string;
  handler(call: Call<Static<P>, Static<Q>, BodyOf<B>>): A | Promise<A>;
}

export interface PublicRouteDeclaration<
  P extends TObject,
  Q extends TObject,
  B extends BodyRule | undefined,
  R extends Responses,
  A extends Answer<R>,
  Proof,
> extends Declaration<P, Q, B, R> {
  /** Takes the place of authentication where a route has a proof of its own (a signed link, an execution token). */
  prove?(incoming: Incoming): Proof | Promise<Proof>;
  /** The tenant that a proof speaks for, whose large bodies wait for one another and hold up no other tenant's. */
  tenantOf?(proof: Proof): string | null;
  /**
   * Whether this request is one of a caller with a bearer token, who then passes every step that callers pass; for routes
   * that callers and browsers without a token use alike. Absent: no token is read.
   */
  identifies?(incoming: Incoming): boolean;
  /** Of those callers. */
  readonly scope?: ScopeRule;
  handler(call: PublicCall<Static<P>, Static<Q>, BodyOf<B>, Proof>): A | Promise<A>;
}

/** A declared route with its types folded away, as the app takes it. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly hidden: boolean;
  readonly public: boolean;
  readonly sse: boolean;
  readonly scope: ScopeRule | null;
  readonly operatorsOnly: boolean | "admin" | "operator";
  readonly peopleOnly: boolean;
  readonly whileSuspended: boolean;
  readonly whileDatabaseAway: boolean;
  readonly rates: TellRates | null;
  readonly configured: (() => Problem | null) | null;
  readonly params: TObject | null;
  readonly query: TObject | null;
  readonly headers: TObject | null;
  readonly body: BodyRule | null;
  readonly takes: Readonly<Record<string, TSchema>> | null;
  readonly responses: Responses;
  readonly refusals: readonly ProblemCode[];
  readonly timeoutSeconds: number | null;
  readonly refusing: Refusing | null;
  readonly admits: ((incoming: Incoming) => void) | null;
  readonly resourceMetadata: string | null;
  readonly prove: ((incoming: Incoming) => unknown) | null;
  readonly tenantOf: (proof: unknown) => string | null;
  /** Of a public route; null: it reads no token. */
  readonly identifies: ((incoming: Incoming) => boolean) | null;
  handle(call: Call & Pick<PublicCall<unknown, unknown, unknown, unknown>, "proof" | "caller">): unknown;
}

/** A route for callers with a bearer token. */
export function defineRoute<
  P extends TObject = TObject<Record<never, never>>,
  Q extends TObject = TObject<Record<never, never>>,
  B extends BodyRule | undefined = undefined,
  R extends Responses = Responses,
  const A extends Answer<R> = Answer<R>,
>(declaration: RouteDeclaration<P, Q, B, R, A>): Route {
  return {
    ...shared(declaration),
    public: false,
    sse: declaration.sse ?? false,
    scope: declaration.scope ?? null,
    operatorsOnly: declaration.operatorsOnly ?? false,
    peopleOnly: declaration.peopleOnly ?? false,
    whileSuspended: declaration.whileSuspended ?? false,
    whileDatabaseAway: declaration.whileDatabaseAway ?? false,
    rates: declaration.rates ?? null,
    configured: declaration.configured ?? null,
    admits: declaration.admits ?? null,
    resourceMetadata: declaration.resourceMetadata ?? null,
    prove: null,
    tenantOf: () => null,
    identifies: null,
    handle: (call) => declaration.handler(call as Call<Static<P>, Static<Q>, BodyOf<B>>),
  };
}

/** A route of the exempt list: no bearer token is asked for, nor read unless it `identifies` callers. */
export function definePublicRoute<
  P extends TObject = TObject<Record<never, never>>,
  Q extends TObject = TObject<Record<never, never>>,
  B extends BodyRule | undefined = undefined,
  R extends Responses = Responses,
  const A extends Answer<R> = Answer<R>,
  Proof = undefined,
>(declaration: PublicRouteDeclaration<P, Q, B, R, A, Proof>): Route {
  return {
    ...shared(declaration),
    public: true,
    sse: false,
    scope: declaration.scope ?? null,
    operatorsOnly: false,
    peopleOnly: false,
    whileSuspended: false,
    whileDatabaseAway: false,
    rates: null,
    configured: null,
    admits: null,
    resourceMetadata: null,
    prove: declaration.prove ? (incoming) => declaration.prove?.(incoming) : null,
    identifies: declaration.identifies ? (incoming) => declaration.identifies?.(incoming) ?? false : null,
    tenantOf: (proof) => declaration.tenantOf?.(proof as Proof) ?? null,
    handle: (call) => declaration.handler(call as PublicCall<Static<P>, Static<Q>, BodyOf<B>, Proof>),
  };
}

function shared(declaration: Declaration<TObject, TObject, BodyRule | undefined, Responses>) {
  return {
    method: declaration.method,
    path: declaration.path,
    summary: declaration.summary,
    tag: declaration.tag ?? declaration.path.split("/").find((part) => part !== "" && part !== "v1") ?? "service",
    hidden: declaration.hidden ?? false,
    params: declaration.params ?? null,
    query: declaration.query ?? null,
    headers: declaration.headers ?? null,
    body: declaration.body ?? null,
    takes: declaration.takes ?? null,
    responses: declaration.responses,
    refusals: declaration.refusals ?? [],
    timeoutSeconds: declaration.timeoutSeconds ?? null,
    refusing: declaration.refusing ?? null,
  };
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Whether the text has the form of a UUID, of any version. */
export const isUuid = (text: string): boolean => uuidPattern.test(text);
FormatRegistry.Set("uuid", isUuid);

/** A UUID in a body or a query. */
export const Uuid = Type.String({ format: "uuid" });

/**
 * A UUID in a path. The handler gets it in lower case; anything else is 400 with `code`.
 * Path parameters of other shapes may be declared by any string schema; a mismatch is 400 `invalid_id`.
 */
export function uuidParam(code: ProblemCode = "invalid_id", message = "Invalid ID"): TString {
  return Type.String({ format: "uuid", "x-code": code, "x-message": message });
}
