/**
 * The execution token that a request carries: as a bearer or in the path; two that name different executions are refused.
 */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Incoming } from "../../http/route.ts";
import { bearerToken } from "../../identity/tokens/bearer.ts";
import { type ExecutionIdentity, type ExecutionTokens, invalidToken } from "./claims.ts";

const prefix = /^\/x\/([^/]*)(?=\/|$)/;

/**
 * Tokens that came in a path, by the request that carries on without them: so no log, route or handler
 * ever sees them.
 */
const pathTokens = new WeakMap<Request, string>();

/** The request as it is routed: a token in front of the path is taken off and remembered. */
export function withoutPathToken(request: Request): Request {
  const start = request.url.indexOf("/", request.url.indexOf("//") + 2);
  if (start < 0 || !request.url.startsWith("/x/", start)) return request;
  // Of a malformed Host comes a URL that cannot be read; the request is refused for it.
  if (!URL.canParse(request.url)) return request;
  const url = new URL(request.url);
  const token = prefix.exec(url.pathname)?.[1];
  if (token === undefined) return request;
  url.pathname = url.pathname.replace(prefix, "") || "/";
  const stripped = new Request(url, request);
  pathTokens.set(stripped, token);
  return stripped;
}

/**
 * @param required false accepts a request without any token (`SVC_DISPATCH_AUTH=trusted_network`)
 * @throws Problem 401
 */
export async function identify(
  tokens: Pick<ExecutionTokens, "verify">,
  { request }: Pick<Incoming, "request">,
  required: boolean,
): Promise<ExecutionIdentity | null> {
  const inPath = pathTokens.get(request);
  const inHeader = request.headers.has("authorization") ? bearerToken(request.headers, request.url, false) : undefined;
  if (inPath === undefined && inHeader === undefined) {
    if (!required) return null;
    throw new Problem("missing_authorization", "An execution token is needed");
  }
  const found = await Promise.all(
    [inHeader, inPath].filter((token) => token !== undefined).map((token) => tokens.verify(token)),
  );
  const [first, second] = found;
  if (!first || (second && (second.executionId !== first.executionId || second.instanceId !== first.instanceId))) {
    throw invalidToken();
  }
  return first;
}

/**
 * Whether a request of the internal listener speaks for an execution rather than for a person or a machine: it came with a
 * token in its path, or its bearer token says that it is one of an execution. Whether it is a good one is another matter.
 */
export function carriesToken(request: Request): boolean {
  if (pathTokens.has(request)) return true;
  const token = /^bearer +[\w-]+\.([\w-]+)\.[\w-]+ *$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (token === undefined) return false;
  try {
    const { aud } = JSON.parse(Buffer.from(token, "base64url").toString()) as { readonly aud?: unknown };
    return aud === "svc-internal";
  } catch {
    return false;
  }
}

/** The prefix that a request's path had, without a slash at its end; "" for one that had none. */
export function pathPrefix(request: Request): string {
  const token = pathTokens.get(request);
  return token === undefined ? "" : `/x/${token}`;
}
