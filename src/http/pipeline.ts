/**
 * One request through one route, always in this order: authentication, tenant, scope, parsing and validation,
 * handler. A later step never runs before an earlier one passed.
 */
import { type Identity, isPlatformOperator } from "../../actors/identity/identity.ts";
import { Problem } from "../../actors/kernel/problem.ts";
import type { Authenticator } from "../identity/authenticate.ts";
import { RefusedCaller } from "../identity/refused-caller.ts";
import { Reply, textOfBody } from "./answer.ts";
import { readBody } from "./input/body.ts";
import type { BodyGates } from "./input/body-turns.ts";
import { bodyChecker, paramsChecker, queryChecker } from "./input/input.ts";
import { warningsOf } from "./input/warnings.ts";
import { bearerChallenge } from "./problem.ts";
import type { RequestAudit } from "./request-audit.ts";
import type { Call, Incoming, Route, ScopeRule } from "./route.ts";

/** Makes the function that runs a route; what can be prepared is prepared once. */
export function pipeline(
  route: Route,
  authenticator: Authenticator | null,
  audit: RequestAudit | null,
  bodyDeadlineMs: number,
  gates: BodyGates,
) {
  const params = route.params && paramsChecker(route.params);
  const query = route.query && queryChecker(route.query);
  const warnings = warningsOf(route);
  const body = route.body?.kind === "json" ? bodyChecker(route.body.schema) : (value: unknown) => value;

  /** Fills in who calls, as far as it is known: a refusal is recorded with it. */
  async function caller(incoming: Incoming, known: Known): Promise<void> {
    const { request } = incoming;
    if (route.public) {
      known.proof = await route.prove?.(incoming);
      if (route.identifies?.(incoming) !== true) return;
    }
    if (!authenticator) throw new Error(`${route.path} asks for a bearer token on a listener that reads none`);
    const caller = await authenticator.identify(request, route.sse, incoming.address);
    known.identity = caller;
    const resolved = await authenticator.resolveTenant(caller, request, route);
    const { identity, slug: tenant } = resolved;
    known.identity = identity;
    known.tenant = tenant;
    requireKind(identity, route);
    if (route.scope !== null) requireScope(identity, route.scope);
    if (resolved.create !== null) {
      await resolved.create(async (tx) => audit?.tenantMade(tx, { incoming, path: route.path, identity, tenant }));
    }
    if (resolved.isEntered) await audit?.entered({ incoming, path: route.path, identity, tenant });
    const unconfigured = route.configured?.() ?? null;
    if (unconfigured !== null) throw unconfigured;
  }

  /** Puts a refusal on record, where it is one of permission. */
  function noteRefusal(error: unknown, incoming: Incoming, { identity, tenant }: Known): void {
    if (!(error instanceof Problem)) return;
    if (error.status === 401) audit?.failed(incoming, error.code);
    const caller = error instanceof RefusedCaller ? error.identity : identity;
    if (error.status !== 403 || caller === undefined) return;
    const by = { incoming, path: route.path, identity: caller, tenant: tenant ?? caller.homeTenant };
    audit?.denied(by, error.code);
  }

  /** A refusal of a route that debits tells the caller's rates as well. */
  async function withRates(error: unknown, { identity, tenant }: Known): Promise<unknown> {
    if (route.rates === null || identity === undefined || tenant === undefined) return error;
    if (!(error instanceof Problem) || error.status >= 500 || "RateLimit-Limit" in error.headers) return error;
    const { code, message, extras, headers, status } = error;
    return new Problem(code, message, extras, { ...(await route.rates({ identity, tenant })), ...headers }, status);
  }

  return async function run(incoming: Incoming, rawParams: Readonly<Record<string, string>>): Promise<Response> {
    const known: Known = {};
    try {
      route.admits?.(incoming);
      await caller(incoming, known);
      return await handled(incoming, rawParams, known);
    } catch (error) {
      noteRefusal(error, incoming, known);
      throw withMetadata(await withRates(error, known), route.resourceMetadata);
    }
  };

  async function handled(
    incoming: Incoming,
    rawParams: Readonly<Record<string, string>>,
    known: Known,
  ): Promise<Response> {
    const checkedParams = params ? params(rawParams) : {};
    // A URL is parsed only where there is something to read in it.
    const given = incoming.request.url.includes("?") ? incoming.url.searchParams : null;
    incoming.warnings.push(...warnings.query(given));
    const checkedQuery = query ? query(given ?? noQuery) : {};
    using share = gates.enter(known.tenant ?? null, known.tenant ?? route.tenantOf(known.proof) ?? "");
    const input = route.body ? await readBody(incoming.request, route.body, bodyDeadlineMs, share) : noBody;
    incoming.warnings.push(...warnings.body(input.value));
    if (route.timeoutSeconds !== null)
      incoming.server?.timeout(incoming.request, Math.min(255, route.timeoutSeconds + 10));
    const answer = await route.handle(
      new RouteCall(incoming, route.path, checkedParams, checkedQuery, body(input.value), input.bytes, known),
    );
    return toResponse(answer);
  }
}

/** A 401 of a route that has a document about its tokens names it. */
function withMetadata(error: unknown, metadata: string | null): unknown {
  if (metadata === null || !(error instanceof Problem) || error.status !== 401) return error;
  const { code, message, extras, headers, status } = error;
  return new Problem(
    code,
    message,
    extras,
    { ...headers, "WWW-Authenticate": bearerChallenge(error, metadata) },
    status,
  );
}

/** Who calls: the members that are known so far. */
interface Known {
  identity?: Identity;
  tenant?: string;
  proof?: unknown;
}

const noQuery = new URLSearchParams();
const noBody = { value: undefined, bytes: new Uint8Array(0) };

/** Url and signal stay behind getters: most handlers need neither, and both cost. */
class RouteCall implements Call {
  readonly identity: Identity;
  readonly tenant: string;
  readonly proof: unknown;
  constructor(
    private readonly incoming: Incoming,
    readonly path: string,
    readonly params: unknown,
    readonly query: unknown,
    readonly body: unknown,
    readonly bytes: Uint8Array,
    known: Partial<Pick<Call, "identity" | "tenant"> & { proof: unknown }>,
  ) {
    // A public route's handler has no such members in its type.
    this.identity = known.identity as Identity;
    this.tenant = known.tenant as string;
    this.proof = known.proof;
  }
  get caller() {
    return this.identity === undefined ? null : { identity: this.identity, tenant: this.tenant };
  }
  get request() {
    return this.incoming.request;
  }
  get url() {
    return this.incoming.url;
  }
  get requestId() {
    return this.incoming.requestId;
  }
  get server() {
    return this.incoming.server;
  }
  get address() {
    return this.incoming.address;
  }
  get signal() {
    return this.incoming.signal;
  }
  get stopping() {
    return this.incoming.stopping;
  }
  get warnings() {
    return this.incoming.warnings;
  }
}

/** @throws Problem 403 `operator_required`, `user_identity_required` */
function requireKind(identity: Identity, { operatorsOnly, peopleOnly }: Route): void {
  const isAllowed =
    operatorsOnly === "admin"
      ? identity.role === "admin"
      : operatorsOnly !== "operator" || identity.role !== "readonly";
  if (operatorsOnly !== false && !(isPlatformOperator(identity) && isAllowed)) {
    throw new Problem("operator_required", "Only operators of the platform may do this");
  }
  if (peopleOnly && (identity.kind === "service_account" || identity.keyId !== null)) {
    throw new Problem("user_identity_required", "Only people may do this, with a token of their own");
  }
}

/** @throws Problem 403 `insufficient_scope` naming what is missing */
function requireScope(identity: Identity, rule: ScopeRule): void {
  if (typeof rule === "string") {
    if (identity.scopes.has(rule)) return;
    throw new Problem("insufficient_scope", `This operation needs the scope ${rule}`, { required: rule });
  }
  if (rule.anyOf.some((scope) => identity.scopes.has(scope))) return;
  throw new Problem("insufficient_scope", `This operation needs one of the scopes ${rule.anyOf.join(", ")}`, {
    required: rule.anyOf[0] ?? "",
    required_any: rule.anyOf.join(" "),
  });
}

function toResponse(answer: unknown): Response {
  if (answer instanceof Response) return answer;
  const { status, body, headers } = answer instanceof Reply ? answer : new Reply(200, answer);
  if (body === undefined) return new Response(null, { status: status === 200 ? 204 : status, headers: { ...headers } });
  return new Response(textOfBody(body), { status, headers: { "Content-Type": "application/json", ...headers } });
}
