/** What svc asks of OAuth providers: tokens for codes, for refresh tokens, for devices; and their end. */
import { randomBytes } from "node:crypto";
import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  customFetch,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  None,
  processAuthorizationCodeResponse,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  revocationRequest,
  skipStateCheck,
  type TokenEndpointResponse,
  validateAuthResponse,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";
import { isObject } from "../../../actors/kernel/json.ts";
import { type ProviderRequest, providerFetch } from "./fetch.ts";
import type { OAuthProvider } from "./provider.ts";

/** Why there are no tokens. */
export class OAuthFailure extends Error {
  override readonly name = "OAuthFailure";
  /**
   * @param isRefusal the provider said no, and would say so again
   * @param code      the provider's word, `unreachable` or `invalid_answer`; for logs
   */
  constructor(
    readonly isRefusal: boolean,
    readonly code: string,
  ) {
    super(`The provider gave no tokens: ${code}`);
  }
}

export interface TokenAnswer {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  /** Of the access token; null: not told. */
  readonly lifetimeSeconds: number | null;
  /** Null: those that were asked for. */
  readonly scopes: readonly string[] | null;
}

export interface DeviceAnswer {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string | null;
  readonly lifetimeSeconds: number;
  readonly intervalSeconds: number;
}

/** 128 characters: 96 random bytes. */
export const newVerifier = (): string => randomBytes(96).toString("base64url");

/** Where the person's browser is sent. */
export async function authorizationUrl(
  provider: OAuthProvider,
  asked: { readonly redirectUri: string; readonly scopes: readonly string[]; readonly state: string; verifier: string },
): Promise<string> {
  const url = new URL(provider.authorizationUrl);
  url.searchParams.set("response_type", "code");
  url.searchParams.set("client_id", provider.clientId);
  url.searchParams.set("redirect_uri", asked.redirectUri);
  if (asked.scopes.length > 0) url.searchParams.set("scope", asked.scopes.join(" "));
  url.searchParams.set("state", asked.state);
  url.searchParams.set("code_challenge", await calculatePKCECodeChallenge(asked.verifier));
  url.searchParams.set("code_challenge_method", "S256");
  return url.href;
}

/** @throws OAuthFailure */
export function exchangeCode(
  provider: OAuthProvider,
  { code, redirectUri, verifier }: { readonly code: string; readonly redirectUri: string; readonly verifier: string },
): Promise<TokenAnswer> {
  const { server, client, auth } = partsOf(provider);
  return failing(async () => {
    const answer = validateAuthResponse(server, client, new URLSearchParams({ code }), skipStateCheck);
    const response = await authorizationCodeGrantRequest(server, client, auth, answer, redirectUri, verifier, options);
    return tokensOf(await processAuthorizationCodeResponse(server, client, await withoutIdToken(response)));
  });
}

/** @throws OAuthFailure */
export function refreshTokens(provider: OAuthProvider, refreshToken: string): Promise<TokenAnswer> {
  const { server, client, auth } = partsOf(provider);
  return failing(async () => {
    const response = await refreshTokenGrantRequest(server, client, auth, refreshToken, options);
    return tokensOf(await processRefreshTokenResponse(server, client, await withoutIdToken(response)));
  });
}

/** Only of a provider with a device URL. @throws OAuthFailure */
export function beginDevice(provider: OAuthProvider, scopes: readonly string[]): Promise<DeviceAnswer> {
  const { server, client, auth } = partsOf(provider);
  return failing(async () => {
    const parameters = new URLSearchParams(scopes.length === 0 ? {} : { scope: scopes.join(" ") });
    const response = await deviceAuthorizationRequest(server, client, auth, parameters, options);
    const answer = await processDeviceAuthorizationResponse(server, client, response);
    return {
      deviceCode: answer.device_code,
      userCode: answer.user_code,
      verificationUri: answer.verification_uri,
      verificationUriComplete: answer.verification_uri_complete ?? null,
      lifetimeSeconds: answer.expires_in,
      intervalSeconds: Math.max(1, Math.ceil(answer.interval ?? 5)),
    };
  });
}

/** @throws OAuthFailure; of its codes `authorization_pending` and `slow_down` say that the person has yet to decide */
export function pollDevice(provider: OAuthProvider, deviceCode: string): Promise<TokenAnswer> {
  const { server, client, auth } = partsOf(provider);
  return failing(async () => {
    const response = await deviceCodeGrantRequest(server, client, auth, deviceCode, options);
    return tokensOf(await processDeviceCodeResponse(server, client, await withoutIdToken(response)));
  });
}

/** Does nothing where the provider has no such URL. @throws OAuthFailure */
export async function revokeToken(
  provider: OAuthProvider,
  token: string,
  hint: "access_token" | "refresh_token",
): Promise<void> {
  if (provider.revocationUrl === null) return;
  const { server, client, auth } = partsOf(provider);
  await failing(async () => {
    const parameters = new URLSearchParams({ token_type_hint: hint });
    const more = { ...options, additionalParameters: parameters };
    await processRevocationResponse(await revocationRequest(server, client, auth, token, more));
  });
}

const options = {
  // Which URLs may be plain http was decided when they were configured.
  [allowInsecureRequests]: true,
  [customFetch]: (url: string, request: ProviderRequest) => providerFetch(url, request),
};

function partsOf(provider: OAuthProvider): { server: AuthorizationServer; client: Client; auth: ClientAuth } {
  const { issuer, authorizationUrl, tokenUrl, deviceUrl, revocationUrl, clientSecret } = provider;
  const secret = clientSecret?.reveal() ?? null;
  const withSecret = provider.clientAuth === "basic" ? ClientSecretBasic : ClientSecretPost;
  return {
    server: {
      issuer,
      authorization_endpoint: authorizationUrl,
      token_endpoint: tokenUrl,
      ...(deviceUrl === null ? {} : { device_authorization_endpoint: deviceUrl }),
      ...(revocationUrl === null ? {} : { revocation_endpoint: revocationUrl }),
    },
    client: { client_id: provider.clientId },
    auth: secret === null ? None() : withSecret(secret),
  };
}

function tokensOf({ access_token, refresh_token, expires_in, scope }: TokenEndpointResponse): TokenAnswer {
  return {
    accessToken: access_token,
    refreshToken: refresh_token ?? null,
    lifetimeSeconds: expires_in ?? null,
    scopes: scope === undefined ? null : scope.split(" ").filter((word) => word !== ""),
  };
}

/** Nothing is taken from an ID token, so a provider's mistakes in one cost no credential. */
async function withoutIdToken(response: Response): Promise<Response> {
  const text = await response.text();
  const { status, headers } = response;
  const body = jsonOf(text);
  if (!isObject(body) || !("id_token" in body)) return new Response(text === "" ? null : text, { status, headers });
  const { id_token: _, ...rest } = body;
  return new Response(JSON.stringify(rest), { status, headers });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Words of RFC 6749 and 8628 that a later try may change. */
const passing: readonly string[] = ["temporarily_unavailable", "server_error", "authorization_pending", "slow_down"];

async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ResponseBodyError) {
      const isRefusal = error.status < 500 && error.status !== 429 && !passing.includes(error.error);
      throw new OAuthFailure(isRefusal, /^[\w-]{1,64}$/.test(error.error) ? error.error : "invalid_answer");
    }
    if (error instanceof WWWAuthenticateChallengeError) throw new OAuthFailure(error.status === 401, "invalid_client");
    // What the library throws may hold the answer; only its kind is kept.
    const code = (error as { readonly code?: unknown } | null)?.code;
    const isAnswer = typeof code === "string" && code.startsWith("OAUTH_");
    throw new OAuthFailure(false, isAnswer ? "invalid_answer" : "unreachable");
  }
}
