/**
 * A process that exists before its command does: a shell that says where it stands and waits for a word. Without that
 * word, or once the daemon is gone, it ends and the command has never started. So the journal can name the process before
 * the command begins, and the directory that is judged is the one that the command works in.
 */
import { closeSync, writeSync } from "node:fs";
import { type ChildOutput, childOutput } from "../../pipes.ts";
import type { StreamName } from "./output.ts";

const script = 'pwd -P >&4; exec 4>&-; IFS= read -r go <&3 || exit 125; exec 3<&-; exec "$@"';
/** How long the shell may take to say where it stands. */
const standsWithinMs = 15_000;
const longestPath = 8_192;

export interface GatedSpawn {
  /** What stands before the shell: isolation, another user. */
  readonly before: readonly string[];
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array | null;
  /** User and group for spawning; null: they stay. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** Owner of the pipes, where the command becomes another user. */
  readonly pipeOwner: number | null;
}

export interface GatedProcess {
  readonly pid: number;
  /** The real path of its working directory; null: it ended before it could say. */
  readonly cwd: string | null;
  /** Lets the command start. */
  release(): void;
  /** Ends the shell; the command never starts. */
  abandon(): void;
  readonly exited: Promise<number>;
  /** The name of the signal that ended it. */
  readonly signal: () => string | null;
  readonly outputs: Readonly<Record<StreamName, ReadableStream<Uint8Array>>>;
}

/** @throws what the system says, where nothing could be spawned */
export async function spawnGated(spawn: GatedSpawn): Promise<GatedProcess> {
  const outputs: readonly [ChildOutput, ChildOutput] = [childOutput(spawn.pipeOwner), childOutput(spawn.pipeOwner)];
  let child: ReturnType<typeof Bun.spawn>;
  try {
    child = Bun.spawn([...spawn.before, "/bin/sh", "-c", script, "sh", ...spawn.argv], {
      cwd: spawn.cwd,
      env: spawn.env,
      stdio: [spawn.stdin ?? "ignore", outputs[0].stdio, outputs[1].stdio, "pipe", "pipe"],
      detached: true,
      ...(spawn.user === null ? {} : spawn.user),
    });
  } catch (error) {
    for (const output of outputs) output.discard();
    throw error;
  }
  const [, , , gate, place] = child.stdio;
  if (typeof gate !== "number" || typeof place !== "number") throw new Error("the process has no gate");
  let isOpen = true;
  const pass = (word: string | null) => {
    if (!isOpen) return;
    isOpen = false;
    try {
      if (word !== null) writeSync(gate, word);
    } catch {
      // It has ended by itself; that is told by how it exited.
    } finally {
      closeSync(gate);
    }
  };
  const streams = { stdout: outputs[0].open(child.stdout), stderr: outputs[1].open(child.stderr) };
  return {
    pid: child.pid,
    cwd: await readPlace(place, () => child.kill("SIGKILL")),
    release: () => pass("go\n"),
    abandon: () => {
      pass(null);
      child.kill("SIGKILL");
    },
    exited: child.exited,
    signal: () => (child.signalCode === null ? null : String(child.signalCode)),
    outputs: streams,
  };
}

async function readPlace(fd: number, giveUp: () => void): Promise<string | null> {
  const timer = setTimeout(giveUp, standsWithinMs);
  let text = "";
  try {
    const decoder = new TextDecoder();
    for await (const chunk of Bun.file(fd).stream()) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > longestPath) break;
    }
  } catch {
    // As if nothing had been said.
  } finally {
    clearTimeout(timer);
    closeSync(fd);
  }
  return text.startsWith("/") && text.endsWith("\n") ? text.slice(0, -1) : null;
}
