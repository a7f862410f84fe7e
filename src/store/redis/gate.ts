/**
 * Refuses commands at once while Redis is known to be away: each would wait for its limit otherwise, and find it away.
 * The watch (`watch.ts`) closes and opens the gate; connections that are opened for servers with a gate stand behind it.
 */
import type { Redis } from "ioredis";
import { StoreAway } from "../away.ts";

/** A connection to one server, for commands or for anything else. */
type Connection = Pick<Redis, "status" | "stream" | "once"> & {
  readonly options: { enableAutoPipelining?: boolean | undefined };
};

/** What a connection asks by itself before it is ready. */
const ofConnections: ReadonlySet<string> = new Set(["auth", "hello", "client", "select", "info", "quit"]);

export class RedisGate {
  /** Connections to one server, and whether they gather commands into pipelines. */
  private readonly connections = new Map<Connection, boolean>();
  private refusal: StoreAway | null = null;

  /** The refusal of a command; null while it may pass. */
  refuses(command: string): StoreAway | null {
    return this.refusal === null || ofConnections.has(command) ? null : this.refusal;
  }

  /** Has a connection opened again without delay once Redis is back. */
  join(connection: Connection): void {
    const gathers = connection.options.enableAutoPipelining === true;
    this.connections.set(connection, gathers);
    if (this.refusal !== null) connection.options.enableAutoPipelining = false;
    connection.once("end", () => this.connections.delete(connection));
  }

  /** @param reason in words for operators */
  close(reason: string): void {
    if (this.refusal?.reason === reason) return;
    this.refusal = new StoreAway("Redis", reason);
    // A command that is gathered waits for the pipeline before it, which hangs.
    for (const connection of this.connections.keys()) connection.options.enableAutoPipelining = false;
  }

  open(): void {
    if (this.refusal === null) return;
    this.refusal = null;
    for (const [connection, gathers] of this.connections) {
      connection.options.enableAutoPipelining = gathers;
      // One that is being opened may have asked a server that is no more, and waits for its limit.
      if (connection.status !== "ready") connection.stream?.destroy();
    }
  }
}
