/** A store as a process of its own: it outlives the node that started it and is found again by the next one. */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { commandLine, identify } from "../../lib/processes/process-table.ts";

/** How one store is started, asked and stopped. */
export interface DaemonSpec {
  /** For messages. */
  readonly name: string;
  /** Where its pid is kept. */
  readonly pidFile: string;
  /** Part of its command line that no other process has: tells it from a later process with the same pid. */
  readonly mark: string;
  /** Where its port is kept. */
  readonly portFile: string;
  /** Where its output goes. */
  readonly logFile: string;
  /** Deals with what a crash left behind; called right before each start. */
  beforeStart?(): void;
  /** The command line for a port. */
  command(port: number): readonly string[];
  /** Whether OUR store answers on the port: a stranger there must not pass. */
  answers(port: number): Promise<boolean>;
  /** Asks it to end without losing anything. */
  readonly stopSignal: NodeJS.Signals;
}

const readyMs = 60_000;
const stopMs = 20_000;
/** With the pauses between them enough for the processes of a killed server to end. */
const startAttempts = 6;
/** A log longer than this is put aside at the next start; the one before it goes. */
const logBytes = 4 * 1024 * 1024;

/**
 * Finds the store running, or starts it. To be called under the data directory's lock.
 * @returns its port, ready for connections
 * @throws with the end of its log when it does not come up
 */
export async function ensureDaemon(spec: DaemonSpec): Promise<{ port: number; started: boolean }> {
  const known = readNumber(spec.portFile);
  const running = livingPid(spec);
  if (known !== null && running !== null) {
    if (await becomesReady(spec, known)) return { port: known, started: false };
    if (daemonLives(spec)) throw new Error(`${spec.name} (pid ${running}) does not answer on port ${known}`);
  }
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(known);
    writeFileSync(spec.portFile, String(port));
    if (await start(spec, port)) return { port, started: true };
    if (attempt === startAttempts) throw new Error(`${spec.name} did not start:\n${logTail(spec.logFile)}`);
    await Bun.sleep(200 * attempt);
  }
}

/** Whether the store's process lives; a glance without asking it anything. */
export function daemonLives(spec: DaemonSpec): boolean {
  return livingPid(spec) !== null;
}

/**
 * Starts a store that died again, on the port that its users know. To be called under the lock.
 * @returns false when it does not come up, for instance because the port is taken
 */
export async function reviveDaemon(spec: DaemonSpec, port: number): Promise<boolean> {
  if (daemonLives(spec)) return true;
  return start(spec, port);
}

/** Stops the store if it runs and waits until it is gone. To be called under the data directory's lock. */
export async function stopDaemon(spec: DaemonSpec): Promise<void> {
  const deadline = performance.now() + stopMs;
  signal(spec, spec.stopSignal);
  while (daemonLives(spec)) {
    if (performance.now() > deadline) signal(spec, "SIGKILL");
    await Bun.sleep(10);
  }
}

async function start(spec: DaemonSpec, port: number): Promise<boolean> {
  if ((statSync(spec.logFile, { throwIfNoEntry: false })?.size ?? 0) > logBytes) {
    renameSync(spec.logFile, `${spec.logFile}.old`);
  }
  spec.beforeStart?.();
  const log = openSync(spec.logFile, "a");
  // The process writes its own pid before it becomes the store: whenever its starter is killed, there is
  // either no store or one that the next starter finds. Its session is its own, so Ctrl-C does not reach it.
  const command = ["-c", 'echo $$ >"$0"; exec "$@"', spec.pidFile, ...spec.command(port)];
  const child = spawn("/bin/sh", command, { detached: true, stdio: ["ignore", log, log], cwd: "/" });
  closeSync(log);
  let ended = false;
  child.once("exit", () => {
    ended = true;
  });
  child.once("error", () => {
    ended = true;
  });
  child.unref();
  return becomesReady(spec, port, () => ended);
}

/** Whether it answers before it dies or its time is over. */
async function becomesReady(spec: DaemonSpec, port: number, ended = () => !daemonLives(spec)): Promise<boolean> {
  const deadline = performance.now() + readyMs;
  while (performance.now() < deadline) {
    if (await spec.answers(port)) return true;
    if (ended()) return false;
    await Bun.sleep(15);
  }
  return false;
}

function livingPid(spec: DaemonSpec): number | null {
  const pid = readNumber(spec.pidFile);
  return pid !== null && identify(pid) !== null && commandLine(pid).includes(spec.mark) ? pid : null;
}

function signal(spec: DaemonSpec, name: NodeJS.Signals): void {
  const pid = livingPid(spec);
  if (pid === null) return;
  try {
    process.kill(pid, name);
  } catch {
    // It ended in between.
  }
}

/** The number that a file holds, or null when there is none. */
function readNumber(file: string): number | null {
  try {
    const number = Number(readFileSync(file, "utf8"));
    return Number.isSafeInteger(number) && number > 0 ? number : null;
  } catch {
    return null;
  }
}

/** The wanted port if it is free, else any free one. */
async function freePort(wanted: number | null): Promise<number> {
  return (wanted === null || wanted > 65535 ? null : await tryPort(wanted)) ?? (await tryPort(0)) ?? 0;
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(null));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : null));
    });
  });
}

function logTail(file: string): string {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n").slice(-12).join("\n");
  } catch {
    return "(no log)";
  }
}
