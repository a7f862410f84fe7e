/** One plain HTTP request of a client, passed on to a server that was checked, and its answer passed back. */
import type { Socket } from "node:net";
import { passBody } from "./body.ts";
import { EgressFailed } from "./destination.ts";
import {
  type Fields,
  MalformedHead,
  maxResponseHead,
  parseResponseHead,
  passedOn,
  type RequestHead,
  type ResponseHead,
  upgradeOf,
  writeHead,
} from "./message-head.ts";
import { type Source, SourceFailure, write } from "./source.ts";
import { join } from "./tunnel.ts";

/** A connection to a server that a client's next request may go over as well. */
export interface Upstream {
  /** `host:port` as requested. */
  readonly key: string;
  readonly socket: Socket;
  readonly source: Source;
}

export interface Exchange {
  readonly request: RequestHead;
  /** Path and query. */
  readonly path: string;
  /** What the request's target names, with the port where it is written. */
  readonly authority: string;
  readonly client: Source;
  /** @param fresh whether one that has been used is no good */
  upstream(fresh: boolean): Promise<Upstream>;
}

/** How long each side may be silent in the middle of an exchange, ms. */
const silenceMs = 300_000;
const via = ["via", "1.1 svc"] as const;

/**
 * @returns whether the client's connection is good for another request
 * @throws EgressFailed when there is no answer; nothing was sent to the client then
 */
export async function forward(exchange: Exchange): Promise<boolean> {
  const { request, client } = exchange;
  const websocket = upgradeOf(request.fields)?.toLowerCase() === "websocket" && request.framing.kind === "none";
  const { upstream, sending, answer } = await asked(exchange, websocket);
  if (answer.status === 101) {
    if (!websocket) throw upstreamFailure(upstream, "it changed the protocol unasked");
    await switchProtocols(client, upstream, answer);
    return false;
  }
  const keep = request.keepAlive;
  const { framing } = answer;
  const rechunk = request.persistent && (framing.kind === "chunked" || framing.kind === "until_close");
  const bounded = framing.kind === "none" || framing.kind === "length" || rechunk;
  const fields: Fields = [
    ...passedOn(answer.fields),
    via,
    ...(rechunk ? ([["transfer-encoding", "chunked"]] as const) : []),
    ...(keep && bounded ? [] : ([["connection", "close"]] as const)),
  ];
  await write(client.socket, writeHead(`HTTP/1.1 ${answer.status} ${answer.reason}`, fields));
  try {
    await passBody(upstream.source, client.socket, framing, rechunk, silenceMs);
  } catch (error) {
    // Half an answer has to look like one.
    client.socket.destroy();
    upstream.socket.destroy();
    throw error;
  }
  const sent = await Promise.race([sending, Promise.resolve(false)]);
  if (!sent || !answer.keepAlive) upstream.socket.destroy();
  return sent && keep && bounded;
}

/** Sends the request and waits for the head of the final answer. `sending` says whether all of the body went out. */
async function asked(exchange: Exchange, websocket: boolean) {
  for (let fresh = false; ; fresh = true) {
    const upstream = await exchange.upstream(fresh);
    try {
      return await askedOnce(exchange, upstream, websocket);
    } catch (error) {
      upstream.socket.destroy();
      const ended = error instanceof SourceFailure && error.kind === "ended";
      // A kept connection may have been closed while the request was on its way.
      if (ended && !fresh && exchange.request.framing.kind === "none") continue;
      throw error instanceof SourceFailure || error instanceof MalformedHead
        ? upstreamFailure(upstream, error.message)
        : error;
    }
  }
}

async function askedOnce({ request, path, authority, client }: Exchange, upstream: Upstream, websocket: boolean) {
  const chunked = request.framing.kind === "chunked";
  const fields: Fields = [
    ["host", authority],
    ...passedOn(request.fields).filter(([name]) => name !== "host"),
    via,
    ...(chunked ? ([["transfer-encoding", "chunked"]] as const) : []),
    ...(websocket ? [["connection", "Upgrade"] as const, ["upgrade", "websocket"] as const] : []),
  ];
  await write(upstream.socket, writeHead(`${request.method} ${path} HTTP/1.1`, fields));
  const sending = passBody(client, upstream.socket, request.framing, chunked, silenceMs).then(
    () => true,
    () => {
      // Half a request must not become one.
      upstream.socket.destroy();
      return false;
    },
  );
  for (;;) {
    const text = await upstream.source.until("\r\n\r\n", maxResponseHead, silenceMs);
    const answer = parseResponseHead(text, request.method);
    if (answer.status >= 200 || answer.status === 101) return { upstream, sending, answer };
    if (request.persistent) {
      await write(client.socket, writeHead(`HTTP/1.1 ${answer.status} ${answer.reason}`, passedOn(answer.fields)));
    }
  }
}

async function switchProtocols(client: Source, upstream: Upstream, answer: ResponseHead): Promise<void> {
  const fields: Fields = [...passedOn(answer.fields), ["connection", "Upgrade"], ["upgrade", "websocket"]];
  await write(client.socket, writeHead("HTTP/1.1 101 Switching Protocols", fields));
  await join(client.socket, upstream.socket, client.release(), upstream.source.release());
}

function upstreamFailure({ key, socket }: Upstream, detail: string): EgressFailed {
  socket.destroy();
  return new EgressFailed("upstream_error", `${key} did not answer as HTTP asks: ${detail}`);
}
