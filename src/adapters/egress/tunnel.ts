/** Two connections joined: what one side sends the other receives, until both are silent. */
import type { Socket } from "node:net";
import { type ClientHello, maxClientHello, readClientHello } from "./client-hello.ts";
import type { RefusalReason } from "./destination.ts";
import type { Source } from "./source.ts";

/** A tunnel through which nothing moves is closed, ms. */
const tunnelIdleMs = 300_000;
/** How long one side may take to read the rest after the other is gone, ms. */
const lingerMs = 5_000;
/** How long a client may take to say which server it means, ms. */
const clientHelloMs = 10_000;

/**
 * Joins two sockets that have no other reader.
 * @param toUpstream what the client already sent; `toClient`: likewise
 */
export function join(client: Socket, upstream: Socket, toUpstream: Buffer, toClient: Buffer): Promise<void> {
  if (toUpstream.length > 0) upstream.write(toUpstream);
  if (toClient.length > 0) client.write(toClient);
  return new Promise((resolve) => {
    let lastMoved = performance.now();
    let lingering: ReturnType<typeof setTimeout> | undefined;
    const cut = () => {
      clearTimeout(lingering);
      client.destroy();
      upstream.destroy();
      resolve();
    };
    for (const socket of [client, upstream]) {
      socket.on("data", () => {
        lastMoved = performance.now();
      });
      socket.setTimeout(tunnelIdleMs, () => {
        // Silence of one side alone is no idleness: the other may be sending.
        if (performance.now() - lastMoved >= tunnelIdleMs) cut();
      });
      socket.once("close", () => {
        // After an orderly end the other side gets the rest; a connection that was cut cuts the other.
        if (socket.readableEnded && lingering === undefined) lingering = setTimeout(cut, lingerMs);
        else cut();
      });
    }
    if (client.destroyed || upstream.destroyed) return cut();
    client.pipe(upstream);
    upstream.pipe(client);
  });
}

/** Which server a tunnel was asked for. */
export interface TunnelTarget {
  /** In lower case; an address without brackets. */
  readonly host: string;
  readonly isName: boolean;
  /** Whether something other than TLS may be spoken. TLS has to mean the host all the same. */
  readonly anyProtocol: boolean;
}

/**
 * Reads what a client says first, before any of it goes on.
 * @returns the refusal, or null: then the bytes are back in the source
 * @throws SourceFailure when it takes too long to say it
 */
export async function clientHelloRefusal(client: Source, target: TunnelTarget): Promise<RefusalReason | null> {
  await client.ready(target.anyProtocol ? tunnelIdleMs : clientHelloMs);
  const until = performance.now() + clientHelloMs;
  let seen: Buffer = Buffer.alloc(0);
  for (;;) {
    const piece = await client.read(maxClientHello, until - performance.now());
    if (piece !== null) seen = seen.length === 0 ? piece : Buffer.concat([seen, piece]);
    const refusal = judge(piece === null ? { kind: "not_tls" } : readClientHello(seen), target);
    if (refusal === null) client.unread(seen);
    if (refusal !== "undecided") return refusal;
  }
}

function judge(hello: ClientHello, { host, isName, anyProtocol }: TunnelTarget): RefusalReason | null | "undecided" {
  switch (hello.kind) {
    case "more":
      return "undecided";
    case "not_tls":
      return anyProtocol ? null : "not_tls";
    case "malformed":
      return "server_name_mismatch";
    case "hello": {
      const { serverName } = hello;
      // An address is named by saying nothing (RFC 6066 §3).
      return serverName === host || (serverName === null && !isName) ? null : "server_name_mismatch";
    }
  }
}
