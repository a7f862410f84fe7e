/**
 * Who uses the console. Tokens are kept in this page's memory and nowhere else: a reload goes through the issuer again.
 * What survives a reload is which organization was signed in to, and in development as whom.
 */
import * as oauth from "oauth4webapi";
import { useSyncExternalStore } from "react";
import type { Schemas } from "../../../programs/client/client.ts";
import { refusalOf, Unreachable } from "../../../programs/client/errors.ts";
import { consolePath, serviceUrl } from "./place.ts";

export type Me = Schemas["Caller"];
export type SignInConfig = Schemas["SignInConfig"];

export type Session =
  | { readonly state: "starting" }
  | { readonly state: "out"; readonly config: SignInConfig; readonly reason: string | null }
  | { readonly state: "unreachable"; readonly reason: string }
  | { readonly state: "in"; readonly me: Me; readonly name: string };

/** One of the people of the development issuer; the password is no secret there. */
interface Developer {
  readonly issuer: string;
  readonly username: string;
  readonly password: string;
}

interface Tokens {
  readonly access: string;
  readonly refresh: string | null;
  readonly id: string | null;
  /** By `Date.now()`. */
  readonly until: number;
}

/** What is kept over the way to the issuer and back; gone with the tab. */
interface Leaving {
  readonly verifier: string;
  readonly state: string;
  readonly tenant: string | null;
  readonly back: string;
}

const leavingKey = "svc.signing-in";
const lastKey = "svc.signed-in";
/** Names the organization in the address, for the page's policy. */
const tenantParameter = "tenant";
/** A token is replaced this long before it ends, ms. */
const aheadMs = 30_000;

let session: Session = { state: "starting" };
let tokens: Tokens | null = null;
let config: SignInConfig | null = null;
let tenant: string | null = null;
/** How the development issuer is asked again. */
let developer: Developer | null = null;
let renewing: Promise<string | null> | null = null;
const listeners = new Set<() => void>();
const leavers = new Set<() => void>();

/** Who a caller is and where: one person in two tenants is two of them. */
export const identityOf = ({ realm, user_id, tenant_id }: Me): string => JSON.stringify([realm, user_id, tenant_id]);

/** Of the person who is signed in; null: no person is. */
export const identityNow = (): string | null => (session.state === "in" ? identityOf(session.me) : null);

/** Calls it each time a person leaves this tab, before another can come. */
export function onIdentity(leaver: () => void): void {
  leavers.add(leaver);
}

function become(next: Session): void {
  const before = identityNow();
  session = next;
  if (before !== null && before !== identityNow()) for (const leaver of leavers) leaver();
  for (const listener of listeners) listener();
}

export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );
}

/** The signed-in caller. Only below the sign-in gate. */
export function useMe(): Me {
  const now = useSession();
  if (now.state !== "in") throw new Error("no caller is signed in");
  return now.me;
}

/** Whether the node runs in development, with people of its own; known once sign-in has begun. */
export const isDevelopment = (): boolean => config?.password === true;

/** Whether the caller may do what needs one of these scopes. */
export function useCan(): (...anyOf: readonly string[]) => boolean {
  const { scopes } = useMe();
  return (...anyOf) => anyOf.length === 0 || anyOf.some((scope) => scopes.includes(scope));
}

/** The bearer token for the next request; a new one ahead of its end, or when it was refused. */
export async function token(refused: string | null): Promise<string | null> {
  if (tokens === null) return null;
  const isGood = tokens.access !== refused && Date.now() < tokens.until - aheadMs;
  if (isGood) return tokens.access;
  renewing ??= renew().finally(() => {
    renewing = null;
  });
  return renewing;
}

async function renew(): Promise<string | null> {
  const renewed = tokens;
  try {
    const fresh =
      developer !== null
        ? await passwordGrant(developer)
        : renewed?.refresh != null
          ? await refreshGrant(renewed)
          : null;
    // The person signed out meanwhile: another may be here.
    if (tokens !== renewed) return null;
    if (fresh === null) return endedSession();
    tokens = fresh;
    return fresh.access;
  } catch (error) {
    if (tokens !== renewed) return null;
    if (error instanceof Unreachable || error instanceof TypeError) throw new Unreachable(error);
    return endedSession();
  }
}

/** The issuer gives no more tokens: through sign-in, and back to where the caller is. */
function endedSession(): null {
  tokens = null;
  if (config !== null)
    become({ state: "out", config, reason: "Your session has ended. Sign in again to go on where you were." });
  return null;
}

/** Begins: comes back from the issuer, signs in again after a reload, or offers to sign in. */
export async function start(): Promise<void> {
  become({ state: "starting" });
  try {
    const leaving = readLeaving();
    const last = JSON.parse(sessionStorage.getItem(lastKey) ?? "null") as {
      tenant: string | null;
      person?: string;
    } | null;
    tenant = leaving?.tenant ?? last?.tenant ?? null;
    config = await readConfig(tenant);
    const here = new URL(location.href);
    if (leaving !== null && here.searchParams.has("state")) return await comeBack(leaving, here);
    const person = config.people?.find(({ username }) => username === last?.person);
    if (config.password && person?.password != null)
      return await signInAs({ issuer: person.issuer, username: person.username, password: person.password });
    if (last !== null && !config.password) return await leave(tenant);
    become({ state: "out", config, reason: null });
  } catch (error) {
    if (error instanceof Unreachable || error instanceof TypeError)
      return become({ state: "unreachable", reason: "The service does not answer." });
    become(
      config === null
        ? { state: "unreachable", reason: textOf(error) }
        : { state: "out", config, reason: textOf(error) },
    );
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The sign-in settings of an organization; of none, the platform's own. */
async function readConfig(slug: string | null): Promise<SignInConfig> {
  const query = slug === null ? "" : `?tenant=${encodeURIComponent(slug)}`;
  return (await fetched(`${serviceUrl}/v1/auth/config${query}`)) as SignInConfig;
}

async function fetched(url: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new Unreachable(error);
  });
  if (!response.ok) throw await refusalOf(response);
  return response.json();
}

/**
 * Goes to the issuer of an organization. @param slug null: as the platform's sign-in is set
 * The page's policy lets it ask those issuers only that the address names: `?tenant=`, and `state` on the way back.
 */
export async function leave(slug: string | null): Promise<void> {
  const here = new URL(location.href);
  if (slug !== null && here.searchParams.get(tenantParameter) !== slug) {
    sessionStorage.setItem(lastKey, JSON.stringify({ tenant: slug }));
    here.searchParams.set(tenantParameter, slug);
    location.assign(here);
    return;
  }
  here.searchParams.delete(tenantParameter);
  tenant = slug;
  config = await readConfig(slug);
  const { server, client } = await issuerOf(config);
  if (server.authorization_endpoint === undefined)
    throw new Error("The identity provider offers no sign-in by browser");
  const verifier = oauth.generateRandomCodeVerifier();
  const leaving: Leaving = {
    verifier,
    state: `${slug ?? ""}.${oauth.generateRandomState()}`,
    tenant: slug,
    back: here.href,
  };
  sessionStorage.setItem(leavingKey, JSON.stringify(leaving));
  const to = new URL(server.authorization_endpoint);
  for (const [name, value] of Object.entries({
    client_id: client.client_id,
    redirect_uri: redirectUri(),
    response_type: "code",
    scope: config.scopes.join(" "),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state: leaving.state,
  }))
    to.searchParams.set(name, value);
  location.assign(to);
}

function readLeaving(): Leaving | null {
  const stored = sessionStorage.getItem(leavingKey);
  return stored === null ? null : (JSON.parse(stored) as Leaving);
}

/** One address for every page: issuers compare it letter by letter. */
const redirectUri = (): string => `${location.origin}${consolePath}/`;

async function comeBack(leaving: Leaving, here: URL): Promise<void> {
  sessionStorage.removeItem(leavingKey);
  history.replaceState(null, "", leaving.back);
  if (config === null) throw new Error("the sign-in settings are missing");
  const { server, client } = await issuerOf(config);
  const answer = oauth.validateAuthResponse(server, client, here, leaving.state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    answer,
    redirectUri(),
    leaving.verifier,
    allowingPlain(),
  );
  await enter(tokensOf(await oauth.processAuthorizationCodeResponse(server, client, response)));
}

/** In development: as one of the seeded people. */
export async function signInAs(person: Developer): Promise<void> {
  developer = person;
  await enter(await passwordGrant(developer));
}

async function passwordGrant({ issuer, username, password }: Developer): Promise<Tokens> {
  if (config === null) throw new Error("the sign-in settings are missing");
  // The development issuer is the service itself, by whichever name this page was opened.
  const endpoint = `${new URL(serviceUrl).origin}${new URL(issuer).pathname}/protocol/openid-connect/token`;
  const body = new URLSearchParams({
    grant_type: "password",
    client_id: config.client_id,
    expires_in: "3600",
    username,
    password,
  });
  return tokensOf((await fetched(endpoint, { method: "POST", body })) as oauth.TokenEndpointResponse);
}

async function refreshGrant({ refresh, id }: Tokens): Promise<Tokens> {
  if (config === null || refresh === null) throw new Error("there is no refresh token");
  const { server, client } = await issuerOf(config);
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refresh, allowingPlain());
  const next = tokensOf(await oauth.processRefreshTokenResponse(server, client, response));
  return { ...next, refresh: next.refresh ?? refresh, id: next.id ?? id };
}

async function issuerOf({ issuer, client_id }: SignInConfig) {
  const at = new URL(issuer);
  const response = await oauth
    .discoveryRequest(at, { algorithm: "oidc", ...allowingPlain() })
    .catch((error: unknown) => {
      throw new Unreachable(error);
    });
  const server = await oauth.processDiscoveryResponse(at, response);
  return { server, client: { client_id } satisfies oauth.Client };
}

/** Issuers on loopback, in development, speak HTTP. */
const allowingPlain = () => ({ [oauth.allowInsecureRequests]: location.protocol === "http:" });

function tokensOf({ access_token, refresh_token, id_token, expires_in }: oauth.TokenEndpointResponse): Tokens {
  return {
    access: access_token,
    refresh: refresh_token ?? null,
    id: id_token ?? null,
    until: Date.now() + (expires_in ?? 300) * 1000,
  };
}

async function enter(fresh: Tokens): Promise<void> {
  tokens = fresh;
  const me = (await fetched(`${serviceUrl}/v1/auth/me`, {
    headers: { Authorization: `Bearer ${fresh.access}` },
  })) as Me;
  sessionStorage.setItem(
    lastKey,
    JSON.stringify({ tenant, ...(developer === null ? {} : { person: developer.username }) }),
  );
  become({ state: "in", me, name: nameIn(fresh) ?? me.email ?? me.user_id });
}

/** What the token calls its person, for the eye only. */
function nameIn({ access, id }: Tokens): string | null {
  for (const text of [id, access]) {
    try {
      const claims = JSON.parse(new TextDecoder().decode(bytesOf(text?.split(".")[1] ?? ""))) as Record<
        string,
        unknown
      >;
      for (const name of ["name", "preferred_username", "email"])
        if (typeof claims[name] === "string") return claims[name];
    } catch {
      // Not a token with claims that can be read.
    }
  }
  return null;
}

const bytesOf = (base64url: string): Uint8Array =>
  Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));

/** Signs out here, in the browser's other tabs, and at the issuer. */
export async function signOut(): Promise<void> {
  signOuts.postMessage("out");
  const ended = tokens;
  forget();
  if (config === null) return start();
  const { server, client } = await issuerOf(config).catch(() => ({ server: null, client: null }));
  if (server?.revocation_endpoint !== undefined && ended?.refresh != null && client !== null)
    await oauth.revocationRequest(server, client, oauth.None(), ended.refresh, allowingPlain()).catch(() => {});
  if (server?.end_session_endpoint === undefined || ended?.id == null) return start();
  const to = new URL(server.end_session_endpoint);
  to.searchParams.set("id_token_hint", ended.id);
  to.searchParams.set("post_logout_redirect_uri", redirectUri());
  location.assign(to);
}

function forget(): void {
  tokens = null;
  developer = null;
  sessionStorage.removeItem(lastKey);
}

/** Tells the browser's other tabs. */
const signOuts = new BroadcastChannel("svc.sign-out");
signOuts.onmessage = () => {
  forget();
  if (config !== null) become({ state: "out", config, reason: "You signed out in another tab." });
};
