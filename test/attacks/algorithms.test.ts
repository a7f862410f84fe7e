/** Tokens that want another algorithm or another key than the realm's: none opens, and no foreign key is fetched. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { exportPKCS8, exportSPKI, importJWK, type JWK, SignJWT } from "jose";
import { defineRoute } from "../../src/http/route.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { type OpenApp, openApp, openTestIdentity } from "../http/open-app.ts";
import { compact, makeKey, sign, startIssuer, type TestIssuer, type TestKey } from "../identity/issuer.ts";

const whoAmI = defineRoute({
  method: "GET",
  path: "/v1/who",
  summary: "The caller",
  scope: "agent:list",
  responses: { 200: Type.Any() },
  handler: ({ identity }) => ({ user: identity.userId }),
});

let stores: TestStores;
let app: OpenApp;
let issuer: TestIssuer;
/** Has the attacker's key set. */
let foreign: TestIssuer;
let rsa: TestKey;
let ec: TestKey;
let ed: TestKey;
let own: TestKey;
beforeAll(async () => {
  [rsa, ec, ed, own] = await Promise.all([
    makeKey("RS256", "rsa"),
    makeKey("ES256", "ec"),
    makeKey("EdDSA", "ed"),
    makeKey("RS256", "rsa"),
  ]);
  issuer = startIssuer([rsa.publicJwk, ec.publicJwk, ed.publicJwk]);
  foreign = startIssuer([own.publicJwk]);
  stores = await freshStores();
  const realm = { slug: "svc-system", kind: "system", issuer_url: issuer.issuer, jwks_uri: issuer.jwksUri };
  const auth = { realms: [{ ...realm, audience: "svc-orchestrator" }] };
  app = openApp({ routes: [whoAmI], authenticator: openTestIdentity({ sql: stores.sql, auth }).authenticator });
});
afterAll(async () => {
  await app?.stop();
  await issuer?.stop();
  await foreign?.stop();
  await stores?.dispose();
});

const claims = () => {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer.issuer, aud: "svc-orchestrator", sub: "root", svc_role: "admin", iat: now, exp: now + 60 };
};
const b64 = (value: object | string): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Signed with a shared secret that an attacker can know. */
function hmac(alg: string, kid: string, secret: string | Uint8Array): string {
  const text = compact({ alg, kid, typ: "JWT" }, claims()).slice(0, -1);
  return `${text}.${createHmac(alg.replace("HS", "sha"), secret).update(text).digest("base64url")}`;
}

/** Everything in which a public key is known, as secrets of an HMAC. */
async function publicForms({ publicJwk, alg }: TestKey): Promise<readonly (string | Uint8Array)[]> {
  const pem = await exportSPKI((await importJWK(publicJwk as JWK, alg)) as CryptoKey);
  const body = pem.split("\n").slice(1, -1).join("");
  const { n, x } = publicJwk;
  return [
    pem,
    `${pem}\n`,
    pem.trim(),
    body,
    Buffer.from(body, "base64"),
    JSON.stringify(publicJwk),
    n ?? x ?? "",
    Buffer.from(n ?? x ?? "", "base64url"),
    "",
  ];
}

/** The parts of a good token with another header. */
async function withHeader(header: object | string): Promise<string> {
  const [, payload, signature] = (await sign(rsa, claims())).split(".");
  return `${b64(header)}.${payload}.${signature}`;
}

const ask = async (token: string): Promise<string> => {
  const response = await fetch(`${app.url}/v1/who`, { headers: { Authorization: `Bearer ${token}` } });
  const { code, user } = (await response.json()) as { code?: string; user?: string };
  return `${response.status} ${code ?? user}`;
};

test("tokens of the three algorithms open: what follows is refused for its fault", async () => {
  for (const key of [rsa, ec, ed]) expect(await ask(await sign(key, claims()))).toBe("200 root");
});

test("an HMAC keyed with anything that is public of a key opens nothing", async () => {
  for (const key of [rsa, ec, ed]) {
    for (const secret of await publicForms(key)) {
      for (const alg of ["HS256", "HS384", "HS512"])
        expect(await ask(hmac(alg, key.kid, secret))).toBe("401 invalid_token");
    }
  }
});

test("no signature, in whichever spelling, opens nothing", async () => {
  const signature = (await sign(rsa, claims())).split(".")[2] ?? "";
  for (const alg of ["none", "None", "NONE", "nOnE", "", null, 0, [], ["RS256"], { alg: "RS256" }, "rs256", "RS256 "]) {
    for (const tail of ["", "AAAA", signature]) {
      const token = compact({ alg, kid: "rsa", typ: "JWT" }, claims(), tail);
      expect([alg, await ask(token)]).toEqual([alg, "401 invalid_token"]);
    }
  }
  // Zeros are a signature of everything where a library forgets to look at their range.
  for (const kid of ["ec", "ed"]) {
    const token = compact(
      { alg: kid === "ec" ? "ES256" : "EdDSA", kid },
      claims(),
      Buffer.alloc(64).toString("base64url"),
    );
    expect(await ask(token)).toBe("401 invalid_token");
  }
});

test("a key of one algorithm counts for no other", async () => {
  for (const [alg, kid] of [
    ["ES256", "rsa"],
    ["RS256", "ec"],
    ["EdDSA", "ec"],
    ["ES256", "ed"],
    ["PS256", "rsa"],
    ["RS512", "rsa"],
    ["ES384", "ec"],
    ["ES256K", "ec"],
    ["Ed448", "ed"],
    ["RSA-OAEP", "rsa"],
    ["dir", "rsa"],
  ] as const) {
    expect([alg, await ask(await withHeader({ alg, kid, typ: "JWT" }))]).toEqual([alg, "401 invalid_token"]);
  }
  // RSA with another padding and with another hash, well signed by the realm's own key.
  const pkcs8 = await exportPKCS8(rsa.privateKey);
  for (const alg of ["PS256", "RS384", "RS512"]) {
    const { importPKCS8 } = await import("jose");
    const token = await new SignJWT(claims())
      .setProtectedHeader({ alg, kid: "rsa" })
      .sign(await importPKCS8(pkcs8, alg));
    expect([alg, await ask(token)]).toEqual([alg, "401 invalid_token"]);
  }
});

test("a key that the token brings or points to is neither taken nor fetched", async () => {
  const { publicJwk } = own;
  for (const header of [
    { jwk: publicJwk },
    { jku: foreign.jwksUri },
    { x5u: foreign.jwksUri },
    { x5c: [Buffer.from("certificate").toString("base64")] },
    { jku: `${issuer.issuer}@${new URL(foreign.jwksUri).host}/keys`, jwk: publicJwk },
    { kid: foreign.jwksUri, jku: foreign.jwksUri },
  ]) {
    expect([header, await ask(await sign(own, claims(), header))]).toEqual([header, "401 invalid_token"]);
  }
  expect(foreign.fetches()).toBe(0);
});

test("headers that are no object, say something twice or hide another are refused", async () => {
  const twice = '{"alg":"RS256","kid":"rsa","alg":"none"}';
  for (const header of [
    "null",
    "[]",
    '"RS256"',
    "1",
    "{",
    "",
    twice,
    '{"__proto__":{"alg":"RS256","kid":"rsa"}}',
    '{"alg":"RS256","kid":"rsa","crit":["exp"]}',
    '{"alg":"RS256","kid":"rsa","zip":"DEF","enc":"A256GCM"}',
    '{"alg":"RS256","kid":["rsa"]}',
    '{"alg":"RS256","kid":"rsa","b64":false,"crit":["b64"]}',
  ]) {
    expect([header, await ask(await withHeader(header))]).toEqual([header, "401 invalid_token"]);
  }
  const [head, payload, signature] = (await sign(rsa, claims())).split(".");
  for (const token of [
    `${head}.${payload}`,
    `${head}.${payload}.${signature}.`,
    `${head}.${payload}.${signature}.${signature}.x`,
    `.${payload}.${signature}`,
    `${head}..${signature}`,
    `${head}.${payload}.`,
    `${head}=.${payload}=.${signature}=`,
    `${head}.${payload}.${signature?.slice(0, -2)}`,
  ]) {
    expect([token.length, await ask(token)]).toEqual([token.length, "401 invalid_token"]);
  }
});
