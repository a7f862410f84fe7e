/**
 * A daemon that does what a test says: a WebSocket client with the key of a host. It signs what it sends, and verifies and
 * counts what it gets; it keeps a journal, but runs nothing.
 */
import { createHash, type KeyObject, randomBytes, randomUUID, verify } from "node:crypto";
import { readEdgeKey } from "../../../actors/edge/base64.ts";
import { readFrame, signedText, unsignedText } from "../../../actors/edge/frame-text.ts";
import { edgeProtocol } from "../../../actors/edge/frames.ts";
import { type Direction, frameMessage } from "../../../actors/edge/signing.ts";
import { ed25519Key } from "../../../src/lib/ed25519.ts";
import { publicHalf, signed } from "../../actors/edge/vectors.ts";
import type { LooseJson } from "../loose-json.ts";
import { until } from "../until.ts";

export interface ScriptedHost {
  readonly id: string;
  readonly key: KeyObject;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface ReceivedFrame {
  readonly t: string;
  /** Null: not signed. */
  readonly s: number | null;
  readonly body: LooseJson;
}

const capabilities = {
  os: "linux",
  arch: "x86_64",
  local_tools: ["shell"],
  tools: ["cmd.run"],
  mount_points: [],
  labels: {},
};
const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

export class ScriptedDaemon {
  /** All that came over the open link. */
  readonly frames: ReceivedFrame[] = [];
  /** Frames that did not verify, or came under a wrong number. */
  readonly faults: string[] = [];
  /** What the next hello says, unless told otherwise. */
  journalId: string = randomUUID();
  journalSeq = 0;
  bootId: string = randomUUID();
  version = "1.0.0";
  slots = 4;
  capabilities: object = capabilities;
  /** Of the service, by kid. */
  readonly serviceKeys = new Map<string, string>();
  closed: Closed | null = null;
  /** Numbers of frames that were acknowledged. */
  acked = 0;
  credit = 0;
  #socket: WebSocket | null = null;
  #read = 0;
  #sent = 0;
  #received = 0;
  #serverNonce = "";
  #clientNonce = "";

  /** @param url of a node, over http @param address of the client, where the node trusts the test to tell it */
  constructor(
    public url: string,
    readonly host: ScriptedHost,
    readonly address: string | null = null,
  ) {}

  /** Opens a link and waits for the challenge. */
  async connect(): Promise<this> {
    this.frames.length = 0;
    this.closed = null;
    this.acked = 0;
    this.#read = 0;
    this.#sent = 0;
    this.#received = 0;
    const headers = this.address === null ? {} : { "X-Forwarded-For": this.address };
    // Bun's own: a client may send headers.
    const options = { protocols: [edgeProtocol], headers } as unknown as string[];
    const socket = new WebSocket(`${this.url.replace(/^http/, "ws")}/v1/edge/connect`, options);
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#receive(String(data));
    socket.onclose = ({ code, reason }) => {
      if (this.#socket === socket) this.closed = { code, reason };
    };
    const challenge = await this.expect("challenge");
    this.#serverNonce = challenge.server_nonce;
    return this;
  }

  /** Says hello. What is given takes the place of what it would say. */
  hello(
    changes: object = {},
    { s, key = this.host.key }: { readonly s?: number; readonly key?: KeyObject } = {},
  ): void {
    this.#clientNonce = randomBytes(32).toString("base64");
    const body = {
      node_id: this.host.id,
      public_key: publicHalf(key),
      client_nonce: this.#clientNonce,
      journal_id: this.journalId,
      journal_seq: this.journalSeq,
      boot_id: this.bootId,
      agent_version: this.version,
      service_kids: [...this.serviceKeys.keys()],
      slots: this.slots,
      capabilities: this.capabilities,
      commands: [],
      ...changes,
    };
    this.send("hello", body, { key, ...(s === undefined ? {} : { s }) });
  }

  /** A link from the challenge to the welcome, whose body it returns. */
  async welcome(changes: object = {}): Promise<LooseJson> {
    await this.connect();
    this.hello(changes);
    return this.expect("welcome");
  }

  /** Sends a signed frame. @param as what is wrong with it: its number, its key, the body that is signed instead */
  send(t: string, body: object, as: { s?: number; key?: KeyObject; signedBody?: string } = {}): void {
    const b = JSON.stringify(body);
    this.#sent = as.s ?? this.#sent + 1;
    const message = this.#message("up", t, this.#sent, as.signedBody ?? b);
    this.raw(signedText(t, this.#sent, b, signed(as.key ?? this.host.key, message), null));
  }
  sendUnsigned(t: string, body: object): void {
    this.raw(unsignedText(t, JSON.stringify(body)));
  }
  raw(message: string | Uint8Array<ArrayBuffer>): void {
    this.#socket?.send(message);
  }

  heartbeat(accepting = true, running = 0): void {
    this.sendUnsigned("heartbeat", { running, accepting });
  }
  /** The journal has a record more. */
  started(command_id: string): void {
    this.journalSeq += 1;
    this.send("started", { command_id, started_at: new Date().toISOString() });
  }
  result(command_id: string, changes: object = {}): void {
    this.journalSeq += 1;
    this.send("result", {
      command_id,
      ...{ status: "ok", exit_code: 0, duration_ms: 12, started_at: new Date().toISOString() },
      ...{ stdout_tail: "done\n", stderr_tail: "", stdout_bytes: 5, stderr_bytes: 0, truncated: false },
      ...{ structured: null, error_kind: null, error_message: null },
      ...changes,
    });
  }
  progress(command_id: string, offset: number, data: Uint8Array, stream: "stdout" | "stderr" = "stdout"): void {
    this.sendUnsigned("progress", { command_id, stream, offset, data: Buffer.from(data).toString("base64") });
  }

  /** The next frame of the type, behind those that were expected before. */
  async expect(t: string, fits: (body: LooseJson) => boolean = () => true, timeoutMs = 30_000): Promise<LooseJson> {
    const at = await until(
      () => {
        const found = this.frames.findIndex((one, index) => index >= this.#read && one.t === t && fits(one.body));
        if (found < 0 && this.closed !== null) throw new Error(`closed ${this.closed.code} ${this.closed.reason}`);
        return found + 1;
      },
      { what: `a frame ${t}`, timeoutMs },
    );
    this.#read = at;
    return this.frames[at - 1]?.body;
  }
  /** Frames of the type that came so far. */
  all(t: string): LooseJson[] {
    return this.frames.filter((one) => one.t === t).map(({ body }) => body);
  }
  /** Waits until all that was sent is committed. */
  async settled(): Promise<void> {
    await until(() => this.acked >= this.#sent, { what: "an ack of everything" });
  }
  /** Waits for the end of the link. */
  async end(timeoutMs = 30_000): Promise<Closed> {
    return until(() => this.closed, { what: "the link to end", timeoutMs });
  }

  /** The link is gone without a word, as when a cable is drawn. */
  cut(): void {
    const socket = this.#socket as (WebSocket & { terminate(): void }) | null;
    this.#socket = null;
    socket?.terminate();
  }
  close(code = 1000): void {
    this.#socket?.close(code);
  }
  /** Its process is another one from now on. */
  restart(): void {
    this.cut();
    this.bootId = randomUUID();
  }

  #message(direction: Direction, t: string, s: number, b: string): string {
    const connection = { hostId: this.host.id, serverNonce: this.#serverNonce, clientNonce: this.#clientNonce };
    return frameMessage(direction, connection, t, s, digest(b));
  }

  #receive(text: string): void {
    const frame = readFrame(text);
    if (frame === null) {
      this.faults.push(`no frame: ${text.slice(0, 100)}`);
      return;
    }
    const body = JSON.parse(frame.b) as LooseJson;
    // The keys come with the welcome itself: a test that pins them looks at it before.
    if (frame.t === "welcome")
      for (const { kid, public_key } of body.service_keys) this.serviceKeys.set(kid, public_key);
    if (frame.signature !== null) {
      const { s, bytes, kid } = frame.signature;
      this.#received += 1;
      const key = readEdgeKey(this.serviceKeys.get(kid ?? "") ?? "");
      const message = Buffer.from(this.#message("down", frame.t, s, frame.b));
      if (s !== this.#received) this.faults.push(`${frame.t} has s=${s}, not ${this.#received}`);
      if (key === null || !verify(null, message, ed25519Key(key), bytes))
        this.faults.push(`${frame.t} does not verify`);
    }
    if (frame.t === "ack") {
      this.acked = Math.max(this.acked, body.seq);
      this.credit += body.credit ?? 0;
    }
    this.frames.push({ t: frame.t, s: frame.signature?.s ?? null, body });
  }
}
