/** How a realm's provider is set up: what is offered, to which clients, for how long. */
import {
  type Configuration,
  interactionPolicy,
  type JWKS,
  type KoaContextWithOIDC,
  type ResourceServer,
} from "oidc-provider";
import { embeddedAudience } from "../../../identity/tokens/embedded-realms.ts";
import { showPage } from "../pages/page.ts";
import { confirmDevicePage, deviceCodePage, deviceDonePage, signedOutPage, signOutPage } from "../pages/protocol.ts";
import type { RecordsOptions } from "../storage/records.ts";
import { issuerRecords } from "../storage/records.ts";
import type { IssuerClient } from "./clients.ts";
import type { KeyRing } from "./keys.ts";

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Of a session: without use, and in all, seconds. */
const idleSeconds = 12 * hour;
const wholeSeconds = 30 * day;

/** What a token is for, as oidc-provider wants it named: a URI. */
const resource = "urn:svc:orchestrator";

/** What the protocol tells of a person. */
export interface AccountFacts {
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
  /** Of an operator. */
  readonly role: string | null;
}

export interface RealmConfiguration extends RecordsOptions {
  /** Path of the realm, such as `/realms/svc-system`. */
  readonly path: string;
  readonly issuer: string;
  readonly ring: KeyRing;
  readonly clients: readonly IssuerClient[];
  /** Null: there is no such person, or one who may not sign in. */
  readonly account: (id: string) => Promise<AccountFacts | null>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export function realmConfiguration(options: RealmConfiguration): Configuration {
  const { path, ring, clients, account } = options;
  const orchestrator: ResourceServer = {
    // The rights of people and machines are the service's to know: no scope of a token adds to them.
    scope: "",
    audience: embeddedAudience,
    accessTokenFormat: "jwt",
    accessTokenTTL: 5 * minute,
    jwt: { sign: { alg: "RS256" } },
  };
  return {
    adapter: issuerRecords(options),
    clients: clients.map(({ metadata }) => metadata),
    jwks: { keys: [...ring.signing] } as JWKS,
    cookies: {
      keys: [...ring.cookies],
      names: { session: "svc_session", interaction: "svc_sign_in", resume: "svc_resume" },
      long: { path, httpOnly: true, sameSite: "lax", signed: true },
      short: { path, httpOnly: true, sameSite: "lax", signed: true },
    },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    scopes: ["openid", "offline_access", "email", "profile"],
    responseTypes: ["code"],
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    pkce: { required: () => true },
    routes: {
      authorization: "/protocol/openid-connect/auth",
      token: "/protocol/openid-connect/token",
      jwks: "/protocol/openid-connect/certs",
      revocation: "/protocol/openid-connect/revoke",
      end_session: "/protocol/openid-connect/logout",
      device_authorization: "/protocol/openid-connect/auth/device",
      code_verification: "/device",
    },
    discovery: { userinfo_endpoint: `${options.issuer}/protocol/openid-connect/userinfo` },
    interactions: {
      policy: policy(),
      url: (_, interaction) => `${path}/sign-in/${interaction.uid}`,
    },
    findAccount: async (_, id) => {
      const facts = await account(id);
      if (facts === null) return undefined;
      return { accountId: facts.id, claims: () => claimsOf(facts) };
    },
    extraTokenClaims: async (_, token) => {
      if (token.kind === "ClientCredentials") return machineClaims(clients, token.clientId);
      const facts = "accountId" in token && token.accountId !== undefined ? await account(token.accountId) : null;
      return facts === null
        ? undefined
        : { ...claimsOf(facts), ...(facts.role === null ? {} : { svc_role: facts.role }) };
    },
    loadExistingGrant: grantOf,
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    // A refresh token outlives the browser's session; signing out ends it unless `offline_access` was asked for.
    expiresWithSession: () => false,
    ttl: {
      AuthorizationCode: minute,
      IdToken: 5 * minute,
      DeviceCode: 10 * minute,
      Interaction: hour,
      RefreshToken: 30 * day,
      Grant: 365 * day,
      ClientCredentials: 5 * minute,
      Session: (_, session) => {
        const age = session.loginTs === undefined ? 0 : Math.floor(options.now() / 1000) - session.loginTs;
        return Math.max(1, Math.min(idleSeconds, wholeSeconds - age));
      },
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      claimsParameter: { enabled: false },
      deviceFlow: {
        enabled: true,
        charset: "base-20",
        mask: "****-****",
        userCodeInputSource: async (context, _, out, error) => deviceCodePage(context, out ?? null, error ?? null),
        userCodeConfirmSource: async (context, _, client, __, code) => confirmDevicePage(context, client, code),
        successSource: async (context) => deviceDonePage(context),
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: async (context) => signOutPage(context),
        postLogoutSuccessSource: async (context) => signedOutPage(context),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        getResourceServerInfo: () => orchestrator,
        useGrantedResource: () => true,
      },
    },
    renderError: async (context, { error, error_description }) =>
      showPage(context, {
        status: context.status,
        title: "This did not work",
        content: "<p>Go back to where you came from and begin again.</p>",
        fault: error_description === undefined ? error : `${error}: ${error_description}`,
      }),
  };
}

/**
 * Clients are the installation's own, so no person is asked what they may know. A program on the person's machine is
 * confirmed all the same: any program there could call itself by its name.
 */
function policy() {
  const prompts = interactionPolicy.base();
  const consent = prompts.get("consent");
  for (const check of ["op_scopes_missing", "op_claims_missing", "rs_scopes_missing", "rar_prompt"]) {
    consent?.checks.remove(check);
  }
  return prompts;
}

/** What the session's person granted the client before, grown by what is asked for now; a new one otherwise. */
async function grantOf(context: KoaContextWithOIDC) {
  const { oidc } = context;
  const { client, session, provider, account } = oidc;
  if (client === undefined || session === undefined || account === undefined) return undefined;
  const grantId = oidc.result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = known ?? new provider.Grant({ clientId: client.clientId, accountId: account.accountId });
  grant.addOIDCScope([...oidc.requestParamOIDCScopes].join(" "));
  grant.addResourceScope(resource, "");
  await grant.save();
  return grant;
}

const claimsOf = ({ id, email, emailVerified, name }: AccountFacts) => ({
  sub: id,
  email,
  email_verified: emailVerified,
  ...(name === null ? {} : { name }),
});

function machineClaims(clients: readonly IssuerClient[], id: string | undefined) {
  const client = clients.find(({ metadata }) => metadata.client_id === id);
  if (id === undefined || client === undefined) return undefined;
  return {
    azp: id,
    preferred_username: `service-account-${id}`,
    ...(client.role === null ? {} : { svc_role: client.role }),
  };
}
