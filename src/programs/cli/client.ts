/** Calls to the service as the command line makes them. A service that is not there is waited for. */

import { findings } from "./findings.ts";

/** The service answered, and said no. The message has a line for each issue. */
export class Refused extends Error {
  override readonly name = "Refused";
  constructor(
    readonly status: number,
    readonly body: Readonly<Record<string, unknown>>,
  ) {
    const reason = `${status} ${String(body.code ?? "")}: ${String(body.error ?? "refused")}`;
    super([reason, ...findings(body.issues)].join("\n"));
  }
}

/** The service cannot be reached now. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

const retryMs = 500;
const timeoutMs = 60_000;
const tokenPath = "/realms/svc-system/protocol/openid-connect/token";
const client = { client_id: "svc-dev", client_secret: "svc-dev-secret" };

export class Client {
  #token: { readonly text: string; readonly until: number } | null = null;

  /** @param given a token to use instead of the development issuer's */
  constructor(
    readonly url: string,
    readonly given: string | null,
  ) {}

  /** A token that is good for a while. @param seconds its life when a new one is made */
  async token(seconds = 300): Promise<string> {
    if (this.given !== null) return this.given;
    if (this.#token !== null && this.#token.until > performance.now()) return this.#token.text;
    const form = new URLSearchParams({ grant_type: "client_credentials", ...client, expires_in: String(seconds) });
    const answer = await this.#patiently(() => fetch(this.url + tokenPath, { method: "POST", body: form }));
    const text = String(answer.access_token);
    this.#token = { text, until: performance.now() + (seconds - 30) * 1000 };
    return text;
  }

  get(path: string): Promise<Record<string, unknown>> {
    return this.#patiently(async () =>
      fetch(this.url + path, { headers: { Authorization: `Bearer ${await this.token()}` } }),
    );
  }

  json(method: string, path: string, body: unknown, headers: Record<string, string> = {}) {
    return this.#send(method, path, JSON.stringify(body), { "Content-Type": "application/json", ...headers });
  }

  text(method: string, path: string, body: string, mediaType: string) {
    return this.#send(method, path, body, { "Content-Type": mediaType });
  }

  /** Opens a stream of events. @throws Unreachable, Refused */
  async stream(path: string, after: number, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const headers = { Authorization: `Bearer ${await this.token()}`, "Last-Event-ID": String(after) };
    const response = await reach(fetch(this.url + path, { headers, signal }));
    if (response.status >= 500) throw new Unreachable(String(response.status));
    if (!response.ok || response.body === null) throw await refusal(response);
    return response.body;
  }

  async #send(method: string, path: string, body: string, headers: Record<string, string>) {
    return this.#patiently(async () =>
      fetch(this.url + path, { method, body, headers: { Authorization: `Bearer ${await this.token()}`, ...headers } }),
    );
  }

  async #patiently(call: () => Promise<Response>): Promise<Record<string, unknown>> {
    const deadline = performance.now() + timeoutMs;
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await reach(call());
        if (response.status === 503) throw new Unreachable("503");
        if (!response.ok) throw await refusal(response);
        return (await response.json()) as Record<string, unknown>;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        if (performance.now() > deadline) throw new Error(`${this.url} does not answer`);
        if (attempt === 2) console.error(`waiting for ${this.url} …`);
        await Bun.sleep(retryMs);
      }
    }
  }
}

async function reach(call: Promise<Response>): Promise<Response> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Unreachable(error instanceof Error ? error.message : String(error));
  }
}

async function refusal(response: Response): Promise<Refused> {
  const body = await response.json().catch(() => ({}));
  return new Refused(response.status, body as Record<string, unknown>);
}
