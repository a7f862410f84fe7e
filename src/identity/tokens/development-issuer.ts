/**
 * The development issuer: an identity provider of our own, so that a first run needs no other.
 * It speaks the part of OpenID Connect that the published clients use, at Keycloak's paths.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { Problem, type ProblemCode } from "../../../actors/kernel/problem.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { TokenAlgorithm } from "../settings.ts";
import { KeySet } from "./keys.ts";
import { type DevelopmentRealms, developmentRealm } from "./realms.ts";

const DevelopmentClients = Type.Array(
  Type.Object({
    client_id: Type.String({ minLength: 1 }),
    client_secret: Type.String({ minLength: 1 }),
    /** Role claim of the client's tokens. */
    role: Type.Optional(Type.String()),
  }),
);
export type DevelopmentClients = Static<typeof DevelopmentClients>;

/** As which the command line calls a development node of its own machine. */
const commandLineClient = "svc-dev";
/** People of the realm of operators. */
const operators: readonly string[] = ["admin", "operator", "readonly"];

export const defaultDevelopmentClients: DevelopmentClients = [
  { client_id: commandLineClient, client_secret: "svc-dev-secret", role: "admin" },
  { client_id: "svc-service", client_secret: "svc-service-secret" },
];

/** Of `SVC_DEV_PASSWORD`, where it is not set. */
const usualPassword = "dev";

/** The value of `SVC_DEV_CLIENTS`, where not set the default; null when it is no list of clients. */
export function readDevelopmentClients(raw: unknown): DevelopmentClients | null {
  if (raw === null || raw === undefined) return defaultDevelopmentClients;
  return Value.Check(DevelopmentClients, raw) ? raw : null;
}

export interface DevelopmentIssuerOptions {
  readonly sql: Sql;
  /** `SVC_PUBLIC_URL`, without a trailing slash. */
  readonly publicUrl: string;
  readonly algorithm: TokenAlgorithm;
  readonly clients: DevelopmentClients;
  readonly password: string;
  readonly now: () => number;
}

/** A request to the token endpoint: the form's fields, and the Basic credentials if there were any. */
export interface TokenRequest {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly basic: { readonly id: string; readonly secret: string } | null;
}

/** The answer of the token endpoint (RFC 6749); times in seconds. */
export const TokenAnswer = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal("Bearer"),
  expires_in: Type.Integer(),
  refresh_expires_in: Type.Integer(),
  scope: Type.String(),
});
export type TokenAnswer = Static<typeof TokenAnswer>;

/** The issuer's metadata, as far as it has them (OpenID Connect Discovery). */
export const Discovery = Type.Object({
  issuer: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  grant_types_supported: Type.Array(Type.String()),
  token_endpoint_auth_methods_supported: Type.Array(Type.String()),
  id_token_signing_alg_values_supported: Type.Array(Type.String()),
  response_types_supported: Type.Array(Type.String()),
  subject_types_supported: Type.Array(Type.String()),
});
export type Discovery = Static<typeof Discovery>;

export interface DevelopmentIssuer {
  /** What the token verifier needs to trust the issuer. */
  readonly realms: DevelopmentRealms;
  /** Of every person, where it is the one that everyone knows; null: `SVC_DEV_PASSWORD` changed it. */
  readonly plainPassword: string | null;
  /** The subjects of the realm of operators by name: people, and clients that call as themselves. */
  readonly subjects: readonly { readonly sub: string; readonly name: string }[];
  /** @throws Problem in OAuth's shape: `error` equals `code`, the text is in `error_description` */
  token(realm: string, request: TokenRequest): Promise<TokenAnswer>;
  certificates(realm: string): Promise<{ keys: JWK[] }>;
  discovery(realm: string): Discovery;
}

/** Makes the issuer, and its key at the first start of all. */
export async function createDevelopmentIssuer(options: DevelopmentIssuerOptions): Promise<DevelopmentIssuer> {
  const { sql, algorithm, now } = options;
  const signingKey = await ownKey(sql, algorithm);
  const publicKeys = async (): Promise<JWK[]> => (await storedKeys(sql)).map(publicHalf);
  const realms: DevelopmentRealms = {
    issuerPrefix: `${options.publicUrl}/realms/`,
    audience: "svc-orchestrator",
    keys: new KeySet({ load: publicKeys, now, ttlMs: 300_000 }),
  };
  function known(realm: string) {
    const settings = developmentRealm(realm, realms);
    if (!settings) throw oauthProblem("realm_not_found", "There is no such realm");
    return settings;
  }

  return {
    realms,
    plainPassword: options.password === usualPassword ? usualPassword : null,
    subjects: [...operators, ...options.clients.map(({ client_id }) => client_id)].map((name) => ({
      sub: subjectOf("svc-system", name),
      name: name === commandLineClient ? "the development node's operator" : name,
    })),
    async certificates(realm) {
      known(realm);
      return { keys: await publicKeys() };
    },
    discovery(realm) {
      const issuer = known(realm).issuer_url;
      return {
        issuer,
        token_endpoint: `${issuer}/protocol/openid-connect/token`,
        jwks_uri: `${issuer}/protocol/openid-connect/certs`,
        grant_types_supported: ["client_credentials", "password"],
        token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
        id_token_signing_alg_values_supported: [algorithm],
        response_types_supported: ["token"],
        subject_types_supported: ["public"],
      };
    },
    async token(realm, request) {
      const { issuer_url } = known(realm);
      const subject = grant(realm, request, options);
      const lifetime = lifetimeOf(request.fields.expires_in);
      const scope = field(request, "scope") ?? "";
      const issuedAt = Math.floor(now() / 1000);
      const claims = { ...subject, ...chosenClaims(request), scope };
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, kid: signingKey.kid, typ: "JWT" })
        .setIssuer(issuer_url)
        .setAudience(realms.audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifetime)
        .setJti(crypto.randomUUID())
        .sign(signingKey.key);
      return { access_token: token, token_type: "Bearer", expires_in: lifetime, refresh_expires_in: 0, scope };
    },
  };
}

/** The claims that say who the token is for. */
function grant(realm: string, request: TokenRequest, { clients, password }: DevelopmentIssuerOptions) {
  const type = field(request, "grant_type");
  if (type === null) throw oauthProblem("invalid_request", "grant_type is missing");
  if (type === "client_credentials") {
    const id = request.basic?.id ?? field(request, "client_id");
    const secret = request.basic?.secret ?? field(request, "client_secret");
    if (id === null) throw oauthProblem("invalid_request", "client_id is missing");
    const client = clients.find((each) => each.client_id === id);
    if (!client || secret === null || !equal(secret, client.client_secret)) {
      throw oauthProblem("invalid_client", "Unknown client or wrong secret", { "WWW-Authenticate": "Basic" });
    }
    const role = client.role === undefined ? {} : { svc_role: client.role };
    return { sub: subjectOf(realm, id), client_id: id, azp: id, preferred_username: `service-account-${id}`, ...role };
  }
  if (type !== "password") throw oauthProblem("unsupported_grant_type", "Use client_credentials or password");
  const username = field(request, "username");
  const given = field(request, "password");
  if (username === null || given === null) throw oauthProblem("invalid_request", "username or password is missing");
  const isPerson = realm !== "svc-system" || operators.includes(username);
  if (!isPerson || !equal(given, password)) throw oauthProblem("invalid_grant", "Unknown user or wrong password");
  const role = realm === "svc-system" ? { svc_role: username } : {};
  return { sub: subjectOf(realm, username), preferred_username: username, ...role };
}

/** What a caller may put into its token as it likes; this is for development. */
function chosenClaims(request: TokenRequest): Record<string, unknown> {
  const names = { sub: "sub", tier: "svc_tier", tenant_id: "tenant_id", role: "svc_role", email: "email" };
  const claims = Object.fromEntries(
    Object.entries(names).flatMap(([name, claim]) => {
      const value = request.fields[name];
      return value === undefined || value === null || value === "" ? [] : [[claim, value]];
    }),
  );
  return claims.email === undefined ? claims : { ...claims, email_verified: vouchedFor(request.fields.email_verified) };
}

/** Whether the token vouches for its address; a form's fields are texts. */
function vouchedFor(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw oauthProblem("invalid_request", "email_verified must be true or false");
}

function lifetimeOf(value: unknown): number {
  if (value === undefined || value === null || value === "") return 300;
  const seconds = /^\d{1,5}$/.test(String(value)) ? Number(value) : 0;
  if (seconds < 1 || seconds > 86_400) throw oauthProblem("invalid_request", "expires_in must be 1–86400");
  return seconds;
}

function field(request: TokenRequest, name: string): string | null {
  const value = request.fields[name];
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string") throw oauthProblem("invalid_request", `${name} must be text`);
  return value;
}

/** The same person at the same realm is the same subject on every start. */
const subjectOf = (realm: string, name: string): string => Bun.randomUUIDv5(name, Bun.randomUUIDv5(realm, "url"));

/** Whether two secrets are the same, in a time that tells nothing of either. */
function equal(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** A refusal in OAuth's shape. */
export function oauthProblem(code: ProblemCode, description: string, headers: Record<string, string> = {}): Problem {
  return new Problem(code, description, { error: code, error_description: description }, headers);
}

interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey | Uint8Array;
}

/** The stored key of an algorithm; the first node to ask makes it, the others find it. */
async function ownKey(sql: Sql, algorithm: TokenAlgorithm): Promise<SigningKey> {
  const stored = async () => (await storedKeys(sql)).find((jwk) => jwk.alg === algorithm);
  let jwk = await stored();
  if (!jwk) {
    const pair = await generateKeyPair(algorithm, { extractable: true });
    const made = { ...(await exportJWK(pair.privateKey)), alg: algorithm, use: "sig", kid: crypto.randomUUID() };
    await sql`
      insert into development_issuer_keys (algorithm, private_jwk)
      values (${algorithm}, ${JSON.stringify(made)}::text::jsonb)
      on conflict (algorithm) do nothing`;
    jwk = await stored();
  }
  if (!jwk?.kid) throw new Error("The development issuer has no key");
  return { kid: jwk.kid, key: await importJWK(jwk, algorithm) };
}

async function storedKeys(sql: Sql): Promise<JWK[]> {
  const rows = await sql<{ private_jwk: JWK }[]>`select private_jwk from development_issuer_keys order by created_at`;
  return rows.map((row) => row.private_jwk);
}

function publicHalf(jwk: JWK): JWK {
  const { kty, n, e, crv, x, y, alg, use, kid } = jwk;
  const members = Object.entries({ kty, n, e, crv, x, y, alg, use, kid }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as JWK;
}
