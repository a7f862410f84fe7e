/** The `fs.*` tools: each call in a process of its own, which can be stopped and holds up nothing. */
import type { Invoke } from "../../../../actors/edge/frames.ts";
import { isObject, type Json } from "../../../../actors/kernel/json.ts";
import { bytesOf, fitted } from "../../../../actors/tool/fitting.ts";
import { ToolFailure, type ToolOutcome } from "../../../lib/tool-files/outcome.ts";
import { checkArguments, type FsTool } from "../../../lib/tool-files/schema.ts";
import { hostView, type ViewSpec } from "../../../lib/tool-files/view-spec.ts";
import type { Arguments, Permission } from "../policy/local-policy.ts";
import type { StateDirectory } from "../state/directory.ts";
import { closedState } from "./closed-state.ts";
import { commandVariable, hasProcesses, kill } from "./process-tree.ts";
import { fitting, noOutput, type Outcome, type Prepared, type Stop, type Unprepared } from "./results.ts";

/** What the process is told on its standard input, as JSON. */
export interface FileToolJob {
  readonly view: ViewSpec;
  readonly tool: FsTool;
  readonly given: Readonly<Record<string, unknown>>;
}

export interface FileToolHost {
  readonly state: StateDirectory;
  /** The command line of a process that serves one `FileToolJob`. */
  readonly program: readonly string[];
}

/** Most bytes that one call reads. */
const maxReadBytes = 65_536;
/** Most bytes of an answer that is looked at. */
const maxAnswerBytes = 16 * 1024 * 1024;
/** Their results are cut to what policy leaves them; those of the others are withheld. */
const cut: readonly string[] = ["fs.read", "fs.list", "fs.grep", "fs.glob"] satisfies FsTool[];

/** @throws what the system says, where nothing can be spawned */
export function prepareFileTool(
  host: FileToolHost,
  { command_id, timeout_ms }: Pick<Invoke, "command_id" | "timeout_ms">,
  tool: FsTool,
  { arguments: permitted, pathRules, maxTimeoutMs, maxResponseBytes }: Permission,
): Prepared | Unprepared {
  let given: Readonly<Record<string, unknown>>;
  try {
    given = checked(tool, permitted);
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { status: "refused", kind: "invalid_args", message: error.message };
  }
  const job: FileToolJob = { view: hostView(pathRules, closedState(host.state)), tool, given };
  const child = Bun.spawn([...host.program], {
    env: { [commandVariable]: command_id },
    cwd: "/",
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  const answer = readAnswer(child.stdout);
  return {
    pid: child.pid,
    release: () => {
      child.stdin.write(JSON.stringify(job));
      void Promise.resolve(child.stdin.end()).catch(() => {});
    },
    abandon: () => child.kill("SIGKILL"),
    terminate: () => child.kill("SIGTERM"),
    kill: () => kill(child.pid, command_id, true),
    hasProcesses: () => hasProcesses(child.pid),
    exited: child.exited,
    timeoutMs: Math.min(timeout_ms, maxTimeoutMs),
    outcome: async (stopped) => {
      const [outcome] = await Promise.all([answer, child.exited]);
      return told(outcome, stopped(), cut.includes(tool) ? "cut" : "withhold", maxResponseBytes);
    },
  };
}

/** @throws ToolFailure */
function checked(tool: FsTool, given: Arguments): Readonly<Record<string, unknown>> {
  if (tool !== "fs.read") return patternWithin(checkArguments(tool, given));
  const most = given.max_bytes ?? maxReadBytes;
  if (typeof most === "number" && most > maxReadBytes)
    throw new ToolFailure("invalid_arguments", `fs.read: max_bytes: must be at most ${maxReadBytes}`);
  return checkArguments(tool, { ...given, max_bytes: most });
}

/** A glob that names the directory it starts from means what is below it. */
function patternWithin<T extends Readonly<Record<string, unknown>>>(given: T): T {
  const { path, pattern } = given;
  if (typeof path !== "string" || typeof pattern !== "string" || !pattern.startsWith(`${path}/`)) return given;
  return { ...given, pattern: pattern.slice(path.length + 1) };
}

/** Null: there was none. */
async function readAnswer(stream: ReadableStream<Uint8Array>): Promise<ToolOutcome | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes <= maxAnswerBytes) chunks.push(chunk);
  }
  if (bytes > maxAnswerBytes) return { status: "failed", code: "output_too_large", message: "The result is too large" };
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return isObject(value) && typeof value.status === "string" ? (value as unknown as ToolOutcome) : null;
  } catch {
    return null;
  }
}

function told(
  outcome: ToolOutcome | null,
  stop: Stop | null,
  large: "cut" | "withhold",
  maxResponseBytes: number,
): Outcome {
  const none = { exitCode: null, structured: null, output: noOutput };
  // What was done before the stop came in is done.
  if (outcome === null && stop !== null) return { ...none, ...stop };
  if (outcome === null)
    return { ...none, status: "err", kind: "internal", message: "The tool ended without an answer" };
  if (outcome.status === "refused") {
    return { ...none, status: "refused", kind: "path_not_allowed", message: outcome.message };
  }
  if (outcome.status === "failed") {
    const kind = outcome.code === "invalid_arguments" ? "invalid_args" : outcome.code;
    return { ...none, status: "err", kind, message: outcome.message };
  }
  const result: Json = large === "cut" ? fitted(outcome.result, maxResponseBytes) : outcome.result;
  if (large === "withhold" && bytesOf(result) > maxResponseBytes) {
    const message = `The result is larger than the ${maxResponseBytes} bytes that the security context allows`;
    return { ...none, status: "err", kind: "output_too_large", message };
  }
  return fitting({ ...none, status: "ok", kind: null, message: null, structured: result });
}
