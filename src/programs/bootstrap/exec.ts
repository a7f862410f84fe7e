/**
 * Runs one dispatched command and says what became of it. Never throws: every outcome is a result.
 *
 * The command is an argument vector, never a shell line. It gets a process group of its own, so that a
 * timeout ends everything it started; what it leaves running in the background after a normal end stays.
 */
import { constants as systemConstants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { type TrimmedOutput, trimEnds, trimOutput } from "../../../actors/execution/trim.ts";
import { processes } from "../../lib/processes/process-table.ts";
import { isDirectory, isExecutable, isFile } from "../path-kind.ts";
import { childOutput } from "../pipes.ts";
import { OutputCapture } from "./capture.ts";
import type { LiveOutput } from "./live-output.ts";

const killAfterMs = 5_000;
const pipesOpenAfterExitMs = 2_000;
const defaultTimeoutSeconds = 60;
const defaultOutputCap = 524_288;
const virtualWorkspace = "/workspace";

/** An `exec` dispatch as the gateway sends it; absent members get defaults. */
export interface ExecRequest {
  readonly action: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly envAdditions: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly maxOutputBytes: number;
}

export interface ExecResult extends TrimmedOutput {
  readonly exit_code: number;
  readonly duration_ms: number;
  readonly timed_out: boolean;
  readonly signal?: string;
}

/** Reads a dispatch of unknown making; what is absent or of the wrong type becomes its default. */
export function readExecRequest(dispatch: Readonly<Record<string, unknown>>): ExecRequest {
  const {
    action,
    command,
    args,
    cwd,
    env_additions: additions,
    timeout_secs: timeout,
    max_output_bytes: cap,
  } = dispatch;
  return {
    action: String(action ?? "exec"),
    command: typeof command === "string" ? command : "",
    args: Array.isArray(args) ? args.map(String) : [],
    cwd: typeof cwd === "string" && cwd !== "" ? cwd : virtualWorkspace,
    envAdditions: typeof additions === "object" && additions !== null ? stringValues(additions) : {},
    timeoutSeconds: typeof timeout === "number" && timeout > 0 ? timeout : defaultTimeoutSeconds,
    maxOutputBytes: typeof cap === "number" && cap >= 1 ? Math.floor(cap) : defaultOutputCap,
  };
}

/** The command under way, if any: ended when the bootstrap itself has to go. */
let running: { readonly pid: number } | null = null;

/** Kills the group of the command under way at once. */
export function killRunningCommand(): void {
  if (running !== null) signalGroup(running.pid, "SIGKILL");
}

/**
 * @param environment what the command inherits, before the dispatch's additions
 * @param workspace   where `/workspace` really is
 * @param live        is given the command's output while it runs
 */
export async function exec(
  request: ExecRequest,
  environment: Readonly<Record<string, string>>,
  workspace: string,
  live: LiveOutput,
): Promise<ExecResult> {
  const started = performance.now();
  const failed = (exitCode: number, stderr: string): ExecResult => ({
    exit_code: exitCode,
    duration_ms: Math.round(performance.now() - started),
    timed_out: false,
    ...trimOutput("", stderr, request.maxOutputBytes),
  });

  if (request.action !== "exec") return failed(-1, `unknown_action:${request.action}`);
  const cwd = mapCwd(request.cwd, workspace);
  if (!isDirectory(cwd)) return failed(-1, `[svc] cwd_not_found:${request.cwd}`);
  const env = { ...environment, ...request.envAdditions };
  const program = lookUp(request.command, env.PATH ?? "/usr/local/bin:/usr/bin:/bin", cwd);
  if (program.kind === "missing") return failed(127, `[svc] command not found: ${request.command}`);
  if (program.kind === "not_executable") return failed(126, `[svc] not executable: ${request.command}`);

  const outputs = [childOutput(), childOutput()] as const;
  let child: ReturnType<typeof Bun.spawn>;
  try {
    child = Bun.spawn([program.path, ...request.args], {
      argv0: request.command,
      cwd,
      env,
      stdio: ["ignore", outputs[0].stdio, outputs[1].stdio],
      detached: true,
    });
  } catch (error) {
    for (const output of outputs) output.discard();
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return failed(missing ? 127 : 126, `[svc] cannot start ${request.command}: ${reasonOf(error)}`);
  }

  running = child;
  try {
    const captures = [
      new OutputCapture(request.maxOutputBytes, (text) => live.add("stdout", text)),
      new OutputCapture(request.maxOutputBytes, (text) => live.add("stderr", text)),
    ] as const;
    const drained = Promise.all([
      drain(outputs[0].open(child.stdout), captures[0]),
      drain(outputs[1].open(child.stderr), captures[1]),
    ]);
    const timedOut = await waitOrEnd(child, request.timeoutSeconds * 1_000);
    await settled(drained, pipesOpenAfterExitMs);
    if (timedOut) captures[1].note(`[svc] command timed out after ${request.timeoutSeconds}s`);
    const signal = timedOut || child.signalCode === null ? null : String(child.signalCode);
    return {
      exit_code: timedOut ? -1 : signal === null ? (child.exitCode ?? -1) : 128 + signalNumber(signal),
      duration_ms: Math.round(performance.now() - started),
      timed_out: timedOut,
      ...(signal === null ? {} : { signal }),
      ...trimEnds(captures[0].ends(), captures[1].ends(), request.maxOutputBytes),
    };
  } finally {
    live.stop();
    running = null;
  }
}

/** Waits for the command; after `timeoutMs` ends its whole group, gently first. True when it came to that. */
async function waitOrEnd(child: ReturnType<typeof Bun.spawn>, timeoutMs: number): Promise<boolean> {
  if (await settled(child.exited, timeoutMs)) return false;
  signalGroup(child.pid, "SIGTERM");
  await settled(groupGone(child.pid, child.exited), killAfterMs);
  signalGroup(child.pid, "SIGKILL");
  await child.exited;
  return true;
}

/** Resolves once no process of the group is left. */
async function groupGone(group: number, exited: Promise<unknown>): Promise<void> {
  await exited;
  const until = performance.now() + killAfterMs;
  // A process that only waits to be reaped still counts for a signal, so the table is asked as well.
  const running = () => signalGroup(group, 0) && processes().some((row) => row.group === group);
  while (performance.now() < until && running()) await Bun.sleep(20);
}

/** True when the promise settled within `ms`. */
async function settled(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const done = promise.then(
    () => true,
    () => true,
  );
  const result = await Promise.race([done, late]);
  clearTimeout(timer);
  return result;
}

/** Reads until the far end closes; goes on after the result was posted, so that background children can write. */
async function drain(stream: ReadableStream<Uint8Array>, capture: OutputCapture): Promise<void> {
  for await (const chunk of stream) capture.write(chunk);
}

function mapCwd(cwd: string, workspace: string): string {
  const path = resolve(virtualWorkspace, cwd);
  if (workspace === virtualWorkspace) return path;
  return path === virtualWorkspace || path.startsWith(`${virtualWorkspace}/`)
    ? join(workspace, path.slice(virtualWorkspace.length))
    : path;
}

type Program = { kind: "found"; path: string } | { kind: "missing" } | { kind: "not_executable" };

function lookUp(command: string, path: string, cwd: string): Program {
  if (command === "" || command.includes("\0")) return { kind: "missing" };
  const candidates = command.includes("/")
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((directory) => resolve(cwd, directory, command));
  let found: Program = { kind: "missing" };
  for (const candidate of candidates) {
    if (!isFile(candidate)) {
      if (command.includes("/") && isDirectory(candidate)) found = { kind: "not_executable" };
      continue;
    }
    if (isExecutable(candidate)) return { kind: "found", path: candidate };
    found = { kind: "not_executable" };
  }
  return found;
}

/** Signals a whole process group; false when there is none left. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    return false;
  }
}

const signalNumbers: Readonly<Record<string, number>> = systemConstants.signals;

function signalNumber(name: string): number {
  return signalNumbers[name] ?? 0;
}

function stringValues(value: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, content]) => /^[^=\0]+$/.test(name) && !String(content).includes("\0"))
      .map(([name, content]) => [name, String(content)]),
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "failed";
}
