/**
 * Makes loopback addresses answer inside a network namespace of its own, for programs that know nothing of the
 * unix sockets that are the only way out: bytes go from the loopback port to a socket that answers.
 */
import type { connect, Socket } from "node:net";
import { type Doors, openDoors } from "./doors.ts";

/** Where the egress proxy answers inside an instance. */
export const egressPort = 8082;

export interface Relays {
  /** The orchestrator's address, which has to be a loopback one. */
  readonly orchestratorUrl: URL;
  readonly gatewaySockets: string;
  /** Null: there is no way out beside the gateway. */
  readonly egressSockets: string | null;
}

/**
 * Serves the gateway and, where there is one, the egress proxy. Neither keeps the program from ending.
 * @returns what is wrong, one line each
 */
export async function serveRelays({ orchestratorUrl, gatewaySockets, egressSockets }: Relays): Promise<string[]> {
  const served = [
    serveAt(orchestratorUrl, gatewaySockets).then((done) =>
      done ? [] : ["the orchestrator's address cannot be made to answer here"],
    ),
  ];
  if (egressSockets !== null) served.push(serveEgress(egressSockets));
  return (await Promise.all(served)).flat();
}

/** Serves the egress proxy alone. @returns what is wrong, one line each */
export async function serveEgress(sockets: string): Promise<string[]> {
  const url = new URL(`http://127.0.0.1:${egressPort}`);
  return (await serveAt(url, sockets)) ? [] : ["the egress proxy cannot be reached"];
}

/** @returns false where the address is not a loopback one or cannot be had */
async function serveAt(url: URL, sockets: string): Promise<boolean> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol !== "http:" || !/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)) return false;
  // Loaded here, not at the start: it would delay the first question.
  const net = await import("node:net");
  const doors = openDoors(sockets, () => performance.now());
  const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) =>
    join(client, doors, doors.candidates(), net.connect),
  );
  server.unref();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(Number(url.port || 80), host === "localhost" ? "127.0.0.1" : host, () => resolve(true));
  });
}

/** A node that says nothing on a connection for this long is asked whether it is there, ms. */
const quietMs = 15_000;
/** How long it may take for that answer, ms. */
const answerMs = 5_000;

/**
 * Connects a client to the first socket that accepts. What the client sent cannot be sent again to another node, so the
 * connection to one that turns out to be frozen is cut; the client's next one goes elsewhere.
 */
function join(client: Socket, doors: Doors, candidates: readonly string[], open: typeof connect): void {
  const [path, ...others] = candidates;
  if (path === undefined) {
    client.destroy();
    return;
  }
  const upstream = open({ path, allowHalfOpen: true });
  const failed = () => join(client, doors, others, open);
  upstream.once("error", failed);
  upstream.once("connect", () => {
    upstream.off("error", failed);
    upstream.on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
    const quiet = setTimeout(() => {
      question(path, open, () => {
        doors.silent(path);
        client.destroy();
        upstream.destroy();
      });
    }, quietMs);
    quiet.unref();
    upstream.once("data", () => {
      clearTimeout(quiet);
      doors.answered(path);
    });
    upstream.once("close", () => clearTimeout(quiet));
    client.pipe(upstream);
    upstream.pipe(client);
    client.resume();
  });
}

/** Asks a node for any answer; the egress proxy has one to this as well. */
function question(path: string, open: typeof connect, silent: () => void): void {
  const asking = open({ path });
  const late = setTimeout(() => {
    asking.destroy();
    silent();
  }, answerMs);
  late.unref();
  const over = () => {
    clearTimeout(late);
    asking.destroy();
  };
  asking.once("data", over);
  // It is gone, and the connection to it with it.
  asking.once("error", over);
  asking.write("GET /health/live HTTP/1.1\r\nHost: svc\r\nConnection: close\r\n\r\n");
}
