/**
 * The keeper: the first process of every container. It waits for its assignment, runs the program, passes its
 * output on within bounds, collects orphans, notices when the kernel kills for want of memory, and ends as the
 * program ended. Everything else in the container ends with it. Bundled to one file; see `src/programs/bundle.ts`.
 *
 * The environment, and with it the execution's token, comes through a fifo: nothing of it is in the container's
 * configuration, in a file, or readable in this process for the agent, whose user is the same.
 */
import { closeSync, openSync, read, readFileSync, writeFileSync, writeSync } from "node:fs";
import { constants as system } from "node:os";
import { join } from "node:path";
import { hideEnvironment } from "../../../../programs/bootstrap/hide-environment.ts";
import { type Found, findProgram } from "../../../../programs/find-program.ts";
import { childOutput } from "../../../../programs/pipes.ts";
import { OutputFramer } from "./output-framer.ts";
import { type Assignment, aliveName, assignName, controlInside, memoryFrame } from "./protocol.ts";
import { reapOrphans } from "./reap.ts";

const pipesOpenAfterExitMs = 2_000;
const pipesOpenAfterKillMs = 500;
const memoryCheckMs = 500;
const orphanCheckMs = 500;
const signalNumbers: Readonly<Record<string, number>> = system.signals;

/** The two versions of control groups. */
const memoryEventFiles = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"];

let child: Bun.Subprocess | null = null;
let outOfMemory = false;

function emit(text: string): void {
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      // A full pipe is waited for; without an engine that listens there is nothing to do.
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return;
      Bun.sleepSync(1);
    }
  }
}

const outputs = { stdout: new OutputFramer("stdout", emit), stderr: new OutputFramer("stderr", emit) };

async function keep(): Promise<number> {
  await hideEnvironment();
  openSync(join(controlInside, aliveName), "r+");
  const assignment = await receive();
  const found = programOf(assignment);
  if (!found.ok) return giveUp(found.code, `svc: ${found.reason}`);
  const pipes = [childOutput(), childOutput()] as const;
  const stdin = openSync(assignment.stdin ?? "/dev/null", "r");
  const [program = "", ...args] = assignment.argv;
  try {
    child = firstToGo(() =>
      Bun.spawn([found.path, ...args], {
        argv0: program,
        cwd: assignment.cwd,
        env: assignment.environment,
        stdio: [stdin, pipes[0].stdio, pipes[1].stdio],
        detached: true,
      }),
    );
  } catch (error) {
    for (const pipe of pipes) pipe.discard();
    const reason = error instanceof Error && "code" in error ? String(error.code) : "failed";
    const prefix = assignment.isCommand ? "svc:" : "[BOOTSTRAP ERROR]";
    return giveUp(reason === "ENOENT" ? 127 : 126, `${prefix} cannot start ${program}: ${reason}`);
  }
  closeSync(stdin);
  const own = child;
  const piped = (at: 0 | 1) => pipes[at].open(at === 0 ? own.stdout : own.stderr);
  const drained = Promise.all([pass(piped(0), outputs.stdout), pass(piped(1), outputs.stderr)]);
  setInterval(watchMemory, memoryCheckMs);
  setInterval(() => reapOrphans(own.pid), orphanCheckMs);
  await own.exited;
  await Promise.race([drained, Bun.sleep(pipesOpenAfterExitMs)]);
  killRest();
  await Promise.race([drained, Bun.sleep(pipesOpenAfterKillMs)]);
  for (const output of Object.values(outputs)) output.finish();
  watchMemory();
  return own.exitCode ?? 128 + (signalNumbers[own.signalCode ?? ""] ?? 0);
}

/**
 * Starts a process that the kernel takes before this one when memory runs out: this one is often the larger, and could
 * not tell any more why the instance ended. A child has the score of its parent.
 */
function firstToGo<T>(start: () => T): T {
  const score = "/proc/self/oom_score_adj";
  let own: string;
  try {
    own = readFileSync(score, "utf8");
    writeFileSync(score, "1000");
  } catch {
    return start();
  }
  try {
    return start();
  } finally {
    writeFileSync(score, own);
  }
}

/** An agent's program is a path already, and is found missing when it is started. */
function programOf({ argv, environment, cwd, isCommand }: Assignment): Found {
  const [program = ""] = argv;
  return isCommand ? findProgram(program, environment.PATH ?? "", cwd) : { ok: true, path: program };
}

function giveUp(code: number, reason: string): number {
  outputs.stderr.write(Buffer.from(`${reason}\n`));
  for (const output of Object.values(outputs)) output.finish();
  return code;
}

/** The first whole line that makes sense; a sender that was cut off in the middle begins anew on the next one. */
async function receive(): Promise<Assignment> {
  // Open for both, the fifo has no end when a sender closes it.
  const fifo = openSync(join(controlInside, assignName), "r+");
  const piece = Buffer.alloc(65_536);
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    text += decoder.decode(piece.subarray(0, await readSome(fifo, piece)), { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      const assignment = parse(line);
      if (assignment === null) continue;
      // Nothing may be written there any more: the agent could read it.
      closeSync(fifo);
      return assignment;
    }
  }
}

/** Waits in a thread of its own, for as long as it takes. */
function readSome(file: number, into: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    read(file, into, 0, into.length, null, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  });
}

function parse(line: string): Assignment | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "argv" in value ? (value as Assignment) : null;
  } catch {
    return null;
  }
}

async function pass(stream: ReadableStream<Uint8Array>, output: OutputFramer): Promise<void> {
  for await (const chunk of stream) output.write(chunk);
}

function watchMemory(): void {
  if (outOfMemory || !killedForMemory()) return;
  outOfMemory = true;
  emit(memoryFrame);
  killRest();
}

function killedForMemory(): boolean {
  return memoryEventFiles.some((path) => {
    try {
      return /^oom_kill [1-9]/m.test(readFileSync(path, "utf8"));
    } catch {
      return false;
    }
  });
}

/** Every process here but this one. */
function killRest(): void {
  try {
    process.kill(-1, "SIGKILL");
  } catch {}
}

let asked = false;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (child === null) process.exit(128 + (signalNumbers[signal] ?? 0));
    // Should it be killed next, the end of its output is not lost.
    if (!asked) for (const output of Object.values(outputs)) output.flush();
    asked = true;
    try {
      process.kill(-child.pid, signal);
    } catch {}
  });
}

keep().then(
  (code) => process.exit(code),
  (error: unknown) => {
    writeSync(2, `${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
