/**
 * A program whose standard streams belong to a node: they come and go by two unix sockets in a directory that is
 * mounted here. `io.sock` carries standard input and output, `log.sock` one line with the program's process id and then
 * standard error. The program ends with the node's side of `io.sock`: a node that is killed leaves nothing behind.
 */
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { constants } from "node:os";
import { join } from "node:path";
import { serveEgress } from "../bootstrap/relay.ts";
import { findProgram } from "../find-program.ts";

/** First argument of init for this; the directory of the sockets, that of the proxies' or `-`, and the command follow. */
export const streamsFlag = "--streams";
export const socketNames = { io: "io.sock", log: "log.sock" } as const;
/** Before standard error: the program's id as this namespace has it. */
const pidLine = (pid: number): string => `pid ${pid}\n`;

const signalNumbers: Readonly<Record<string, number>> = constants.signals;
/** Output that a program leaves behind is read on for so long, ms. */
const drainMs = 2_000;
/** Between the end of the node's side and the end of the program, ms. */
const leaveMs = 1_000;

/** @returns the exit code: the program's, 128 + the signal that ended it, 126 or 127 when it cannot be run */
export async function runStreams(sockets: string, egress: string, argv: readonly string[]): Promise<number> {
  const [io, log] = await Promise.all([opened(join(sockets, socketNames.io)), opened(join(sockets, socketNames.log))]);
  const say = (message: string) => log.write(`svc: ${message}\n`);
  const [name = "", ...args] = argv;
  const found = findProgram(name, process.env.PATH ?? "", process.cwd());
  if (!found.ok) {
    log.write(pidLine(0));
    say(found.reason);
    return leave(log, found.code);
  }
  if (egress !== "-") for (const line of await serveEgress(egress)) writeSync(2, `svc: ${line}\n`);
  const child = spawn(found.path, args, {
    argv0: name,
    env: process.env,
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const { pid } = child;
  log.write(pidLine(pid ?? 0));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => toGroup(pid, signal));
  const ended = new Promise<number>((resolve) => {
    child.once("error", () => {
      say(`${name}: cannot be executed`);
      resolve(126);
    });
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signalNumbers[signal ?? ""] ?? 0)));
  });
  // What it does not read any more is no fault of this program.
  for (const stream of [child.stdin, child.stdout, child.stderr, io, log]) stream.on("error", () => {});
  io.pipe(child.stdin);
  child.stdout.pipe(io);
  child.stderr.pipe(log);
  io.once("close", () => {
    toGroup(pid, "SIGTERM");
    setTimeout(() => toGroup(pid, "SIGKILL"), leaveMs).unref();
    setTimeout(() => process.exit(143), 2 * leaveMs).unref();
  });
  const drained = [child.stdout, child.stderr].map((stream) => new Promise((resolve) => stream.once("close", resolve)));
  const code = await ended;
  await Promise.race([Promise.all(drained), Bun.sleep(drainMs)]);
  return leave(log, code);
}

function toGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {}
}

function opened(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once("connect", () => resolve(socket));
    socket.once("error", () => reject(new Error("the node is not there")));
  });
}

async function leave(log: Socket, code: number): Promise<number> {
  await Promise.race([new Promise<void>((resolve) => log.end(resolve)), Bun.sleep(drainMs)]);
  return code;
}
