/**
 * One connection to the service, from its challenge to its end. Every signed frame is verified by the keys that were
 * pinned when it began, in strict order; what cannot be verified ends it. Of what came over it nothing outlives it but
 * what the journal knows.
 */
import type { KeyObject } from "node:crypto";
import { readEdgeKey } from "../../../../actors/edge/base64.ts";
import { type Frame, readBody, readFrame, signedText, unsignedText } from "../../../../actors/edge/frame-text.ts";
import {
  type Ack,
  type Cancel,
  Challenge,
  closes,
  frameLimits,
  framesDown,
  type Hello,
  type Invoke,
  Revoked,
  unsignedTypes,
  Welcome,
} from "../../../../actors/edge/frames.ts";
import { frameMessage, type Connection as Signed } from "../../../../actors/edge/signing.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import { ed25519Key, isSigned } from "../../../lib/ed25519.ts";
import { type HostIdentity, type HostKey, signedBy } from "../state/identity.ts";
import type { Ending } from "./back-off.ts";
import { type EdgeSocket, openSocket, refusedFor } from "./socket.ts";

/** What a hello says beside who says it. */
export type HelloFacts = Omit<Hello, "node_id" | "public_key" | "client_nonce" | "service_kids">;

export interface ConnectionHandlers {
  /** Called when older connections are closed; what it returns is the state of the moment. */
  readonly facts: () => Promise<HelloFacts>;
  readonly welcomed: (welcome: Welcome) => void;
  readonly invoke: (invoke: Invoke) => void;
  readonly cancel: (cancel: Cancel) => void;
  readonly ack: (ack: Ack) => void;
}

/** The host was revoked: verified, and final. */
export type ConnectionEnd = Ending & { readonly isRevoked: boolean; readonly welcome: Welcome | null };

/** From the begin of a connection to its welcome, ms. */
const welcomeWithinMs = 30_000;
/** How long a close may take to follow a `revoked`, ms. */
const closeWithinMs = 2_000;

export class Connection {
  readonly ended: Promise<ConnectionEnd>;
  readonly #end = Promise.withResolvers<ConnectionEnd>();
  readonly #socket: EdgeSocket;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  #signed: Signed | null = null;
  #sentS = 0;
  #receivedS = 0;
  #welcome: Welcome | null = null;
  #welcomedAt = 0;
  #isRevoked = false;
  #isOver = false;
  #lastHeardAt = performance.now();
  #maxFrameBytes: number = frameLimits.maxFrameBytes;
  readonly #timers: ReturnType<typeof setInterval>[] = [];

  constructor(
    private readonly url: URL,
    private readonly identity: HostIdentity,
    private readonly key: HostKey,
    private readonly handlers: ConnectionHandlers,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    this.ended = this.#end.promise;
    this.#keys = new Map(identity.service_keys.flatMap(({ kid, public_key }) => verifierOf(kid, public_key)));
    this.#socket = openSocket(url, environment, {
      opened: () => {},
      message: (text) => this.#receive(text),
      closed: (code, reason, refused) => this.#over(code, reason, refused),
    });
    this.#after(welcomeWithinMs, () => this.#welcome === null && this.close(closes.silent, "no welcome"));
  }

  get isWelcomed(): boolean {
    return this.#welcome !== null && !this.#isOver;
  }

  /** @returns the frame's number; null where the connection is not welcomed */
  sendSigned(t: string, body: object): number | null {
    return this.isWelcomed ? this.#sendSigned(t, JSON.stringify(body)) : null;
  }

  /** @returns false where the connection is not welcomed, or takes no more now */
  sendUnsigned(t: string, body: object, mostUnsent = Number.POSITIVE_INFINITY): boolean {
    if (!this.isWelcomed || this.#socket.unsent() > mostUnsent) return false;
    this.#socket.send(unsignedText(t, JSON.stringify(body)));
    return true;
  }

  close(code: number, reason: string): void {
    if (!this.#isOver) this.#socket.close(code, reason);
  }

  #sendSigned(t: string, b: string): number {
    const s = ++this.#sentS;
    if (this.#signed === null) throw new Error("a frame is signed over the nonces of its connection");
    const signature = signedBy(this.key, frameMessage("up", this.#signed, t, s, sha256Hex(b)));
    this.#socket.send(signedText(t, s, b, signature, null));
    return s;
  }

  #receive(text: string | null): void {
    this.#lastHeardAt = performance.now();
    const frame = this.#verified(text);
    const fault = typeof frame === "string" ? frame : this.#take(frame);
    if (fault !== null) this.close(closes.protocol, `the service sent ${fault}`);
  }

  /** The next frame, or what is wrong with the message. */
  #verified(text: string | null): Frame | string {
    if (text === null) return "a binary message";
    if (text.length > this.#maxFrameBytes || Buffer.byteLength(text) > this.#maxFrameBytes)
      return "a message that is too long";
    const frame = readFrame(text);
    if (frame === null) return "no frame";
    if (frame.signature !== null) {
      if (!this.#isGenuine(frame)) return `a ${frame.t} that is not signed as the next frame`;
      this.#receivedS += 1;
    } else if (Object.hasOwn(framesDown, frame.t) && !unsignedTypes.has(frame.t)) return `an unsigned ${frame.t}`;
    return frame;
  }

  #isGenuine({ t, b, signature }: Frame): boolean {
    if (signature === null || this.#signed === null || signature.s !== this.#receivedS + 1) return false;
    const key = signature.kid === null ? undefined : this.#keys.get(signature.kid);
    if (key === undefined) return false;
    return isSigned(key, [frameMessage("down", this.#signed, t, signature.s, sha256Hex(b))], signature.bytes);
  }

  /** @returns what is wrong with the frame; null: nothing is */
  #take({ t, b }: Frame): string | null {
    switch (t) {
      case "challenge":
        return this.#challenged(readBody(Challenge, b));
      case "welcome":
        return this.#welcomed(readBody(Welcome, b));
      case "revoked":
        return this.#revoked(readBody(Revoked, b));
      case "ack":
      case "invoke":
      case "cancel":
        return this.#welcome === null ? `a ${t} before the welcome` : this.#work(t, b);
      default:
        // Of a later version of the protocol.
        return null;
    }
  }

  #work(t: "ack" | "invoke" | "cancel", b: string): string | null {
    const given = <T>(body: T | null, take: (body: T) => void) => {
      if (body === null) return `a ${t} that does not fit`;
      take(body);
      return null;
    };
    if (t === "ack") return given(readBody(framesDown.ack, b), this.handlers.ack);
    if (t === "invoke") return given(readBody(framesDown.invoke, b), this.handlers.invoke);
    return given(readBody(framesDown.cancel, b), this.handlers.cancel);
  }

  #challenged(challenge: Challenge | null): string | null {
    if (challenge === null || this.#signed !== null) return "a challenge that does not fit";
    const client_nonce = crypto.getRandomValues(new Uint8Array(32)).toBase64();
    const { node_id, service_keys } = this.identity;
    this.#signed = { hostId: node_id, serverNonce: challenge.server_nonce, clientNonce: client_nonce };
    const public_key = this.key.publicKey;
    const service_kids = service_keys.map(({ kid }) => kid);
    const greet = async () => {
      const facts = await this.handlers.facts();
      if (this.#isOver) return;
      this.#sendSigned("hello", JSON.stringify({ node_id, public_key, client_nonce, ...facts, service_kids }));
    };
    greet().catch((error: unknown) => this.close(closes.protocol, `no hello: ${String(error).slice(0, 60)}`));
    return null;
  }

  #welcomed(welcome: Welcome | null): string | null {
    if (welcome === null || this.#welcome !== null || this.#sentS === 0) return "a welcome that does not fit";
    this.#welcome = welcome;
    this.#welcomedAt = performance.now();
    this.#maxFrameBytes = Math.max(welcome.max_frame_bytes, frameLimits.maxHelloBytes);
    this.#every(Math.max(10, Math.min(1_000, welcome.stale_ms / 4)), () => {
      if (performance.now() - this.#lastHeardAt > welcome.stale_ms) this.close(closes.silent, "nothing heard");
    });
    this.handlers.welcomed(welcome);
    return null;
  }

  #revoked(revoked: Revoked | null): string | null {
    if (revoked?.node_id !== this.identity.node_id) return "a revoked that does not fit";
    this.#isRevoked = true;
    this.#after(closeWithinMs, () => this.close(1000, "revoked"));
    return null;
  }

  #over(code: number, reason: string, refused: number | null): void {
    this.#isOver = true;
    for (const timer of this.#timers) clearInterval(timer);
    const welcomedMs = this.#welcome === null ? 0 : Math.max(1, performance.now() - this.#welcomedAt);
    const end = { code, reason, welcomedMs, isRevoked: this.#isRevoked, welcome: this.#welcome };
    if (refused !== 429 && refused !== 503) this.#end.resolve(end);
    else void refusedFor(this.url).then((retryAfterMs) => this.#end.resolve({ ...end, retryAfterMs }));
  }

  #after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms));
  }

  #every(ms: number, act: () => void): void {
    this.#timers.push(setInterval(act, ms));
  }
}

function verifierOf(kid: string, publicKey: string): [string, KeyObject][] {
  const spki = readEdgeKey(publicKey);
  return spki === null ? [] : [[kid, ed25519Key(spki)]];
}
