/**
 * The service's side of the link to edge daemons, scripted: it holds a key, speaks the true protocol, verifies whatever a
 * daemon sends, and does what a test says. Nothing of the service's own code is in it.
 */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readEdgeKey } from "../../../actors/edge/base64.ts";
import { type Frame, readBody, readFrame, signedText, unsignedText } from "../../../actors/edge/frame-text.ts";
import {
  type Cancel,
  edgeProtocol,
  framesUp,
  Hello,
  type Invoke,
  type Progress,
  type Result,
  type ServiceKey,
  type Started,
  type Trace,
  type Welcome,
} from "../../../actors/edge/frames.ts";
import { type Connection, frameMessage } from "../../../actors/edge/signing.ts";
import { sha256Hex } from "../../../src/lib/digest.ts";
import { ed25519Key, isSigned } from "../../../src/lib/ed25519.ts";
import { until } from "../until.ts";

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: string;
}

export function signingKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  return { kid, privateKey, publicKey: raw.toString("base64") };
}

export const published = ({ kid, publicKey }: SigningKey): ServiceKey => ({ kid, public_key: publicKey });

type Socket = Bun.ServerWebSocket<{ peer: EdgePeer }>;

export interface ServiceBehaviour {
  /** Answers a hello by itself, with a welcome. */
  welcomes: boolean;
  /** Answers frames and heartbeats with acks. */
  acks: boolean;
  /** Gives output back as credit. */
  credits: boolean;
  /** Members of welcomes that are not the usual ones. */
  welcome: Partial<Welcome>;
  /** Answers every upgrade with this instead. */
  refusal: { readonly status: number; readonly headers?: Record<string, string> } | null;
}

/** One connection of a daemon. */
export class EdgePeer {
  hello: Hello | null = null;
  closed: { readonly code: number; readonly reason: string } | null = null;
  /** What did not verify; empty for a daemon that keeps to the protocol. */
  readonly faults: string[] = [];
  /** Signed frames and heartbeats in the order in which they came, hello apart. */
  readonly frames: { readonly t: string; readonly body: Record<string, unknown> }[] = [];
  readonly progress: Progress[] = [];
  heartbeats = 0;
  #signed: Connection | null = null;
  #received = 0;
  #sent = 0;
  /** Signs whatever is sent from now on. */
  key: SigningKey;
  readonly serverNonce = crypto.getRandomValues(new Uint8Array(32)).toBase64();

  constructor(
    private readonly service: EdgeService,
    private readonly socket: () => Socket,
  ) {
    this.key = service.key;
  }

  get started(): string[] {
    return this.frames.filter(({ t }) => t === "started").map(({ body }) => (body as unknown as Started).command_id);
  }
  get results(): Result[] {
    return this.frames.filter(({ t }) => t === "result").map(({ body }) => body as unknown as Result);
  }
  get accepting(): boolean | null {
    const last = this.frames.findLast(({ t }) => t === "heartbeat");
    return last === undefined ? null : last.body.accepting === true;
  }

  resultOf(commandId: string): Promise<Result> {
    return until(() => this.results.find(({ command_id }) => command_id === commandId) ?? null);
  }

  /** The whole of what was shown of a stream. */
  shown(commandId: string, stream: "stdout" | "stderr" = "stdout"): Buffer {
    const pieces = this.progress.filter((piece) => piece.command_id === commandId && piece.stream === stream);
    return Buffer.concat(pieces.map(({ data }) => Buffer.from(data, "base64")));
  }

  challenge(): void {
    const server_time = new Date(this.service.now()).toISOString();
    this.raw(unsignedText("challenge", JSON.stringify({ server_nonce: this.serverNonce, server_time })));
  }

  welcome(more: Partial<Welcome> = {}): void {
    const body: Welcome = {
      epoch: 1,
      server_time: new Date(this.service.now()).toISOString(),
      heartbeat_ms: 30_000,
      stale_ms: 90_000,
      output_window: 262_144,
      max_frame_bytes: 1_048_576,
      min_version: null,
      service_keys: [published(this.service.key)],
      ...this.service.behaviour.welcome,
      ...more,
    };
    this.send("welcome", body);
  }

  invoke(given: Partial<Invoke> & { readonly command_id: string }): void {
    this.send("invoke", {
      fleet_command_id: "0190b3c2-99ff-7b20-a5a5-3c4d5e6f7081",
      attempt: 1,
      tool: "cmd.run",
      args: {},
      security_context: null,
      requested_by: { sub: "user-7", tenant_id: "acme" },
      not_after: new Date(this.service.now() + 30_000).toISOString(),
      timeout_ms: 60_000,
      max_output_bytes: 1_048_576,
      ...given,
    });
  }

  /** As `invoke`, on behalf of a trace. */
  invokeTraced(command_id: string, trace: Trace, args: Invoke["args"]): void {
    this.invoke({ command_id, trace, args });
  }

  cancel(command_id: string, grace_ms = 5_000): void {
    this.send("cancel", { command_id, reason: "operator", grace_ms } satisfies Cancel);
  }

  revoke(): void {
    this.send("revoked", { node_id: this.#signed?.hostId ?? "", revoked_at: new Date().toISOString() });
  }

  ack(credit?: number): void {
    this.send("ack", { seq: this.#received, ...(credit === undefined ? {} : { credit }) });
  }

  /** Signs and sends the next frame. */
  send(t: string, body: object): void {
    this.raw(this.signed(t, JSON.stringify(body)));
  }

  /** The next frame's text, counted as sent. @param shownBody stands in it in place of what was signed */
  signed(t: string, b: string, { s = this.#next(), key = this.key, shownBody = b } = {}): string {
    if (this.#signed === null) throw new Error("there was no hello");
    const message = frameMessage("down", this.#signed, t, s, sha256Hex(b));
    const signature = sign(null, Buffer.from(message), key.privateKey).toString("base64");
    return signedText(t, s, shownBody, signature, key.kid);
  }

  #next(): number {
    this.#sent += 1;
    return this.#sent;
  }

  raw(text: string): void {
    this.socket().send(text);
  }

  close(code: number, reason = ""): void {
    this.socket().close(code, reason);
  }

  /** As a cable that is cut. */
  cut(): void {
    this.socket().terminate();
  }

  take(text: string): void {
    const frame = readFrame(text);
    if (frame === null) return void this.faults.push("no frame");
    if (frame.t === "hello" && this.hello === null) {
      this.hello = readBody(Hello, frame.b);
      if (this.hello === null) return void this.faults.push("a hello that does not fit");
      this.#signed = {
        hostId: this.hello.node_id,
        serverNonce: this.serverNonce,
        clientNonce: this.hello.client_nonce,
      };
    }
    if (frame.signature !== null && !this.#verifies(frame)) this.faults.push(`${frame.t} does not verify`);
    if (frame.t === "hello") {
      if (this.service.behaviour.welcomes) this.welcome();
      return;
    }
    const schemas: Readonly<Record<string, (typeof framesUp)["heartbeat"]>> = framesUp as never;
    const schema = schemas[frame.t];
    const body = schema === undefined ? null : readBody(schema, frame.b);
    if (body === null) return void this.faults.push(`${frame.t} does not fit`);
    this.#note(frame.t, body);
  }

  #note(t: string, body: object): void {
    const { acks, credits } = this.service.behaviour;
    if (t === "progress") {
      const piece = body as Progress;
      this.progress.push(piece);
      if (credits) this.ack(Buffer.from(piece.data, "base64").length);
      return;
    }
    if (t === "heartbeat") this.heartbeats += 1;
    this.frames.push({ t, body: body as Record<string, unknown> });
    if (acks) this.ack();
  }

  #verifies({ t, b, signature }: Frame): boolean {
    const spki = readEdgeKey(this.hello?.public_key ?? "");
    if (signature === null || spki === null || this.#signed === null) return false;
    this.#received += 1;
    const message = frameMessage("up", this.#signed, t, signature.s, sha256Hex(b));
    return signature.s === this.#received && isSigned(ed25519Key(spki), [message], signature.bytes);
  }
}

export class EdgeService {
  readonly peers: EdgePeer[] = [];
  readonly behaviour: ServiceBehaviour = { welcomes: true, acks: true, credits: true, welcome: {}, refusal: null };
  /** When upgrades were asked for, ms. */
  readonly attempts: number[] = [];
  key = signingKey("edge-1");
  /** Milliseconds by which its clock is off. */
  skew = 0;
  readonly #server: Bun.Server<{ peer: EdgePeer }>;

  constructor(tls?: { readonly cert: string; readonly key: string }) {
    this.#server = Bun.serve<{ peer: EdgePeer }>({
      hostname: "127.0.0.1",
      port: 0,
      ...(tls === undefined ? {} : { tls }),
      fetch: (request, server) => {
        this.attempts.push(performance.now());
        const { refusal } = this.behaviour;
        if (refusal !== null)
          return new Response("", { status: refusal.status, ...(refusal.headers ? { headers: refusal.headers } : {}) });
        const holder: { socket: Socket | null } = { socket: null };
        const peer = new EdgePeer(this, () => {
          if (holder.socket === null) throw new Error("the connection is not open");
          return holder.socket;
        });
        const headers = { "Sec-WebSocket-Protocol": edgeProtocol };
        if (server.upgrade(request, { data: { peer, holder } as { peer: EdgePeer }, headers })) return undefined;
        return new Response("", { status: 426 });
      },
      websocket: {
        open: (socket) => {
          const { peer, holder } = socket.data as unknown as { peer: EdgePeer; holder: { socket: Socket } };
          holder.socket = socket;
          this.peers.push(peer);
          peer.challenge();
        },
        message: (socket, data) => socket.data.peer.take(String(data)),
        close: (socket, code, reason) => {
          socket.data.peer.closed = { code, reason };
        },
      },
    });
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  now(): number {
    return Date.now() + this.skew;
  }

  /** The peer of the n-th connection, from 0, once it has said hello. */
  peer(index: number): Promise<EdgePeer> {
    return until(() => {
      const peer = this.peers[index];
      return peer?.hello ? peer : null;
    });
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }
}
