/** One link: the socket of a daemon, from its first byte to its end. */
import type { KeyObject } from "node:crypto";
import { type Frame, readFrame, unsignedText } from "../../../../actors/edge/frame-text.ts";
import { closes, frameLimits, overloadedReason } from "../../../../actors/edge/frames.ts";
import type { Connection } from "../../../../actors/edge/signing.ts";
import type { Socket, SocketPeer } from "../../../http/sockets.ts";
import type { LinkMetrics } from "./metrics.ts";
import { isSignedUp, signedDown } from "./signed.ts";

/** What is known of a daemon that has proved itself. */
export interface LinkedHost {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly key: KeyObject;
  readonly connection: Connection;
  readonly signing: { readonly kid: string; readonly key: KeyObject };
}

export interface LinkHooks {
  readonly metrics: LinkMetrics;
  /** Steady, ms. */
  readonly steady: () => number;
  /** For how long one that opens now is sent away before it says anything, ms; null: it may speak. */
  turnedAway(): number | null;
  /** The first message has come. */
  greet(link: Link, text: string): void;
  /** A frame of an open link whose signature, if it has one, holds. @param s null: not signed */
  frame(link: Link, t: string, b: string, s: number | null): void;
  /** A frame of an open link was refused. */
  refused(link: Link, why: string): void;
  ended(link: Link): void;
}

/** Messages, and characters of them, that may come before the welcome is sent: nothing is proved by then. */
const maxEarly = { messages: 16, characters: frameLimits.maxHelloBytes };
/** How long a daemon has to take a close before its socket is cut, ms. */
const closeWithinMs = 5_000;
const knownTypes = new Set(["heartbeat", "started", "progress", "result", "capabilities"]);

export class Link implements SocketPeer {
  phase: "fresh" | "greeting" | "open" | "ended" = "fresh";
  host: LinkedHost | null = null;
  epoch = 0;
  /** Steady ms. */
  readonly openedAt: number;
  seenAt: number;
  /** By the database's clock, Unix ms; 0: none has come. */
  heartbeatAt = 0;
  running = 0;
  /** What the last heartbeat said, of an earlier link too; null: nothing is known. */
  accepting: boolean | null = null;
  isHealthy = true;
  /** The host has not heard what its link is like now: the next heartbeat tells it. */
  isBehind = false;
  /** Highest number of the daemon's frames. */
  received = 0;
  /** Why the host waits a minute longer for it: the service closed it. */
  isToBlame = false;
  private sent = 0;
  private socket: Socket | null = null;
  private early: string[] | null = null;

  /** @param serverNonce base64 of 32 bytes @param address null: unknown */
  constructor(
    private readonly hooks: LinkHooks,
    readonly id: string,
    readonly serverNonce: string,
    readonly address: string | null,
    private readonly challenge: string,
  ) {
    this.openedAt = hooks.steady();
    this.seenAt = this.openedAt;
  }

  get isOpen(): boolean {
    return this.phase === "open";
  }

  opened(socket: Socket): void {
    this.socket = socket;
    if (this.phase === "ended") {
      socket.terminate();
      return;
    }
    const retryAfterMs = this.hooks.turnedAway();
    if (retryAfterMs === null) this.write("challenge", unsignedText("challenge", this.challenge));
    else this.overloaded(retryAfterMs);
  }

  message(text: string | null): void {
    if (this.phase === "ended") return;
    this.seenAt = this.hooks.steady();
    const limit = this.phase === "fresh" ? frameLimits.maxHelloBytes : frameLimits.maxFrameBytes;
    if (text === null || exceeds(text, limit)) this.close(closes.protocol, "no frame");
    else if (this.phase === "open") this.take(text);
    else if (this.phase === "greeting") this.wait(text);
    else {
      this.phase = "greeting";
      this.hooks.greet(this, text);
    }
  }

  /** What comes before the welcome has gone out is taken behind it. */
  private wait(text: string): void {
    this.early ??= [];
    this.early.push(text);
    const characters = this.early.reduce((sum, { length }) => sum + length, 0);
    if (this.early.length > maxEarly.messages || characters > maxEarly.characters)
      this.close(closes.protocol, "too much before the welcome");
  }

  /** The welcome goes out, and with it the link is open. */
  welcome(host: LinkedHost, epoch: number, body: object): void {
    this.host = host;
    this.epoch = epoch;
    this.received = 1;
    this.phase = "open";
    this.send("welcome", body);
    const early = this.early ?? [];
    this.early = null;
    for (const text of early) if (this.phase === "open") this.take(text);
  }

  /** A signed frame in place of the welcome, before the link is closed. */
  answer(host: LinkedHost, t: string, body: object): void {
    this.host = host;
    this.send(t, body);
  }

  send(t: string, body: object): void {
    this.sendText(t, JSON.stringify(body));
  }

  /** @param b the body's text */
  sendText(t: string, b: string): void {
    if (this.host === null || this.phase === "ended") return;
    this.sent += 1;
    this.write(t, signedDown(this.host.signing, this.host.connection, t, this.sent, b));
    if ((this.socket?.unsent() ?? 0) > frameLimits.maxUnsentBytes) this.overloaded(1000);
  }

  overloaded(retryAfterMs: number): void {
    this.isToBlame = true;
    this.close(closes.overloaded, overloadedReason(retryAfterMs));
  }

  close(code: number, reason = ""): void {
    if (this.phase === "ended") return;
    const { socket } = this;
    this.end();
    if (socket === null) return;
    socket.close(code, reason);
    // A daemon that does not read holds up nothing.
    setTimeout(() => socket.terminate(), closeWithinMs).unref();
  }

  drained(): void {}

  closed(): void {
    if (this.phase !== "ended") this.end();
    this.socket = null;
  }

  private end(): void {
    this.early = null;
    this.hooks.ended(this);
    this.phase = "ended";
  }

  private take(text: string): void {
    const frame = readFrame(text);
    const fault = frame === null ? "it is no frame" : this.faultOf(frame);
    if (frame === null || fault !== null) {
      this.refuse(fault ?? "");
      return;
    }
    const { t, b, signature } = frame;
    if (signature !== null) this.received = signature.s;
    this.hooks.metrics.frames.inc({ direction: "up", type: knownTypes.has(t) ? t : "other" });
    this.hooks.frame(this, t, b, signature?.s ?? null);
  }

  private faultOf(frame: Frame): string | null {
    const { host } = this;
    if (frame.signature === null) return null;
    if (frame.signature.s !== this.received + 1) return "its number is not the next one";
    if (host === null || !isSignedUp(host.key, host.connection, frame)) return "its signature does not hold";
    return null;
  }

  /** What came after the welcome is not to be trusted. */
  refuse(why: string): void {
    this.hooks.refused(this, why);
    this.close(closes.protocol, why);
  }

  private write(t: string, text: string): void {
    this.hooks.metrics.frames.inc({ direction: "down", type: t });
    this.socket?.send(text);
  }
}

/** Whether the text is longer in UTF-8. */
const exceeds = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);
