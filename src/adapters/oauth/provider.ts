/** OAuth providers as the configuration names them: `oauth.providers` of the file, or SVC_OAUTH_PROVIDERS. */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isSafeUrl } from "../../../actors/credential/redirect.ts";
import { json, text } from "../../config/setting.ts";
import { Secret } from "../../lib/secret.ts";

export const oauthSettings = {
  oauthProviders: json("SVC_OAUTH_PROVIDERS", {
    meaning: "OAuth providers that people may get credentials from; oauth.providers in the file",
    shape: "array",
    defaultText: "none",
    filePath: ["oauth", "providers"],
  }),
  oauthSuccessUrl: text("OAUTH_SUCCESS_URL", {
    meaning: "where a browser goes once a consent is complete; without it a short page is shown",
    pattern: /^https?:\/\/[^\s/?#]+[^\s]*$/,
    bounds: "a URL http(s)://…",
    default: "",
  }),
};

const Url = Type.String({ maxLength: 2048 });
const Entry = Type.Object(
  {
    name: Type.String({ pattern: "^[a-z0-9][a-z0-9_.-]{0,63}$" }),
    authorization_url: Url,
    token_url: Url,
    device_url: Type.Optional(Url),
    revocation_url: Type.Optional(Url),
    issuer: Type.Optional(Url),
    client_id: Type.String({ minLength: 1, maxLength: 1024 }),
    client_secret: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    client_auth: Type.Optional(Type.Union([Type.Literal("post"), Type.Literal("basic")])),
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: "^[\\x21\\x23-\\x5B\\x5D-\\x7E]{1,256}$" }), { maxItems: 50 }),
    ),
    redirect_uris: Type.Optional(Type.Array(Url, { maxItems: 50 })),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof Entry>;

export interface OAuthProvider {
  readonly name: string;
  /** What `iss` of its answers must be. */
  readonly issuer: string;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  /** Null: it has no device flow. */
  readonly deviceUrl: string | null;
  readonly revocationUrl: string | null;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: Secret | null;
  /** How the secret is sent: in the form, or as HTTP Basic. */
  readonly clientAuth: "post" | "basic";
  /** What is asked for where a request names no scopes. */
  readonly scopes: readonly string[];
  readonly redirectUris: readonly string[];
}

/**
 * @param document    what the setting holds
 * @param environment of `client_secret: env:NAME`; null: secrets are not looked up
 * @returns the providers by name, and everything that is wrong with them
 */
export function readOAuthProviders(
  document: unknown,
  environment: ((name: string) => string | undefined) | null,
): { readonly providers: ReadonlyMap<string, OAuthProvider>; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const providers = new Map<string, OAuthProvider>();
  const entries: readonly unknown[] = Array.isArray(document) ? document : [];
  for (const [index, entry] of entries.entries()) {
    const at = `oauth.providers[${index}]`;
    if (!Value.Check(Entry, entry)) {
      const faults = [...Value.Errors(Entry, entry)].slice(0, 3);
      problems.push(...faults.map(({ path, message }) => `${at}${path.replaceAll("/", ".")}: ${message}`));
      continue;
    }
    if (providers.has(entry.name)) problems.push(`${at}.name: ${entry.name} stands there twice`);
    problems.push(...urlFaults(entry).map((fault) => `${at}.${fault}`));
    const secret = secretOf(entry.client_secret, environment);
    if (secret === undefined) problems.push(`${at}.client_secret: the variable ${entry.client_secret} is not set`);
    providers.set(entry.name, providerOf(entry, secret ?? null));
  }
  return { providers, problems };
}

function urlFaults(entry: Entry): string[] {
  const { authorization_url, token_url, device_url, revocation_url, redirect_uris = [] } = entry;
  const urls = { authorization_url, token_url, device_url, revocation_url };
  const named = [...Object.entries(urls), ...redirect_uris.map((uri) => ["redirect_uris", uri] as const)];
  return named
    .filter(([, url]) => url !== undefined && !isSafeUrl(url))
    .map(([name]) => `${name}: must be an https URL, or http of this machine, without user info and fragment`);
}

/** Undefined: it is to be found in a variable that is not set. */
function secretOf(written: string | undefined, environment: ((name: string) => string | undefined) | null) {
  if (written === undefined) return null;
  if (!written.startsWith("env:")) return new Secret(written);
  if (environment === null) return null;
  const value = environment(written.slice("env:".length));
  return value === undefined || value === "" ? undefined : new Secret(value);
}

function providerOf(entry: Entry, clientSecret: Secret | null): OAuthProvider {
  return {
    name: entry.name,
    issuer: entry.issuer ?? originOf(entry.authorization_url),
    authorizationUrl: entry.authorization_url,
    tokenUrl: entry.token_url,
    deviceUrl: entry.device_url ?? null,
    revocationUrl: entry.revocation_url ?? null,
    clientId: entry.client_id,
    clientSecret,
    clientAuth: entry.client_auth ?? "post",
    scopes: entry.scopes ?? [],
    redirectUris: entry.redirect_uris ?? [],
  };
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);
