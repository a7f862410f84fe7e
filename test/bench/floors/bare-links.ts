/**
 * The least a server of edge daemons can be: the protocol of their links, verified and signed, with nothing behind it.
 * `/bare` says nothing at all: what a socket takes. The floor of the edge bench.
 */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from "node:crypto";
import { readBody, readFrame, signedText, unsignedText } from "../../../actors/edge/frame-text.ts";
import { closes, edgeProtocol, frameLimits, framesUp, Hello } from "../../../actors/edge/frames.ts";
import { type Connection, frameMessage } from "../../../actors/edge/signing.ts";
import { spkiOf } from "../../../actors/seal/public-key.ts";
import { sha256Hex } from "../../../src/lib/digest.ts";

interface Socket {
  send(text: string): unknown;
  close(code: number): void;
  readonly data: Link;
}

interface Link {
  readonly bare: boolean;
  readonly serverNonce: string;
  connection: Connection | null;
  key: KeyObject | null;
  up: number;
  down: number;
}

const kid = "edge-floor";
const own = createPrivateKey({ key: Buffer.from(process.env.FLOOR_KEY ?? "", "base64"), format: "der", type: "pkcs8" });
const publicKey = createPublicKey(own).export({ format: "der", type: "spki" }).subarray(-32).toString("base64");
const links = new Set<Socket>();
let results = 0;
let wanted = 0;

function send(socket: Socket, t: string, body: object): void {
  const link = socket.data;
  if (link.connection === null) return;
  const b = JSON.stringify(body);
  const message = frameMessage("down", link.connection, t, ++link.down, sha256Hex(b));
  socket.send(signedText(t, link.down, b, sign(null, Buffer.from(message), own).toString("base64"), kid));
}

function greeted(socket: Socket, b: string): boolean {
  const hello = readBody(Hello, b);
  if (hello === null) return false;
  const raw = Buffer.from(hello.public_key, "base64");
  socket.data.connection = {
    hostId: hello.node_id,
    serverNonce: socket.data.serverNonce,
    clientNonce: hello.client_nonce,
  };
  socket.data.key = createPublicKey({ key: Buffer.from(spkiOf(raw)), format: "der", type: "spki" });
  return true;
}

/** @returns the code to close with; null: it goes on */
function read(socket: Socket, text: string): number | null {
  const link = socket.data;
  const frame = readFrame(text);
  if (frame === null) return closes.protocol;
  if (frame.signature === null) {
    if (frame.t === "heartbeat") send(socket, "ack", { seq: link.up });
    return null;
  }
  if (frame.t === "hello" && !greeted(socket, frame.b)) return closes.protocol;
  const { connection, key } = link;
  if (connection === null || key === null || frame.signature.s !== link.up + 1) return closes.protocol;
  const message = frameMessage("up", connection, frame.t, frame.signature.s, sha256Hex(frame.b));
  if (!verify(null, Buffer.from(message), key, frame.signature.bytes)) return closes.notAuthenticated;
  link.up++;
  if (frame.t === "hello") welcome(socket);
  else if (frame.t === "result" && readBody(framesUp.result, frame.b) !== null) taken(socket);
  return null;
}

function welcome(socket: Socket): void {
  links.add(socket);
  send(socket, "welcome", {
    ...{ epoch: 1, server_time: new Date().toISOString(), min_version: null },
    ...{ heartbeat_ms: frameLimits.heartbeatMs, stale_ms: frameLimits.staleMs },
    ...{ output_window: frameLimits.outputWindow, max_frame_bytes: frameLimits.maxFrameBytes },
    service_keys: [{ kid, public_key: publicKey }],
  });
}

function taken(socket: Socket): void {
  send(socket, "ack", { seq: socket.data.up });
  if (++results === wanted) process.send?.({ said: "done" });
}

const listener = Bun.serve<Link>({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request, server) {
    const bare = new URL(request.url).pathname === "/bare";
    const serverNonce = randomBytes(32).toString("base64");
    const data: Link = { bare, serverNonce, connection: null, key: null, up: 0, down: 0 };
    const headers = { "Sec-WebSocket-Protocol": edgeProtocol };
    return server.upgrade(request, { headers, data }) ? undefined : new Response("edge");
  },
  websocket: {
    idleTimeout: 0,
    perMessageDeflate: false,
    open(socket) {
      if (socket.data.bare) return;
      const { serverNonce: server_nonce } = socket.data;
      socket.send(unsignedText("challenge", JSON.stringify({ server_nonce, server_time: new Date().toISOString() })));
    },
    message(socket, text) {
      const code = typeof text === "string" ? read(socket, text) : closes.protocol;
      if (code !== null) socket.close(code);
    },
    close(socket) {
      links.delete(socket);
    },
  },
});

process.on("message", () => {
  results = 0;
  wanted = links.size;
  for (const socket of links) {
    send(socket, "invoke", {
      ...{ command_id: crypto.randomUUID(), fleet_command_id: crypto.randomUUID(), attempt: 1 },
      ...{ tool: "cmd.run", args: { command: "uptime" }, security_context: null },
      requested_by: { sub: "bench", tenant_id: "svc-system" },
      not_after: new Date(Date.now() + 30_000).toISOString(),
      ...{ timeout_ms: 60_000, max_output_bytes: 1_048_576 },
    });
  }
});
process.send?.({ said: "listening", port: listener.port, kid, publicKey });
