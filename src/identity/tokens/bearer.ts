/**
 * Finding the credential of a request.
 *
 * `@elysiajs/bearer` is not used here: it also reads tokens from the body and from `?access_token=`, takes the scheme
 * name case-sensitively and never refuses a malformed header. See docs/reference/identity.md.
 */
import { Problem } from "../../../actors/kernel/problem.ts";
import { invalidToken } from "./tokens.ts";

const maxTokenBytes = 16 * 1024;

/**
 * The bearer token of a request.
 * @param queryToken whether `?token=` counts: on event streams only, and only without an Authorization header
 * @throws Problem 401 `missing_authorization`, `invalid_authorization_header`, `invalid_token`
 */
export function bearerToken(headers: Headers, url: string, queryToken: boolean): string {
  const header = headers.get("authorization");
  if (header !== null) return readHeader(header);
  const token = queryToken ? new URL(url).searchParams.get("token") : null;
  if (!token) throw new Problem("missing_authorization", "A bearer token is needed");
  if (token.length > maxTokenBytes || isApiKey(token)) throw invalidToken();
  return token;
}

/** API keys and tokens share the header; the prefix tells them apart. */
export const isApiKey = (token: string): boolean => token.startsWith("svc_");

function readHeader(header: string): string {
  // Repeated headers arrive joined by a comma, which no token contains.
  const token = /^bearer +([\w.~+/=-]+) *$/i.exec(header)?.[1];
  if (token === undefined || token.length > maxTokenBytes) {
    throw new Problem("invalid_authorization_header", "The Authorization header is not `Bearer <token>`");
  }
  return token;
}
