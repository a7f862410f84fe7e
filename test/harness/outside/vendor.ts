/**
 * A model vendor on this machine: the real OpenAI chat-completions, Anthropic messages and Google
 * generateContent wires, streaming or not, with every way a vendor can misbehave. A test queues behaviours;
 * each request takes the next one, and the last queued `always` serves when the queue is empty.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type Frames, type VendorReply, wires } from "./vendor-wires.ts";

export type { VendorReply } from "./vendor-wires.ts";
export type Wire = keyof typeof wires;

export type Behaviour =
  /** A good reply; `whole`: in one piece, also where a stream was asked for. */
  | { readonly reply: VendorReply; readonly firstByteAfterMs?: number; readonly whole?: true }
  /** An error status with the wire's own error body, unless `body` is given. */
  | {
      readonly status: number;
      readonly message?: string;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    }
  /** The connection is destroyed before any byte, or after part of the reply. */
  | { readonly cut: "before" | "middle" }
  /** The stream ends politely, but before the reply does. */
  | { readonly cut: "clean" }
  /** Status 200 with this body and content type. */
  | { readonly garbage: string; readonly contentType?: string }
  /** The head and part of the reply come, then nothing until the client leaves. */
  | { readonly stall: "before" | "middle" }
  /** An error event inside a stream, after part of a reply or as the first event. */
  | { readonly streamError: { readonly type: string; readonly message: string }; readonly after: "nothing" | "text" }
  /** Decided when the request is there. */
  | ((request: VendorRequest) => Behaviour);

export interface VendorRequest {
  readonly wire: Wire;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown>;
}

export interface Vendor {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** Address for `endpoint` of a provider that speaks this wire. */
  endpoint(wire: Wire): string;
  readonly requests: readonly VendorRequest[];
  /** Clients that left before their answer was complete. */
  readonly departures: number;
  push(...behaviours: Behaviour[]): void;
  /** What happens when nothing is queued; at first a 500 that says so. */
  always(behaviour: Behaviour): void;
  reset(): void;
  close(): Promise<void>;
}

const unplanned: Behaviour = { status: 500, message: "the test queued no behaviour" };

/** Starts one on a free port, or on `port`. */
export async function startVendor(port = 0): Promise<Vendor> {
  const requests: VendorRequest[] = [];
  const queue: Behaviour[] = [];
  const sockets = new Set<Socket>();
  let otherwise = unplanned;
  let departures = 0;

  const server = createServer((request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) departures++;
    });
    serve(request, response).catch(() => response.destroy());
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    if (path === "/api/tags")
      return json(response, 200, { models: [{ name: "nomic-embed-text:latest" }, { name: "llama3.2:latest" }] });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const wire = wireOf(path);
    if (!wire) return json(response, 404, { error: { message: `no such path ${path}` } });
    const seen: VendorRequest = {
      wire,
      path,
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
      body: JSON.parse(Buffer.concat(chunks).toString()),
    };
    requests.push(seen);
    await act(queue.shift() ?? otherwise, seen, response);
  }

  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    endpoint: (wire) => origin + (wire === "google" ? "/v1beta" : "/v1"),
    requests,
    get departures() {
      return departures;
    },
    push: (...behaviours) => void queue.push(...behaviours),
    always: (behaviour) => {
      otherwise = behaviour;
    },
    reset() {
      queue.length = 0;
      requests.length = 0;
      departures = 0;
      otherwise = unplanned;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function wireOf(path: string): Wire | null {
  if (path.endsWith("/chat/completions")) return "openai";
  if (path.endsWith("/messages")) return "anthropic";
  return /:(streamGenerateContent|generateContent)/.test(path) ? "google" : null;
}

async function act(planned: Behaviour, request: VendorRequest, response: ServerResponse): Promise<void> {
  const behaviour = typeof planned === "function" ? planned(request) : planned;
  if (typeof behaviour === "function") return act(behaviour, request, response);
  const wire = wires[request.wire];
  const streaming =
    request.wire === "google" ? request.path.includes(":streamGenerateContent") : request.body.stream === true;
  const sample = wire.frames({ text: "The beginning of an answer that goes on" }, request.body);
  if ("reply" in behaviour) {
    if (behaviour.firstByteAfterMs) await pause(behaviour.firstByteAfterMs);
    if (!streaming || behaviour.whole) return json(response, 200, wire.whole(behaviour.reply, request.body));
    begin(response);
    await send(response, wire.frames(behaviour.reply, request.body));
    response.end();
  } else if ("status" in behaviour) {
    const body = behaviour.body ?? JSON.stringify(wire.error(behaviour.status, behaviour.message ?? "it failed"));
    response.writeHead(behaviour.status, { "content-type": "application/json", ...behaviour.headers }).end(body);
  } else if ("garbage" in behaviour) {
    response.writeHead(200, { "content-type": behaviour.contentType ?? "text/event-stream" }).end(behaviour.garbage);
  } else if ("streamError" in behaviour) {
    begin(response);
    if (behaviour.after === "text") await send(response, sample.slice(0, -3));
    await send(response, [wire.streamError(behaviour.streamError)]);
    response.end();
  } else if ("cut" in behaviour) {
    if (behaviour.cut === "before") return void response.socket?.destroy();
    begin(response);
    await send(response, sample.slice(0, -3));
    if (behaviour.cut === "clean") return void response.end();
    // Let the first part reach the client, so that the cut falls into the middle.
    await pause(30);
    response.socket?.destroy();
  } else if (behaviour.stall === "middle") {
    begin(response);
    await send(response, sample.slice(0, -3));
  }
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
}

/** One write per frame, so that a reply arrives in pieces. */
async function send(response: ServerResponse, frames: Frames): Promise<void> {
  for (const frame of frames) {
    response.write(frame);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
