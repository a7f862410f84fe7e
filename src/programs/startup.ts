/**
 * The startup script: shell text that an agent's author wants run in `/workspace` before the bootstrap. It never
 * sees the execution token, takes at most 60 s, and what it writes shows as console output: every line on standard
 * error with a prefix that keeps it out of the iteration's output and away from the validators.
 */
import { writeSync } from "node:fs";
import { childOutput } from "./pipes.ts";

/** Exit code of an instance whose startup script failed; meant only together with the line `startupFailure` reads. */
export const startupFailedCode = 121;
const failurePrefix = "[BOOTSTRAP STARTUP_FAILED] ";
const linePrefix = "[BOOTSTRAP STARTUP] ";
const limitMs = 60_000;
const longestLine = 4_096;
/** Of the script's standard error, told with its failure. */
const tailBytes = 2_048;
const pipesOpenAfterExitMs = 500;

let running: { readonly pid: number } | null = null;

/** Ends the script under way, if any, with everything in its group. */
export function killStartup(): void {
  if (running === null) return;
  try {
    process.kill(-running.pid, "SIGKILL");
  } catch {}
}

export interface StartupRun {
  /** Holds the script. */
  readonly file: string;
  /** Its whole environment, without the execution token. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where `/workspace` really is. */
  readonly workspace: string;
  readonly limitMs?: number;
}

/**
 * Runs the script to its end. Processes it leaves in the background live on.
 * @returns false when it failed; then the last line on standard error says how
 */
export async function runStartup(run: StartupRun): Promise<boolean> {
  const outputs = [childOutput(), childOutput()] as const;
  let child: ReturnType<typeof Bun.spawn>;
  try {
    child = Bun.spawn(["/bin/sh", run.file], {
      cwd: run.workspace,
      env: run.environment,
      stdio: ["ignore", outputs[0].stdio, outputs[1].stdio],
      detached: true,
    });
  } catch (error) {
    for (const output of outputs) output.discard();
    const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
    return report(`could not be started (${code})`, "");
  }
  running = child;
  const lines = [new Lines(), new Lines()] as const;
  const drained = Promise.all([
    show(outputs[0].open(child.stdout), lines[0]),
    show(outputs[1].open(child.stderr), lines[1]),
  ]);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    killStartup();
  }, run.limitMs ?? limitMs);
  const code = await child.exited;
  clearTimeout(timer);
  running = null;
  await Promise.race([drained, Bun.sleep(pipesOpenAfterExitMs)]);
  for (const line of lines) line.flush();
  if (late) return report(`took longer than ${(run.limitMs ?? limitMs) / 1_000} s`, lines[1].tail);
  return code === 0 || report(`exited with ${code}`, lines[1].tail);
}

function report(reason: string, stderr: string): false {
  writeSync(2, `${failurePrefix}${JSON.stringify({ reason, stderr })}\n`);
  return false;
}

/**
 * Reads back how a startup script failed from what the instance left.
 * @param stderr the end of the instance's standard error
 * @returns one sentence and the last of what the script wrote to its standard error; null when no script failed
 */
export function startupFailure(exitCode: number | null, stderr: string): string | null {
  if (exitCode !== startupFailedCode) return null;
  const line = stderr.split("\n").findLast((text) => text.startsWith(failurePrefix));
  if (line === undefined) return null;
  try {
    const told: unknown = JSON.parse(line.slice(failurePrefix.length));
    if (typeof told !== "object" || told === null || !("reason" in told) || !("stderr" in told)) return null;
    const said = String(told.stderr).trim();
    return `The startup script ${String(told.reason)}${said === "" ? "" : `: ${said}`}`;
  } catch {
    return null;
  }
}

/** Hands a stream on line by line; a line without end is broken. */
class Lines {
  /** The last of the stream as it is. */
  tail = "";
  #begun = "";

  add(text: string): void {
    this.tail = (this.tail + text).slice(-tailBytes);
    const pieces = (this.#begun + text).split("\n");
    this.#begun = pieces.pop() ?? "";
    let out = pieces.map(marked).join("");
    const whole = this.#begun.length - (this.#begun.length % longestLine);
    if (whole > 0) out += marked(this.#begun.slice(0, whole));
    this.#begun = this.#begun.slice(whole);
    if (out !== "") writeSync(2, out);
  }

  flush(): void {
    if (this.#begun !== "") writeSync(2, marked(this.#begun));
    this.#begun = "";
  }
}

function marked(text: string): string {
  let out = "";
  for (let at = 0; at === 0 || at < text.length; at += longestLine) {
    out += `${linePrefix}${text.slice(at, at + longestLine)}\n`;
  }
  return out;
}

async function show(stream: ReadableStream<Uint8Array>, lines: Lines): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) lines.add(decoder.decode(chunk, { stream: true }));
}
