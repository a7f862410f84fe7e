/**
 * Signing in by a tenant's own identity provider (SAML 2.0, POST binding). Only what the provider signed is read, only as
 * an answer to a request of ours, and once.
 */
import { type Profile, SAML, ValidateInResponseTo } from "@node-saml/node-saml";
import { isObject } from "../../../../actors/kernel/json.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { isAddress } from "../schema.ts";

/** How a tenant's provider is reached, as the colony keeps it. */
export interface SamlSettings {
  readonly entityId: string;
  readonly ssoUrl: string;
  /** PEM. */
  readonly certificate: string;
}

/** A realm, as its tenant's provider knows it. */
export interface SamlRealm {
  readonly slug: string;
  readonly tenant: string;
  readonly issuer: string;
}

/** What a provider vouches for. */
export interface SamlPerson {
  readonly address: string;
  readonly name: string | null;
  /** The sign-in whose request was answered. */
  readonly boundTo: string;
}

export interface SamlOptions {
  readonly sql: Sql;
  /** Null: the tenant has none in force. */
  readonly settingsOf: (tenant: string) => Promise<SamlSettings | null>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** How long a person may take at the other provider, ms. */
const requestMs = 15 * 60_000;
/** How old an assertion may be, and how far clocks may differ, ms. */
const maxAgeMs = 5 * 60_000;
const skewMs = 60_000;

const addressFormat = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress";
/** Names under which providers send an address or a name. */
const addressNames = [
  "email",
  "mail",
  "urn:oid:0.9.2342.19200300.100.1.3",
  "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
];
const personNames = ["displayName", "name", "http://schemas.microsoft.com/identity/claims/displayname"];

const samlEndpoint = ({ issuer }: SamlRealm): string => `${issuer}/saml/acs`;
/** How the realm calls itself at the other provider. */
const samlEntity = ({ issuer }: SamlRealm): string => `${issuer}/saml`;

export function createSaml({ sql, settingsOf, now }: SamlOptions) {
  function clientOf(realm: SamlRealm, settings: SamlSettings, boundTo: string): SAML {
    return new SAML({
      callbackUrl: samlEndpoint(realm),
      entryPoint: settings.ssoUrl,
      issuer: samlEntity(realm),
      audience: samlEntity(realm),
      idpCert: settings.certificate,
      idpIssuer: settings.entityId,
      identifierFormat: addressFormat,
      signatureAlgorithm: "sha256",
      digestAlgorithm: "sha256",
      // Every assertion carries its own signature; that of the answer around it may be left out.
      wantAssertionsSigned: true,
      wantAuthnResponseSigned: false,
      disableRequestedAuthnContext: true,
      acceptedClockSkewMs: skewMs,
      maxAssertionAgeMs: maxAgeMs,
      validateInResponseTo: ValidateInResponseTo.always,
      requestIdExpirationPeriodMs: requestMs,
      cacheProvider: {
        async saveAsync(id, value) {
          const at = now();
          await sql`
            insert into saml_requests (id, tenant, realm, bound_to, created_at, expires_at)
            values (${id}, ${realm.tenant}, ${realm.slug}, ${boundTo}, ${new Date(at)}, ${new Date(at + requestMs)})`;
          return { value, createdAt: at };
        },
        async getAsync(id) {
          const [row] = await sql<{ created_at: Date }[]>`
            select created_at from saml_requests
            where id = ${id} and realm = ${realm.slug} and used_at is null and expires_at > ${new Date(now())}`;
          return row?.created_at.toISOString() ?? null;
        },
        // Requests end when an answer counted, not when a person sent one that did not.
        removeAsync: async () => null,
      },
    });
  }

  /** Takes the request that an answer is for. @returns the sign-in; null when it was answered before */
  async function take(realm: SamlRealm, id: string): Promise<string | null> {
    const [row] = await sql<{ bound_to: string }[]>`
      update saml_requests set used_at = now()
      where id = ${id} and realm = ${realm.slug} and used_at is null returning bound_to`;
    return row?.bound_to ?? null;
  }

  return {
    isOn: async (realm: SamlRealm): Promise<boolean> => (await settingsOf(realm.tenant)) !== null,

    /** Where the browser is led. @returns null when the tenant has no provider in force */
    async begin(realm: SamlRealm, boundTo: string): Promise<string | null> {
      const settings = await settingsOf(realm.tenant);
      if (settings === null) return null;
      return clientOf(realm, settings, boundTo).getAuthorizeUrlAsync("", undefined, {});
    },

    /** @param response as it was posted, in base64 @returns null for every answer that does not count */
    async finish(realm: SamlRealm, response: string): Promise<SamlPerson | null> {
      const settings = await settingsOf(realm.tenant);
      if (settings === null || !isPlain(response)) return null;
      const client = clientOf(realm, settings, "");
      const answer = await client.validatePostResponseAsync({ SAMLResponse: response }).catch(() => null);
      const profile = answer?.profile ?? null;
      if (profile === null || profile.issuer !== settings.entityId) return null;
      const request = answeredRequest(profile, samlEndpoint(realm));
      const address = addressOf(profile);
      if (request === null || address === null) return null;
      const boundTo = await take(realm, request);
      return boundTo === null ? null : { address, name: nameOf(profile), boundTo };
    },

    async sweep(): Promise<void> {
      await sql`delete from saml_requests where expires_at < ${new Date(now() - 24 * 3600_000)}`;
    },
  };
}

export type Saml = ReturnType<typeof createSaml>;

/** Documents with types of their own can grow without bound; signatures by SHA-1 can be forged. */
function isPlain(response: string): boolean {
  const text = Buffer.from(response, "base64").toString("utf8");
  return !/<!DOCTYPE|<!ENTITY/i.test(text) && !/xmldsig#(?:rsa-|dsa-|hmac-)?sha1|xmldsig-more#rsa-md5/i.test(text);
}

/**
 * The request that the signed assertion names: that of the answer around it may be written by anyone.
 * @returns null unless the assertion is for this endpoint and tells when it ends
 */
function answeredRequest(profile: Profile, endpoint: string): string | null {
  const assertion = profile.getAssertion?.().Assertion;
  const [subject] = listAt(assertion, "Subject");
  const confirmations = listAt(subject, "SubjectConfirmation");
  if (confirmations.length !== 1) return null;
  const [data] = listAt(confirmations[0], "SubjectConfirmationData");
  const facts = isObject(data) && isObject(data.$) ? data.$ : {};
  const { Recipient, InResponseTo, NotOnOrAfter } = facts;
  if (Recipient !== endpoint || typeof InResponseTo !== "string" || typeof NotOnOrAfter !== "string") return null;
  return profile.inResponseTo === InResponseTo ? InResponseTo : null;
}

/** A member of parsed XML: each is a list. */
function listAt(value: unknown, name: string): readonly unknown[] {
  const members = isObject(value) ? value[name] : undefined;
  return Array.isArray(members) ? members : [];
}

function addressOf(profile: Profile): string | null {
  const attributes = isObject(profile.attributes) ? profile.attributes : {};
  const told = addressNames.map((name) => attributes[name]).find((value) => typeof value === "string");
  const address = told ?? (profile.nameIDFormat === addressFormat ? profile.nameID : null);
  return typeof address === "string" && isAddress(address.trim()) ? address.trim() : null;
}

function nameOf(profile: Profile): string | null {
  const attributes = isObject(profile.attributes) ? profile.attributes : {};
  const name = personNames.map((one) => attributes[one]).find((value) => typeof value === "string");
  const text = typeof name === "string" ? name.replace(/[\s\p{Cc}]+/gu, " ").trim() : "";
  return text === "" ? null : [...text].slice(0, 128).join("");
}
