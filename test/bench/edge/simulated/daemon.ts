/**
 * A daemon of a host as the service sees it, without a disk: it speaks the whole protocol, verifies all that it is
 * bound to verify, starts each command once, and takes its commands' results from nowhere.
 */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from "node:crypto";
import { readFrame, signedText, unsignedText } from "../../../../actors/edge/frame-text.ts";
import { type Capabilities, closes, edgeProtocol, frameLimits, retryAfterMs } from "../../../../actors/edge/frames.ts";
import { type Connection, frameMessage } from "../../../../actors/edge/signing.ts";
import { spkiOf } from "../../../../actors/seal/public-key.ts";
import { sha256Hex } from "../../../../src/lib/digest.ts";
import type { Counts, ServiceKeyPin, SimulatedHost } from "./orders.ts";
import type { Wheel } from "./wheel.ts";

const backOffSeconds = [1, 2, 5, 15, 60];
/** A link of this age sets the back-off to its first step. */
const healthyMs = 60_000;
const bootId = crypto.randomUUID();

const capabilities: Capabilities = {
  os: "linux",
  arch: "x86_64",
  local_tools: ["bash", "curl", "git", "shell"],
  tools: ["cmd.run", "fs.list", "fs.read", "fs.write"],
  mount_points: [],
  labels: { zone: "b" },
  cpu_cores: 4,
  memory_mb: 16_384,
};

/** What all simulated daemons have in common. */
export interface World {
  readonly counts: Counts;
  readonly pins: Map<string, KeyObject>;
  readonly wheel: Wheel<Link>;
  urls: readonly string[];
  /** Least and most milliseconds that a command takes. */
  work: readonly [number, number];
  /** Whether links are opened at all. */
  resting: boolean;
  /** Takes the milliseconds from opening a socket to its welcome. */
  welcomed(ms: number): void;
}

export const pinned = (pins: readonly ServiceKeyPin[]): Map<string, KeyObject> =>
  new Map(pins.map(({ kid, public_key }) => [kid, publicKeyOf(public_key)]));

const publicKeyOf = (encoded: string): KeyObject =>
  createPublicKey({ key: Buffer.from(spkiOf(Buffer.from(encoded, "base64"))), format: "der", type: "spki" });

const between = (least: number, most: number): number => least + Math.random() * (most - least);

/** A command that began here; its result, once there is one, until that is acknowledged. */
interface Known {
  readonly startedAt: string;
  result: string | null;
}

export class SimulatedDaemon {
  readonly id: string;
  readonly publicKey: string;
  readonly address: string;
  readonly key: KeyObject;
  /** Running, or not acknowledged. Absent until there is a command, as with most. */
  commands: Map<string, Known> | null = null;
  /** Ended and acknowledged: they never start again. */
  done: Set<string> | null = null;
  readonly journalId = crypto.randomUUID();
  journalSeq = 0;
  link: Link | null = null;
  #step = 0;

  constructor(
    readonly world: World,
    host: SimulatedHost,
  ) {
    this.id = host.id;
    this.publicKey = host.publicKey;
    this.address = host.address;
    this.key = createPrivateKey({ key: Buffer.from(host.key, "base64"), format: "der", type: "pkcs8" });
  }

  connect(): void {
    if (this.link !== null || this.world.resting) return;
    const urls = this.world.urls;
    this.link = new Link(this, urls[Math.floor(Math.random() * urls.length)] ?? "");
  }

  /** The link has ended: the next one is opened when its code asks for that. */
  ended(code: number, reason: string, openMs: number): void {
    this.link = null;
    if (openMs >= healthyMs) this.#step = 0;
    if (code !== closes.revoked && code !== closes.outdated) setTimeout(() => this.connect(), this.#wait(code, reason));
  }

  #wait(code: number, reason: string): number {
    if (code === closes.leaving || code === closes.restarting) return between(0, 5_000);
    const asked = code === closes.overloaded ? retryAfterMs(reason) : null;
    if (asked !== null) return asked;
    if (code === closes.notAuthenticated || code === closes.superseded) this.#step = backOffSeconds.length - 1;
    const seconds = backOffSeconds[this.#step] ?? 60;
    this.#step = Math.min(this.#step + 1, backOffSeconds.length - 1);
    return between(0, seconds * 1000);
  }
}

/** One connection of a daemon. */
export class Link {
  readonly #socket: WebSocket;
  readonly #openedAt = performance.now();
  #connection: Connection | null = null;
  /** Numbers of the last signed frames, down and up. */
  #down = 0;
  #up = 0;
  #open = false;
  #welcomed = false;
  #heardAt = performance.now();
  #heartbeatMs: number = frameLimits.heartbeatMs;
  #staleMs: number = frameLimits.staleMs;
  /** Frames that are to be acknowledged, oldest first; `result`: the command whose result it is. */
  readonly #unacknowledged: { readonly s: number; readonly at: number; readonly result: string | null }[] = [];

  constructor(
    readonly daemon: SimulatedDaemon,
    url: string,
  ) {
    // Bun's client sends headers, which the standard's type does not know.
    const options = {
      protocols: [edgeProtocol],
      headers: { "X-Forwarded-For": daemon.address },
      perMessageDeflate: false,
    } as unknown as string[];
    this.#socket = new WebSocket(url, options);
    this.#socket.onopen = () => {
      this.#open = true;
      this.#counts.open++;
    };
    this.#socket.onmessage = ({ data }) => this.#read(data);
    this.#socket.onclose = ({ code, reason }) => this.#closed(code, reason);
  }

  get #counts(): Counts {
    return this.daemon.world.counts;
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  /** A heartbeat is due. */
  beat(): void {
    if (!this.#welcomed) return;
    const now = performance.now();
    const oldest = this.#unacknowledged[0]?.at ?? now;
    if (now - this.#heardAt > this.#staleMs || now - oldest > frameLimits.ackWithinMs) {
      this.close(closes.silent);
      return;
    }
    this.#counts.heartbeats++;
    const running = this.daemon.commands?.size ?? 0;
    this.#socket.send(unsignedText("heartbeat", JSON.stringify({ running, accepting: true })));
    this.#beatLater();
  }

  #beatLater(): void {
    const jitter = frameLimits.heartbeatJitter;
    this.daemon.world.wheel.add(this, this.#heartbeatMs * between(1 - jitter, 1 + jitter));
  }

  #closed(code: number, reason: string): void {
    if (this.#open) this.#counts.open--;
    if (this.#welcomed) this.#counts.welcomed--;
    this.#welcomed = false;
    const key = this.#open ? String(code) : "0";
    this.#counts.closes[key] = (this.#counts.closes[key] ?? 0) + 1;
    this.daemon.ended(code, reason, this.#open ? performance.now() - this.#openedAt : 0);
  }

  #read(data: unknown): void {
    this.#heardAt = performance.now();
    const frame = typeof data === "string" ? readFrame(data) : null;
    if (frame === null) {
      this.#unsound();
      return;
    }
    if (frame.t === "challenge") {
      this.#greet(JSON.parse(frame.b).server_nonce);
      return;
    }
    const { signature } = frame;
    const key = this.daemon.world.pins.get(signature?.kid ?? "");
    if (signature === null || this.#connection === null || key === undefined || signature.s !== this.#down + 1) {
      this.#unsound();
      return;
    }
    const message = frameMessage("down", this.#connection, frame.t, signature.s, sha256Hex(frame.b));
    if (!verify(null, Buffer.from(message), key, signature.bytes)) {
      this.#unsound();
      return;
    }
    this.#down = signature.s;
    this.#obey(frame.t, JSON.parse(frame.b));
  }

  #unsound(): void {
    this.#counts.unsound++;
    this.close(closes.protocol);
  }

  #greet(serverNonce: string): void {
    const { daemon } = this;
    const clientNonce = randomBytes(32).toString("base64");
    this.#connection = { hostId: daemon.id, serverNonce, clientNonce };
    const hello = {
      node_id: daemon.id,
      public_key: daemon.publicKey,
      client_nonce: clientNonce,
      journal_id: daemon.journalId,
      journal_seq: daemon.journalSeq,
      boot_id: bootId,
      agent_version: "1.0.0",
      service_kids: [...daemon.world.pins.keys()],
      slots: 4,
      capabilities,
      commands: [...(daemon.commands ?? [])].map(([command_id, { result }]) => ({
        command_id,
        state: result === null ? "running" : "finished",
      })),
    };
    this.#counts.hellos++;
    this.#send("hello", hello);
  }

  /** A frame whose signature holds. */
  #obey(t: string, body: Record<string, unknown>): void {
    if (t === "ack") this.#acknowledge(Number(body.seq));
    else if (t === "invoke") this.#invoke(String(body.command_id));
    else if (t === "welcome") this.#welcome(Number(body.heartbeat_ms), Number(body.stale_ms));
    else if (t === "cancel") this.#cancel(String(body.command_id));
    else if (t === "revoked") this.close(closes.revoked);
  }

  #welcome(heartbeatMs: number, staleMs: number): void {
    this.#welcomed = true;
    this.#heartbeatMs = heartbeatMs;
    this.#staleMs = staleMs;
    this.#counts.welcomed++;
    this.#counts.welcomes++;
    this.daemon.world.welcomed(performance.now() - this.#openedAt);
    for (const [id, { result }] of this.daemon.commands ?? []) if (result !== null) this.#send("result", result, id);
    // A fleet that came at one moment does not beat at one moment.
    this.daemon.world.wheel.add(this, between(0, heartbeatMs));
  }

  #acknowledge(seq: number): void {
    this.#counts.acks++;
    let first = this.#unacknowledged[0];
    while (first !== undefined && first.s <= seq) {
      if (first.result !== null && this.daemon.commands?.delete(first.result) === true) {
        this.daemon.done ??= new Set();
        this.daemon.done.add(first.result);
        this.#counts.acknowledged++;
      }
      this.#unacknowledged.shift();
      first = this.#unacknowledged[0];
    }
  }

  #invoke(id: string): void {
    const { daemon } = this;
    this.#counts.invoked++;
    if (daemon.done?.has(id) === true) return;
    daemon.commands ??= new Map();
    const known = daemon.commands.get(id);
    if (known !== undefined) {
      if (known.result === null) this.#send("started", { command_id: id, started_at: known.startedAt });
      else this.#send("result", known.result, id);
      return;
    }
    const startedAt = new Date().toISOString();
    daemon.commands.set(id, { startedAt, result: null });
    daemon.journalSeq++;
    this.#counts.started++;
    this.#send("started", { command_id: id, started_at: startedAt });
    const takes = Math.round(between(...daemon.world.work));
    setTimeout(() => finish(daemon, id, takes), takes);
  }

  #cancel(id: string): void {
    this.#counts.cancelled++;
    const known = this.daemon.commands?.get(id);
    if (known?.result !== undefined && known.result !== null) this.#send("result", known.result, id);
  }

  /** What the command put out, and how it ended. */
  tell(id: string, result: string): void {
    if (!this.#welcomed) return;
    const data = Buffer.from(output).toString("base64");
    const progress = { command_id: id, stream: "stdout", offset: 0, data };
    this.#socket.send(unsignedText("progress", JSON.stringify(progress)));
    this.#send("result", result, id);
  }

  /** @param body its text is sent as it is @param result the command whose result it is */
  #send(t: string, body: object | string, result: string | null = null): void {
    const connection = this.#connection;
    if (connection === null) return;
    const b = typeof body === "string" ? body : JSON.stringify(body);
    const s = ++this.#up;
    const message = frameMessage("up", connection, t, s, sha256Hex(b));
    const signature = sign(null, Buffer.from(message), this.daemon.key).toString("base64");
    if (t === "result") this.#counts.results++;
    if (t !== "hello") this.#unacknowledged.push({ s, at: performance.now(), result });
    this.#socket.send(signedText(t, s, b, signature, null));
  }
}

const output = " 10:15:01 up 3 days,  2:11,  0 users,  load average: 0.08, 0.03, 0.01\n";

/** The journal has the result; the link tells it, or the next one does. */
function finish(daemon: SimulatedDaemon, id: string, duration_ms: number): void {
  const known = daemon.commands?.get(id);
  if (known === undefined) return;
  daemon.journalSeq++;
  known.result = JSON.stringify({
    command_id: id,
    status: "ok",
    exit_code: 0,
    duration_ms,
    started_at: known.startedAt,
    stdout_tail: output,
    stderr_tail: "",
    stdout_bytes: output.length,
    stderr_bytes: 0,
    truncated: false,
    structured: null,
    error_kind: null,
    error_message: null,
  });
  daemon.link?.tell(id, known.result);
}
