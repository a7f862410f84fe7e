/** A node and the supervisor that started it: how they know each other, and what they tell each other. */
import type { Node } from "./node.ts";

/** What a node says once it is ready. */
export interface Ready {
  readonly node: string;
  readonly port: number;
  readonly internalPort: number;
  readonly egressPort: number;
  /** Null: it serves no metrics. */
  readonly metricsPort: number | null;
  /** For the one that started it all. */
  readonly banner: string;
}

export interface NodeChild {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code; null after a signal. */
  readonly ended: Promise<number | null>;
}

export const addressesOf = ({ id, port, internalPort, egressPort, metricsPort }: Node) => ({
  node: id,
  port,
  internalPort,
  egressPort,
  metricsPort,
});

/** Argument of a node's process that has a supervisor: how many nodes share the port. */
const flag = "--supervised=";

/** How many nodes share this one's port; null: it has no supervisor. */
export function sharedBy(): number | null {
  const given = process.argv.find((argument) => argument.startsWith(flag));
  return given === undefined ? null : Number(given.slice(flag.length));
}

/** Starts this very program as one node. */
export function spawnNode(
  nodes: number,
  env: Readonly<Record<string, string | undefined>>,
  told: (ready: Ready) => void,
): NodeChild {
  const child = Bun.spawn([process.execPath, ...process.execArgv, Bun.main, `${flag}${nodes}`], {
    env,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    serialization: "json",
    ipc: (message: Ready) => told(message),
  });
  return { pid: child.pid, kill: (signal) => child.kill(signal), ended: child.exited.then(() => child.exitCode) };
}

/** Tells the supervisor that this node is ready. */
export function tellReady(ready: Ready): void {
  process.send?.(ready);
}

/** @param stop called when the supervisor is gone: nothing else would stop this node */
export function whenAbandoned(stop: () => void): void {
  process.on("disconnect", stop);
}
