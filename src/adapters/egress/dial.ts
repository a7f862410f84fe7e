/** Connections outward, to addresses and never to names. */
import { connect, type Socket } from "node:net";
import { EgressFailed } from "./destination.ts";

/** For one address, and for all of a name's together, ms. */
const addressMs = 5_000;
const totalMs = 15_000;

/** Tries checked addresses in turn. @throws EgressFailed `unreachable` */
export async function dial(addresses: readonly string[], port: number): Promise<Socket> {
  const until = performance.now() + totalMs;
  for (const address of addresses) {
    const left = until - performance.now();
    if (left <= 0) break;
    const socket = await connected(address, port, Math.min(left, addressMs));
    if (socket !== null) return socket;
  }
  throw new EgressFailed("unreachable", "No address of the host could be connected to");
}

function connected(host: string, port: number, timeoutMs: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    const timer = setTimeout(() => failed(), timeoutMs);
    const failed = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(null);
    };
    // Stays: a socket without an error handler ends the process. `close` follows and is heard.
    socket.on("error", failed);
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}
