/** A node that is its own identity provider, and clients that sign in at it. */

import { expect } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import type { TestStores } from "../../harness/stores.ts";
import { Browser } from "./browser.ts";

/** Where clients think that the node is. */
export const publicUrl = "https://svc.test";
export const firstOperator = { email: "root@svc.test", password: "first password of all" };

export interface TokenAnswer {
  readonly status: number;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
  readonly expires_in: number;
  readonly error?: string;
  readonly [member: string]: unknown;
}

const issuerEnv = {
  SVC_ISSUER: "embedded",
  SVC_PUBLIC_URL: publicUrl,
  SVC_ISSUER_ADMIN_EMAIL: firstOperator.email,
  SVC_ISSUER_ADMIN_PASSWORD: firstOperator.password,
};

export const startIssuer = (stores: TestStores, env: Readonly<Record<string, string>> = {}): Promise<NodeProcess> =>
  startNodeProcess(stores, { env: { ...issuerEnv, ...env } });

const clientUri = "http://127.0.0.1/callback";

/** A realm of a node, as clients use it. */
export class Realm {
  constructor(
    private readonly node: () => NodeProcess,
    readonly slug: string,
  ) {}

  get path(): string {
    return `/realms/${this.slug}`;
  }

  browser(agent?: string): Browser {
    return new Browser(publicUrl, () => this.node().url, agent);
  }

  async post(way: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    const response = await fetch(`${this.node().url}${this.path}/protocol/openid-connect/${way}`, {
      method: "POST",
      headers: { accept: "application/json", ...headers },
      body: new URLSearchParams(fields),
    });
    const text = await response.text();
    return { status: response.status, ...(text === "" ? {} : JSON.parse(text)) } as TokenAnswer;
  }

  token = (fields: Readonly<Record<string, string>>) => this.post("token", fields);

  /** What a client sends to begin a sign-in. */
  request(client = "svc-console", more: Readonly<Record<string, string>> = {}) {
    const verifier = randomBytes(48).toString("base64url");
    const redirect_uri = client === "svc-cli" ? clientUri : `${publicUrl}/console/`;
    const query = new URLSearchParams({
      client_id: client,
      response_type: "code",
      redirect_uri,
      scope: "openid email profile",
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      ...more,
    });
    const redeem = (code: string) =>
      this.token({ grant_type: "authorization_code", client_id: client, code, redirect_uri, code_verifier: verifier });
    return { url: `${this.path}/protocol/openid-connect/auth?${query}`, redeem, verifier };
  }

  /** Signs in as far as address and password go. */
  async withPassword(browser: Browser, email: string, password: string, client?: string) {
    const request = this.request(client);
    await browser.open(request.url);
    await browser.submit({ email, password });
    return request;
  }

  /** The tokens, once the browser was led back to the client. */
  async tokens(browser: Browser, { redeem }: { redeem(code: string): Promise<TokenAnswer> }): Promise<TokenAnswer> {
    const code = browser.shown?.url.searchParams.get("code");
    if (!code) throw new Error(`no code: ${browser.shown?.url} ${browser.shown?.html}`);
    const answer = await redeem(code);
    expect(answer).toMatchObject({ status: 200 });
    return answer;
  }
}

/** The key that a page shows for an authenticator. */
export function shownSecret(html: string): string {
  const key = /type the key\s+<code>([A-Z2-7 ]+)<\/code>/.exec(html)?.[1];
  if (key === undefined) throw new Error(`no key: ${html}`);
  return key.replaceAll(" ", "");
}

/** What an authenticator shows. @param steps from the present one */
export const codeOf = (secret: string, steps = 0): string =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + steps * 30_000 });

export const shownRecoveryCodes = (html: string): readonly string[] =>
  [...html.matchAll(/<li class="code">([A-Z2-7-]+)<\/li>/g)].map(([, code = ""]) => code);

/** The claims of a token, unchecked. */
export const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
