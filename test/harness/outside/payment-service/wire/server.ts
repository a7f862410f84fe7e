/** The provider's HTTP interface: its key, its version, its idempotency, its errors. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ApiError, invalid } from "./errors.ts";
import { expanded } from "./expand.ts";
import { Faults } from "./faults.ts";
import { parseForm } from "./form.ts";
import { Params } from "./params.ts";

export interface Endpoint {
  readonly method: "GET" | "POST" | "DELETE";
  /** With `:id` for one segment. */
  readonly path: string;
  /** Names of its parameters; another one is refused. */
  readonly accepts: readonly string[];
  /** @param id of the path; "" where it has none */
  run(params: Params, id: string): object;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  /** The body or the query, decoded. */
  readonly text: string;
  readonly idempotencyKey: string | null;
  readonly apiVersion: string | null;
}

export interface WireServer {
  readonly url: string;
  readonly asked: Asked[];
  readonly faults: Faults;
  stop(): Promise<void>;
}

export interface WireOptions {
  readonly secretKey: string;
  readonly apiVersion: string;
  readonly endpoints: readonly Endpoint[];
  /** What an id that is to be expanded names. */
  readonly find: (id: string) => object | null;
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly isReplayed?: boolean;
}

export async function serveWire({ secretKey, apiVersion, endpoints, find }: WireOptions): Promise<WireServer> {
  const asked: Asked[] = [];
  const faults = new Faults();
  const kept = new Map<string, { readonly request: string; readonly answer: Answer }>();
  const routes = endpoints.map((endpoint) => ({
    endpoint,
    pattern: new RegExp(`^${endpoint.path.replace(":id", "([^/]+)")}$`),
  }));

  function run(method: string, path: string, text: string): Answer {
    const form = parseForm(text);
    for (const { endpoint, pattern } of routes) {
      const match = endpoint.method === method ? pattern.exec(path) : null;
      if (match === null) continue;
      const params = new Params(form).only([...endpoint.accepts, "expand"]);
      const answer = endpoint.run(params, decodeURIComponent(match[1] ?? ""));
      return { status: 200, body: expanded(answer, params.texts("expand"), find) };
    }
    throw new ApiError(404, {
      type: "invalid_request_error",
      message: `Unrecognized request URL (${method}: ${path}).`,
    });
  }

  function answered(method: string, path: string, text: string): Answer {
    try {
      return run(method, path, text);
    } catch (error) {
      if (error instanceof ApiError) return { status: error.status, body: { error: error.body } };
      // The stack is for the author of a test.
      console.error(error);
      return { status: 500, body: { error: { type: "api_error", message: "An unknown error occurred" } } };
    }
  }

  /** Once for a key. What was refused before it began is not kept. */
  function once(method: string, path: string, text: string, key: string | null): Answer {
    if (key === null || method !== "POST") return answered(method, path, text);
    const request = `${method} ${path} ${text}`;
    const former = kept.get(key);
    if (former !== undefined) {
      if (former.request === request) return { ...former.answer, isReplayed: true };
      const message =
        "Keys for idempotent requests can only be used with the same parameters they were first used with.";
      return { status: 400, body: { error: { type: "idempotency_error", message } } };
    }
    const answer = answered(method, path, text);
    if (answer.status < 400 || answer.status === 402 || answer.status >= 500) kept.set(key, { request, answer });
    return answer;
  }

  function refusal(request: IncomingMessage): ApiError | null {
    if (request.headers.authorization !== `Bearer ${secretKey}`) {
      return new ApiError(401, { type: "invalid_request_error", message: "Invalid API Key provided" });
    }
    const version = request.headers["stripe-version"];
    return version === apiVersion ? null : invalid(`Invalid Stripe API version: ${version}`);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://provider");
    const method = request.method ?? "GET";
    const body = await bodyOf(request);
    const text = method === "POST" ? body : url.search.slice(1);
    const idempotencyKey = String(request.headers["idempotency-key"] ?? "") || null;
    const version = String(request.headers["stripe-version"] ?? "") || null;
    asked.push({ method, path: url.pathname, text: decodeURIComponent(text), idempotencyKey, apiVersion: version });
    const refused = refusal(request);
    if (refused !== null) return send(response, { status: refused.status, body: { error: refused.body } });
    const fault = faults.take(method, url.pathname);
    if (fault?.kind === "broken") return void response.socket?.destroy();
    if (fault?.kind === "garbage") return void response.writeHead(200).end("<html>not JSON</html>");
    if (fault?.kind === "error") {
      const error = { type: "api_error", message: "An error that the test ordered: provider-internals" };
      return send(response, { status: fault.status, body: { error } });
    }
    const answer = once(method, url.pathname, text, idempotencyKey);
    if (fault?.kind === "lost") return void response.socket?.destroy();
    if (fault?.kind === "slow") await faults.released();
    send(response, answer);
  }

  let sent = 0;
  function send(response: ServerResponse, { status, body, isReplayed = false }: Answer): void {
    sent += 1;
    response.writeHead(status, {
      "content-type": "application/json",
      "request-id": `req_${sent}`,
      "stripe-version": apiVersion,
      ...(isReplayed ? { "idempotent-replayed": "true" } : {}),
    });
    response.end(JSON.stringify(body));
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.socket?.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    faults,
    async stop() {
      faults.release();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString("utf8");
}
