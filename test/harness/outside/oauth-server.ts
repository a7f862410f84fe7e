/** An OAuth provider on loopback: codes with PKCE, refresh tokens that are good once, device codes, revocation. */
import { createHash, randomUUID } from "node:crypto";

interface Grant {
  readonly challenge: string;
  readonly redirectUri: string;
}

type DeviceDecision = "authorization_pending" | "slow_down" | "access_denied" | "expired_token" | "approved";

export class OAuthServer {
  readonly #server: Bun.Server<undefined>;
  readonly #codes = new Map<string, Grant>();
  readonly #refreshTokens = new Set<string>();
  /** Grant types in the order in which tokens were asked for. */
  readonly asked: string[] = [];
  readonly revoked: string[] = [];
  /** Every token it gave. */
  readonly given: string[] = [];
  /** Of access tokens, seconds. */
  lifetime = 3600;
  givesRefreshTokens = true;
  /** Refreshes are answered by this instead. */
  refuses: "invalid_grant" | "down" | null = null;
  device: DeviceDecision = "authorization_pending";
  deviceLifetime = 600;
  /** Tokens are not given before it resolves. */
  gate: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => this.#answer(request) });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }
  stop = () => this.#server.stop(true);

  /** As an operator configures it. */
  settings(name: string, more: Readonly<Record<string, unknown>> = {}) {
    const { url } = this;
    return {
      name,
      authorization_url: `${url}/authorize`,
      token_url: `${url}/token`,
      device_url: `${url}/device`,
      revocation_url: `${url}/revoke`,
      client_id: "svc",
      client_secret: "client-secret",
      scopes: ["read"],
      ...more,
    };
  }

  /** What the person's consent gives: a code for what the authorization URL asks. */
  consent(authorizationUrl: string): string {
    const query = new URL(authorizationUrl).searchParams;
    const code = `code-${randomUUID()}`;
    this.#codes.set(code, {
      challenge: query.get("code_challenge") ?? "",
      redirectUri: query.get("redirect_uri") ?? "",
    });
    return code;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const form = new URLSearchParams(await request.text());
    const { client_id, client_secret } = Object.fromEntries(form);
    if (client_id !== "svc" || client_secret !== "client-secret") return refusal("invalid_client", 401);
    if (pathname === "/revoke") {
      this.revoked.push(form.get("token") ?? "");
      return new Response(null, { status: 200 });
    }
    if (pathname === "/device") return this.#deviceBegins();
    return this.#tokens(form);
  }

  #deviceBegins(): Response {
    return Response.json({
      device_code: "provider-device-code",
      user_code: "ABCD-EFGH",
      verification_uri: `${this.url}/activate`,
      expires_in: this.deviceLifetime,
      interval: 1,
    });
  }

  async #tokens(form: URLSearchParams): Promise<Response> {
    const type = form.get("grant_type") ?? "";
    this.asked.push(type);
    await this.gate;
    if (type === "authorization_code") return this.#byCode(form);
    if (type === "refresh_token") return this.#byRefreshToken(form);
    if (form.get("device_code") !== "provider-device-code") return refusal("invalid_grant");
    return this.device === "approved" ? this.#given() : refusal(this.device);
  }

  #byCode(form: URLSearchParams): Response {
    const code = form.get("code") ?? "";
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    const verifier = form.get("code_verifier") ?? "";
    const isProven = createHash("sha256").update(verifier).digest("base64url") === grant?.challenge;
    const isGood = isProven && verifier.length === 128 && form.get("redirect_uri") === grant?.redirectUri;
    return isGood ? this.#given() : refusal("invalid_grant");
  }

  #byRefreshToken(form: URLSearchParams): Response {
    if (this.refuses === "down") return new Response("out of order", { status: 503 });
    const token = form.get("refresh_token") ?? "";
    if (this.refuses !== null || !this.#refreshTokens.delete(token)) return refusal("invalid_grant");
    return this.#given();
  }

  #given(): Response {
    const access_token = `access-${randomUUID()}`;
    const refresh_token = this.givesRefreshTokens ? `refresh-${randomUUID()}` : undefined;
    this.given.push(access_token);
    if (refresh_token !== undefined) {
      this.given.push(refresh_token);
      this.#refreshTokens.add(refresh_token);
    }
    return Response.json({ access_token, refresh_token, token_type: "Bearer", expires_in: this.lifetime });
  }
}

const refusal = (error: string, status = 400): Response => Response.json({ error }, { status });
