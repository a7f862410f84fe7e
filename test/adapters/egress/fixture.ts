/** A proxy with subjects of the test's making, and raw clients and servers around it. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { parseHostPattern } from "../../../actors/policy/network/pattern.ts";
import { type NetworkRules, policyOf } from "../../../actors/policy/network/policy.ts";
import type { Admission, ProxyClient } from "../../../src/adapters/egress/admission.ts";
import type { EgressRefused } from "../../../src/adapters/egress/destination.ts";
import { createProxy, type Outcome } from "../../../src/adapters/egress/proxy.ts";

export interface Fixture {
  readonly port: number;
  readonly refusals: EgressRefused[];
  readonly outcomes: Outcome[];
  readonly failures: unknown[];
  /** Name → answers, taken one after the other; the last one stays. */
  readonly names: Map<string, string[][]>;
  readonly traffic: { sent: number; received: number };
  /** Ends every connection as the end of an instance does. */
  cut(): void;
  taken(): number;
  stop(): void;
}

const subject = (rules: NetworkRules | null): ProxyClient => ({
  instanceId: "i",
  policy: policyOf(rules),
});

export const goodCredentials = `Basic ${Buffer.from("svc:good").toString("base64")}`;

export async function openFixture(
  rules: NetworkRules | null,
  allowPrivate: readonly string[] = ["127.0.0.0/8"],
  limits: { readonly seats?: number; readonly headMs?: number; readonly admitMs?: number } = {},
): Promise<Fixture> {
  const refusals: EgressRefused[] = [];
  const outcomes: Outcome[] = [];
  const failures: unknown[] = [];
  const names = new Map<string, string[][]>();
  const traffic = { sent: 0, received: 0 };
  const cuts: (() => void)[] = [];
  let taken = 0;
  const admission: Admission<ProxyClient> = {
    admit: async (authorization) => {
      if (limits.admitMs !== undefined) await Bun.sleep(limits.admitMs);
      return authorization === goodCredentials ? subject(rules) : null;
    },
    enter: (_, cut) => {
      if (taken >= (limits.seats ?? 64)) return null;
      taken += 1;
      cuts.push(cut);
      return {
        count(sent, received) {
          traffic.sent += sent;
          traffic.received += received;
        },
        leave: () => {
          taken -= 1;
        },
      };
    },
  };
  const proxy = createProxy({
    admission,
    outside: {
      resolve: async (name) => {
        const answers = names.get(name) ?? [];
        return (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
      },
      allowPrivate: allowPrivate.map(parseHostPattern).filter((pattern) => pattern !== null),
    },
    refused: async (_, refusal) => void refusals.push(refusal),
    answered: (outcome) => outcomes.push(outcome),
    failed: (error) => failures.push(error),
    ...(limits.headMs === undefined ? {} : { headMs: limits.headMs }),
  });
  const server = createServer({ allowHalfOpen: true, noDelay: true }, proxy.acceptor());
  const port = await listenAnywhere(server);
  return {
    port,
    refusals,
    outcomes,
    failures,
    names,
    traffic,
    cut: () => {
      for (const end of cuts.splice(0)) end();
    },
    taken: () => taken,
    stop: () => {
      server.close();
      proxy.cutAll();
    },
  };
}

export function listenAnywhere(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** A TCP server that shows what it was sent. */
export async function openPeer(answer: (socket: Socket, piece: Buffer) => void) {
  const heard: Buffer[] = [];
  let connections = 0;
  const sockets = new Set<Socket>();
  let greet: (socket: Socket) => void = () => {};
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    greet(socket);
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (piece: Buffer) => {
      heard.push(piece);
      answer(socket, piece);
    });
    socket.on("end", () => socket.end());
  });
  const port = await listenAnywhere(server);
  return {
    port,
    heard: () => Buffer.concat(heard).toString("latin1"),
    connections: () => connections,
    open: () => sockets.size,
    onConnection: (first: (socket: Socket) => void) => {
      greet = first;
    },
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A client that writes bytes and keeps what comes back. */
export class RawClient {
  private text = "";
  closed = false;
  private readonly waiting: (() => void)[] = [];

  private constructor(readonly socket: Socket) {
    const awaken = () => {
      for (const wake of this.waiting.splice(0)) wake();
    };
    socket.on("data", (piece: Buffer) => {
      this.text += piece.toString("latin1");
      awaken();
    });
    socket.on("error", () => socket.destroy());
    socket.on("end", () => {
      this.closed = true;
      awaken();
    });
    socket.on("close", () => {
      this.closed = true;
      awaken();
    });
  }

  static open(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
      socket.once("error", reject);
      socket.once("connect", () => resolve(new RawClient(socket)));
    });
  }

  send(text: string | Buffer): void {
    this.socket.write(typeof text === "string" ? Buffer.from(text, "latin1") : text);
  }

  /** Waits for text that matches and takes everything up to there; at the end, all there is. */
  async take(pattern: RegExp): Promise<string> {
    let match = pattern.exec(this.text);
    while (match === null && !this.closed) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
      match = pattern.exec(this.text);
    }
    const end = match === null ? this.text.length : match.index + match[0].length;
    const taken = this.text.slice(0, end);
    this.text = this.text.slice(end);
    return taken;
  }

  /** Waits for the end and takes everything. */
  all(): Promise<string> {
    return this.take(/(?!)/);
  }

  close(): void {
    this.socket.destroy();
  }
}

/** The text of a request in absolute form with credentials. */
export const request = (line: string, fields: readonly string[] = [], body = ""): string =>
  [`${line}`, `Proxy-Authorization: ${goodCredentials}`, ...fields, "", body].join("\r\n");

const sized = (lengthBytes: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(content.length, 0, lengthBytes);
  return Buffer.concat([length, content]);
};

/** The first message of a TLS client, in one record, naming those servers; null: none. */
export function hello(...names: readonly (string | null)[]): Buffer {
  const hosts = names
    .filter((name) => name !== null)
    .map((name) => Buffer.concat([Buffer.from([0]), sized(2, Buffer.from(name))]));
  const serverName =
    hosts.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0, 0]), sized(2, sized(2, ...hosts))]);
  const versions = Buffer.concat([Buffer.from([0, 43]), sized(2, Buffer.from([2, 3, 4]))]);
  const hello = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 9),
    sized(1, Buffer.alloc(32, 8)),
    sized(2, Buffer.from([0x13, 1])),
    sized(1, Buffer.from([0])),
    sized(2, versions, serverName),
  ]);
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(2, Buffer.from([1]), sized(3, hello))]);
}

/** The same message spread over records of that size. */
export function records(message: Buffer, size: number): Buffer {
  const content = message.subarray(5);
  const pieces: Buffer[] = [];
  for (let at = 0; at < content.length; at += size) {
    pieces.push(Buffer.concat([Buffer.from([22, 3, 1]), sized(2, content.subarray(at, at + size))]));
  }
  return Buffer.concat(pieces);
}
