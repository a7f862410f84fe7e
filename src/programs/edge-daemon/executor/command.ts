/** `cmd.run`: from its arguments to a process that waits at its gate, and from its end to a result. */
import { constants as systemConstants } from "node:os";
import { frameLimits, type Invoke } from "../../../../actors/edge/frames.ts";
import { readCommand } from "../../../../actors/execution/loop/command.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { pathAllowed } from "../../../../actors/policy/security/paths.ts";
import { findProgram } from "../../find-program.ts";
import type { EdgeConfig } from "../config/config.ts";
import type { Permission } from "../policy/local-policy.ts";
import type { StateDirectory } from "../state/directory.ts";
import { isClosed } from "./closed-state.ts";
import { commandEnvironment } from "./environment.ts";
import { type GatedProcess, spawnGated } from "./gated.ts";
import { keptOutputBytes, OutputKeeper, type ShowOutput, type StreamName } from "./output.ts";
import { hasProcesses, kill, terminate } from "./process-tree.ts";
import { jsonBytes, type Outcome, type Prepared, type Stop, type Unprepared } from "./results.ts";
import type { Sandbox } from "./sandbox.ts";
import type { CommandUser } from "./user.ts";

export interface CommandHost {
  readonly config: Pick<EdgeConfig, "env" | "workdir">;
  readonly state: StateDirectory;
  readonly sandbox: Sandbox;
  readonly user: CommandUser | null;
  /** Variables of the daemon. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const plainPath = "/usr/local/bin:/usr/bin:/bin";
/** How long pipes may stay open once the command has ended, ms. */
const pipesOpenMs = 2_000;

/** @throws what the system says, where nothing can be spawned */
export async function prepareCommand(
  host: CommandHost,
  { command_id, timeout_ms, max_output_bytes }: Pick<Invoke, "command_id" | "timeout_ms" | "max_output_bytes">,
  { arguments: given, pathRules, maxTimeoutMs, maxResponseBytes }: Permission,
  show: ShowOutput,
): Promise<Prepared | Unprepared> {
  const read = readCommand(given);
  if ("issues" in read) {
    return invalid(read.issues.map(({ path, message }) => `${path}: ${message}`).join("; "));
  }
  const { stdin = null } = given;
  if (stdin !== null && typeof stdin !== "string") return invalid("stdin: must be a text");
  const { env, dropped } = commandEnvironment(
    host.config.env,
    command_id,
    read.env_additions,
    read.dropped_env,
    host.environment,
  );
  const program = findProgram(read.command, env.PATH ?? plainPath, read.cwd);
  if (!program.ok) return { status: "err", kind: "spawn_failed", message: program.reason };
  const { sandbox, user } = host;
  const child = await spawnGated({
    before: [...(sandbox.wrap?.(read.cwd) ?? []), ...(user?.become ?? [])],
    argv: [program.path, ...read.args],
    cwd: sandbox.wrap === null ? read.cwd : "/",
    env,
    stdin: stdin === null ? null : new TextEncoder().encode(stdin),
    user: user !== null && user.become === null ? { uid: user.uid, gid: user.gid } : null,
    pipeOwner: user?.uid ?? null,
  });
  const place = child.cwd;
  const fault = place === null ? await notStanding(child) : misplaced(place, read.cwd, pathRules, host.state);
  if (fault !== null) {
    child.abandon();
    return fault;
  }
  const output = new OutputKeeper(max_output_bytes, show);
  const cap = Math.min(read.max_output_bytes, maxResponseBytes, keptOutputBytes);
  let began = performance.now();
  return {
    pid: child.pid,
    release: () => {
      began = performance.now();
      child.release();
    },
    abandon: () => child.abandon(),
    terminate: () => terminate(child.pid, sandbox.wrap !== null),
    kill: () => kill(child.pid, command_id, sandbox.wrap !== null),
    hasProcesses: () => hasProcesses(child.pid),
    exited: child.exited,
    timeoutMs: Math.min(timeout_ms, maxTimeoutMs, read.timeout_asked ? read.timeout_secs * 1_000 : timeout_ms),
    outcome: async (stopped) => {
      const code = await ended(child, command_id, output, sandbox.wrap !== null);
      const signal = child.signal() ?? (sandbox.wrap === null ? null : signalOf(code));
      return outcomeOf(code, signal, stopped(), output, cap, dropped, performance.now() - began);
    },
  };
}

const invalid = (message: string): Unprepared => ({ status: "refused", kind: "invalid_args", message });

async function notStanding(child: GatedProcess): Promise<Unprepared> {
  child.abandon();
  const told = (await new Response(child.outputs.stderr).text()).trim().slice(0, 500);
  return { status: "err", kind: "spawn_failed", message: told === "" ? "The command could not be started" : told };
}

/** Judges the directory that the command really stands in, whichever links led there. */
function misplaced(
  place: string,
  asked: string,
  rules: Permission["pathRules"],
  state: StateDirectory,
): Unprepared | null {
  const isAllowed = rules.every((list) => pathAllowed(list, place)) && !isClosed(state, place);
  if (isAllowed) return null;
  return { status: "refused", kind: "path_not_allowed", message: `cmd.run may not work in ${asked.slice(0, 1_000)}` };
}

/**
 * Reads to the end of both streams. What the command has left running ends with it.
 * @param isIsolated whether its process namespace has ended with it already
 * @returns its exit code
 */
async function ended(
  child: GatedProcess,
  commandId: string,
  output: OutputKeeper,
  isIsolated: boolean,
): Promise<number> {
  const readers = (["stdout", "stderr"] as const).map((name) => reading(name, child.outputs[name], output));
  const all = Promise.all(readers.map(({ done }) => done));
  const code = await child.exited;
  await within(all, pipesOpenMs);
  if (!isIsolated) kill(child.pid, commandId, false);
  if (!(await within(all, pipesOpenMs))) for (const { cancel } of readers) cancel();
  return code;
}

function reading(name: StreamName, stream: ReadableStream<Uint8Array>, output: OutputKeeper) {
  const reader = stream.getReader();
  const read = async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      output.add(name, value);
    }
  };
  const done = read().catch(() => {});
  return { done, cancel: () => void reader.cancel().catch(() => {}) };
}

async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const inTime = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}

function outcomeOf(
  exited: number,
  signal: string | null,
  stop: Stop | null,
  output: OutputKeeper,
  cap: number,
  dropped: readonly string[],
  durationMs: number,
): Outcome {
  const code = signal === null ? exited : 128 + numberOf(signal);
  const facts = {
    exit_code: stop === null ? code : -1,
    duration_ms: Math.round(durationMs),
    timed_out: stop?.status === "timed_out",
    ...(signal === null ? {} : { signal }),
    ...(dropped.length === 0 ? {} : { dropped_env: [...dropped] }),
  };
  const told = { ...output.tails(), ...output.sizes, truncated: output.isTruncated };
  const rest = {
    exitCode: stop === null ? code : null,
    structured: structuredWithin(facts, output, cap),
    output: told,
  };
  if (stop !== null) return { ...rest, ...stop };
  if (code === 0) return { status: "ok", kind: null, message: null, ...rest };
  const message = signal === null ? `The command exited with ${code}` : `The command was ended by ${signal}`;
  return { status: "err", kind: "nonzero_exit", message, ...rest };
}

const signals: readonly (readonly [name: string, number: number])[] = Object.entries(systemConstants.signals);
const numberOf = (signal: string): number => signals.find(([name]) => name === signal)?.[1] ?? 0;

/** Bubblewrap tells the signal that ended its command as shells do, by a code above 128. */
const signalOf = (code: number): string | null => signals.find(([, number]) => number === code - 128)?.[0] ?? null;

/** Escapes may make a text six times as long: then less of it is kept. */
function structuredWithin(
  facts: { readonly [name: string]: Json },
  output: OutputKeeper,
  cap: number,
): { readonly [name: string]: Json } {
  for (let most = cap; ; most = Math.floor(most / 2)) {
    const trimmed = output.trimmed(most);
    const value = { ...facts, ...trimmed, ...output.sizes };
    if (most < 2 || jsonBytes(value) <= frameLimits.maxStructuredBytes) return value;
  }
}
