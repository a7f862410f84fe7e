/** People of a tenant sign in by its own identity provider (SAML); what it did not sign for this sign-in does not count. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { signXml } from "@node-saml/node-saml/lib/xml";
import type { NodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import type { Browser } from "./browser.ts";
import { claimsOf, publicUrl, Realm, startIssuer } from "./fixture.ts";
import { own } from "./saml-keys.ts";

let stores: TestStores;
let node: NodeProcess;
const acme = new Realm(() => node, "tenant-acme");
const entityId = "https://id.acme.test/metadata";
const endpoint = `${publicUrl}${acme.path}/saml/acs`;

const foreign = {
  ...own,
  key: generateKeyPairSync("rsa", { modulusLength: 2048 })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString(),
};

beforeAll(async () => {
  stores = await freshStores();
  await stores.sql`insert into tenants (slug, kind, display_name) values ('acme', 'enterprise', 'Acme')`;
  await stores.sql`
    insert into saml_settings (tenant, entity_id, sso_url, certificate, provisioning, updated_at)
    values ('acme', ${entityId}, 'https://id.acme.test/sso', ${own.certificate}, 'applied', now())`;
  // A node in development takes no forms from other origins.
  node = await startIssuer(stores, { SVC_CORS_ORIGINS: "https://id.acme.test" });
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

/** Begins a sign-in, as far as the other provider. @returns the request that it gets */
async function begun() {
  const browser = acme.browser();
  const request = acme.request();
  await browser.open(request.url);
  const way = /href="([^"]+\/saml)"/.exec(browser.shown?.html ?? "")?.[1] ?? "";
  const led = await browser.open(way);
  const text = inflateRawSync(Buffer.from(led.url.searchParams.get("SAMLRequest") ?? "", "base64")).toString("utf8");
  expect(`${led.url.origin}${led.url.pathname}`).toBe("https://id.acme.test/sso");
  return { browser, request, id: /ID="([^"]+)"/.exec(text)?.[1] ?? "", text };
}

interface Assertion {
  readonly to: string;
  readonly address?: string;
  readonly audience?: string;
  readonly recipient?: string;
  readonly issuer?: string;
  readonly endsInMs?: number;
  readonly id?: string;
}

const moment = (ms: number) => new Date(Date.now() + ms).toISOString();

function assertionOf({ to, endsInMs = 120_000, ...given }: Assertion): string {
  const { address = "zoe@acme.test", audience = `${publicUrl}${acme.path}/saml`, recipient = endpoint } = given;
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${given.id ?? "_assertion"}" Version="2.0" IssueInstant="${moment(0)}"><saml:Issuer>${given.issuer ?? entityId}</saml:Issuer><saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${address}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData InResponseTo="${to}" Recipient="${recipient}" NotOnOrAfter="${moment(endsInMs)}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${moment(-5_000)}" NotOnOrAfter="${moment(endsInMs)}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${moment(0)}" SessionIndex="_s"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement><saml:Attribute Name="displayName"><saml:AttributeValue>Zoe</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion>`;
}

const around = (to: string, content: string): string =>
  `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_response" Version="2.0" IssueInstant="${moment(0)}" Destination="${endpoint}" InResponseTo="${to}"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${entityId}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>${content}</samlp:Response>`;

function signed(xml: string, { key, certificate }: typeof own = own, algorithm: "sha256" | "sha1" = "sha256"): string {
  const path = "//*[local-name(.)='Assertion']";
  const location = { reference: `${path}/*[local-name(.)='Issuer']`, action: "after" as const };
  return signXml(xml, path, location, {
    privateKey: key,
    publicCert: certificate,
    signatureAlgorithm: algorithm,
    digestAlgorithm: algorithm,
  });
}

const answer = (assertion: Assertion, keys?: typeof own, algorithm?: "sha1"): string =>
  signed(around(assertion.to, assertionOf(assertion)), keys, algorithm);

/** As the other provider's page has the browser send it: without cookies of ours. */
async function post(xml: string): Promise<{ status: number; location: string | null }> {
  const response = await fetch(`${node.url}${acme.path}/saml/acs`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: "https://id.acme.test", "sec-fetch-site": "cross-site", accept: "text/html" },
    body: new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString("base64"), RelayState: "" }),
  });
  await response.body?.cancel();
  return { status: response.status, location: response.headers.get("location") };
}

async function tokensOf(browser: Browser, xml: string, request: ReturnType<Realm["request"]>) {
  const { status, location } = await post(xml);
  expect(status).toBe(303);
  await browser.open(location ?? "");
  return acme.tokens(browser, request);
}

test("a person signs in by the tenant's own provider, with the address proven", async () => {
  const { browser, request, id, text } = await begun();
  expect(text).toContain(`${publicUrl}${acme.path}/saml`);
  const { access_token } = await tokensOf(browser, answer({ to: id }), request);
  const claims = claimsOf(access_token);
  expect(claims).toMatchObject({ email: "zoe@acme.test", email_verified: true, name: "Zoe" });
  const called = await node.call("GET", "/v1/agents", undefined, { Authorization: `Bearer ${access_token}` });
  expect(called.status).toBe(200);
  const again = await begun();
  const second = await tokensOf(again.browser, answer({ to: again.id }), again.request);
  expect(claimsOf(second.access_token).sub).toBe(claims.sub);
});

test("an answer counts once, for the browser that asked, and for its own request", async () => {
  const { id } = await begun();
  const xml = answer({ to: id });
  const { status, location } = await post(xml);
  expect(status).toBe(303);
  expect((await post(xml)).status).toBe(403);
  const stranger = acme.browser();
  await stranger.open(acme.request().url);
  expect((await stranger.open(location ?? "")).status).toBe(403);

  const other = await begun();
  // What is signed names another request than the envelope, which anyone may write.
  expect((await post(signed(around(other.id, assertionOf({ to: id }))))).status).toBe(403);
  expect((await post(answer({ to: "_never_asked" }))).status).toBe(403);
  const inEnvelope = answer({ to: other.id }).replace(/ InResponseTo="[^"]+"(?=><saml:Issuer)/, "");
  expect((await post(inEnvelope)).status).toBe(403);
});

test("what is not signed by the provider, for this realm and now, is refused", async () => {
  const { id } = await begun();
  const tries: readonly (readonly [string, string])[] = [
    ["unsigned", around(id, assertionOf({ to: id }))],
    ["foreign key", answer({ to: id }, foreign)],
    ["SHA-1", answer({ to: id }, own, "sha1")],
    ["other audience", answer({ to: id, audience: "https://elsewhere.test" })],
    ["other recipient", answer({ to: id, recipient: "https://elsewhere.test/acs" })],
    ["other issuer", answer({ to: id, issuer: "https://elsewhere.test" })],
    ["over", answer({ to: id, endsInMs: -300_000 })],
    ["changed", answer({ to: id }).replace("zoe@acme.test", "owner@acme.test")],
    ["no address", answer({ to: id, address: "not an address" })],
    ["document type", `<!DOCTYPE x [<!ENTITY a "b">]>${answer({ to: id })}`],
    ["no XML", "nothing of the kind"],
    ["empty", ""],
  ];
  for (const [name, xml] of tries) expect([name, (await post(xml)).status]).toEqual([name, 403]);
  expect((await post(answer({ to: id }))).status).toBe(303);
});

test("a signed assertion that is wrapped lends its signature to no other one", async () => {
  const { id } = await begun();
  const good = answer({ to: id });
  const assertion = /<saml:Assertion [\s\S]*<\/saml:Assertion>/.exec(good)?.[0] ?? "";
  const signature = /<Signature [\s\S]*<\/Signature>/.exec(assertion)?.[0] ?? "";
  const evil = (name: string, signedBy = "") =>
    assertionOf({ to: id, address: "owner@acme.test", id: name }).replace(
      "</saml:Issuer>",
      `</saml:Issuer>${signedBy}`,
    );
  const within = (inner: string) => signature.replace("</Signature>", `<Object>${inner}</Object></Signature>`);
  const wraps: readonly (readonly [string, string])[] = [
    ["before", around(id, evil("_evil") + assertion)],
    ["after", around(id, assertion + evil("_evil"))],
    ["the same id", around(id, evil("_assertion", signature) + assertion)],
    ["its signature", around(id, evil("_evil", signature))],
    ["around", around(id, evil("_evil").replace("</saml:Assertion>", `${assertion}</saml:Assertion>`))],
    ["in the signature", around(id, evil("_evil", within(assertion.replace(signature, ""))))],
    ["in extensions", around(id, `<samlp:Extensions>${assertion}</samlp:Extensions>${evil("_evil", signature)}`)],
  ];
  for (const [name, xml] of wraps) expect([name, (await post(xml)).status]).toEqual([name, 403]);
  // A comment is no part of what is signed: the address is read without it, and whole.
  const longer = await begun();
  const commented = answer({ to: longer.id, address: "owner@acme.test.evil.test" });
  await post(commented.replace("owner@acme.test.evil", "owner@acme.test<!---->.evil"));
  const rows = await stores.sql`select 1 from people where email_folded = 'owner@acme.test'`;
  expect(rows).toHaveLength(0);
  expect((await post(good)).status).toBe(303);
});
