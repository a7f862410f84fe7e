/**
 * The way from the node's listener to the provider, which speaks Node's HTTP: over a socket that no other program
 * reaches, opened with the first request. What the provider may know of a client, this file says.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { OpenCall } from "../../http/route.ts";
import { askedHeaders } from "./pages/pages.ts";
import type { ProviderOf } from "./provider/realms.ts";

export interface Entrance {
  /** Hands a request over. @throws Problem 404 `realm_not_found` */
  forward(call: OpenCall<{ readonly realm: string }, unknown, unknown>): Promise<Response>;
  close(): Promise<void>;
}

/** Headers of a request that are the provider's business. */
const passedOn = [
  "accept",
  "accept-language",
  "authorization",
  "content-type",
  "cookie",
  "origin",
  "sec-fetch-site",
  "user-agent",
];

/** Headers of an answer that belong to the connection, or that the node's own listener sets. */
const keptBack =
  /^(?:access-control-.*|connection|content-length|date|keep-alive|transfer-encoding|vary|x-request-id)$/;

/** Beyond this a request counts as failed, ms. */
const timeoutMs = 25_000;

export function createEntrance(providerOf: ProviderOf, publicUrl: string): Entrance {
  const publicAddress = new URL(publicUrl);
  let opened: Promise<{ readonly server: Server; readonly folder: string; readonly socket: string }> | null = null;

  async function open() {
    const folder = await mkdtemp(join(tmpdir(), "svc-issuer-"));
    const socket = join(folder, "s");
    const server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(socket, resolve);
    });
    return { server, folder, socket };
  }

  /** The provider knows its paths without the realm in front. */
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, realm = "", rest = "/"] = /^\/realms\/([^/?]+)(.*)$/.exec(request.url ?? "") ?? [];
    try {
      const provider = await providerOf(realm);
      if (provider === null) throw new Error("the realm went meanwhile");
      Object.assign(request, { originalUrl: request.url, url: rest });
      provider.callback()(request, response);
    } catch {
      response.statusCode = 500;
      response.end();
    }
  }

  return {
    async forward(call) {
      const { realm } = call.params;
      if ((await providerOf(realm)) === null) throw new Problem("realm_not_found", "There is no such realm");
      opened ??= open();
      const { socket } = await opened;
      const { request, url, address, requestId, bytes } = call;
      const headers = new Headers();
      for (const name of passedOn) {
        const value = request.headers.get(name);
        if (value !== null) headers.set(name, value);
      }
      headers.set("host", publicAddress.host);
      headers.set("x-forwarded-host", publicAddress.host);
      headers.set("x-forwarded-proto", publicAddress.protocol.slice(0, -1));
      headers.set(askedHeaders.requestId, requestId);
      if (address !== null) headers.set(askedHeaders.address, address);
      const answer = await fetch(`http://localhost${url.pathname}${url.search}`, {
        unix: socket,
        method: request.method,
        headers,
        redirect: "manual",
        ...(bytes.length > 0 ? { body: new Uint8Array(bytes) } : {}),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return outward(answer, requestId);
    },
    async close() {
      if (opened === null) return;
      const { server, folder } = await opened;
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The answer as it leaves: errors carry their code and the request's id as all of the service's do. */
async function outward(answer: Response, requestId: string): Promise<Response> {
  const headers = new Headers();
  answer.headers.forEach((value, name) => {
    if (name !== "set-cookie" && !keptBack.test(name)) headers.set(name, value);
  });
  for (const cookie of answer.headers.getSetCookie()) headers.append("set-cookie", cookie);
  const { status } = answer;
  const text = status >= 300 && status < 400 ? null : await answer.text();
  const isJson = (headers.get("content-type") ?? "").startsWith("application/json");
  if (text === null || text === "") {
    headers.delete("content-type");
    return new Response(null, { status, headers });
  }
  if (status < 400 || !isJson) return new Response(text, { status, headers });
  const body: unknown = JSON.parse(text);
  const told = isObject(body) ? { ...body, code: body.error, request_id: requestId } : body;
  return new Response(JSON.stringify(told), { status, headers });
}
