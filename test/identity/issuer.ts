/** An identity provider of few words: a key set on loopback, and tokens signed however a test wants them. */
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from "jose";

export interface TestKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export async function makeKey(alg: string, kid: string, modulusLength = 2048): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true, modulusLength });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

export interface TestIssuer {
  readonly issuer: string;
  readonly jwksUri: string;
  /** What the key set shows; tests change it. */
  published: JWK[];
  /** How often the key set was fetched. */
  readonly fetches: () => number;
  stop(): Promise<void>;
}

export function startIssuer(published: JWK[], path = "/realm"): TestIssuer {
  let fetches = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      fetches++;
      return Response.json({ keys: self.published });
    },
  });
  const issuer = `http://127.0.0.1:${server.port}${path}`;
  const self: TestIssuer = {
    issuer,
    jwksUri: `${issuer}/keys`,
    published,
    fetches: () => fetches,
    stop: () => server.stop(true),
  };
  return self;
}

/** A well-made token of a service account, with whatever a test changes about it. `undefined` removes a member. */
export function sign(
  key: TestKey,
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const all = { aud: "svc-orchestrator", sub: "someone", iat: now, exp: now + 300, ...claims };
  return new SignJWT(present(all))
    .setProtectedHeader(present({ alg: key.alg, kid: key.kid, typ: "JWT", ...header }) as JWTHeaderParameters)
    .sign(key.privateKey);
}

function present(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** A token put together by hand. */
export function compact(header: object, claims: object, signature = ""): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part(header)}.${part(claims)}.${signature}`;
}
