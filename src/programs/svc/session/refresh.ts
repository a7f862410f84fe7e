/** Spends a refresh token at the issuer that gave it. */
import {
  type AuthorizationServer,
  allowInsecureRequests,
  discoveryRequest,
  None,
  OperationProcessingError,
  processDiscoveryResponse,
  processRefreshTokenResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { Unreachable } from "../../client/errors.ts";
import type { Io } from "../process/io.ts";
import { isLoopback } from "./address.ts";
import type { Grant, SignedIn } from "./tokens.ts";

/** Plain http is for issuers of this machine. */
export const transport = (issuer: string) => ({
  [allowInsecureRequests]: isLoopback(new URL(issuer).hostname),
  signal: () => AbortSignal.timeout(30_000),
});

/** The issuer's own word of where its endpoints are. @throws Unreachable */
export async function discovered(issuer: string): Promise<AuthorizationServer> {
  const at = new URL(issuer);
  try {
    return await processDiscoveryResponse(at, await discoveryRequest(at, { ...transport(issuer), algorithm: "oidc" }));
  } catch (error) {
    throw error instanceof OperationProcessingError ? error : new Unreachable(error);
  }
}

/** What a token endpoint gave, as it is kept. */
export function signedIn(
  io: Pick<Io, "now">,
  { issuer, client_id, url }: Pick<SignedIn & Grant, "issuer" | "client_id" | "url">,
  answer: TokenEndpointResponse,
  former: string | null,
): SignedIn & Grant {
  const { access_token, expires_in = 300, refresh_token } = answer;
  const expires_at = io.now() + expires_in * 1_000;
  return { kind: "login", url, issuer, client_id, access_token, expires_at, refresh_token: refresh_token ?? former };
}

/**
 * @returns the new tokens; null where the issuer takes the refresh token no more
 * @throws Unreachable
 */
export async function refreshed(io: Io, grant: SignedIn & Grant): Promise<(SignedIn & Grant) | null> {
  const { issuer, client_id, refresh_token } = grant;
  if (refresh_token === null) return null;
  const server = await discovered(issuer);
  const client = { client_id };
  try {
    const response = await refreshTokenGrantRequest(server, client, None(), refresh_token, transport(issuer));
    return signedIn(io, grant, await processRefreshTokenResponse(server, client, response), refresh_token);
  } catch (error) {
    if (error instanceof ResponseBodyError && error.status < 500) return null;
    throw error instanceof ResponseBodyError || error instanceof TypeError ? new Unreachable(error) : error;
  }
}
