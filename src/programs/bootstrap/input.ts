/** What the bootstrap is told: its environment, its prompt, and the attempts that went before. */
import { trimText } from "../../../actors/execution/trim.ts";

export interface BootstrapInput {
  readonly executionId: string;
  readonly agentId: string;
  readonly modelAlias: string;
  readonly orchestratorUrl: URL;
  readonly token: string | null;
  /** How long the token is good for, from its making: as long as the execution may take. Null: it does not say. */
  readonly lifetimeMs: number | null;
  readonly iteration: number;
  readonly llmTimeoutMs: number;
  readonly debug: boolean;
  /** Where `/workspace` really is. */
  readonly workspace: string;
  /** Directory of the gateway's unix sockets, one per node; null when only TCP is offered. */
  readonly gatewaySockets: string | null;
  /** Directory of the egress proxy's unix sockets; null when there is no way out beside the gateway. */
  readonly egressSockets: string | null;
  /** True inside an own network namespace: the orchestrator's address must be made to answer there. */
  readonly relay: boolean;
  /** Holds the startup script; null when there is none. */
  readonly startupFile: string | null;
  readonly prompt: string;
}

/** The input is missing something or is unusable; the bootstrap exits with 2. */
export class BadInput extends Error {
  override readonly name = "BadInput";
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @param read  reads a prompt file
 * @param stdin reads standard input to its end
 * @param warn  told what was ignored
 * @throws BadInput
 */
export async function readInput(
  environment: Environment,
  argument: string | undefined,
  read: (path: string) => Promise<string>,
  stdin: () => Promise<string>,
  warn: (message: string) => void,
): Promise<BootstrapInput> {
  const required = ["SVC_EXECUTION_ID", "SVC_MODEL_ALIAS", "SVC_ORCHESTRATOR_URL"] as const;
  const missing = required.filter((name) => !environment[name]);
  if (missing.length > 0) throw new BadInput(`missing environment: ${missing.join(", ")}`);
  const task = await readPrompt(environment, argument, read, stdin);
  if (task.trim() === "") throw new BadInput("the prompt is empty");
  const history = describeHistory(environment.SVC_ITERATION_HISTORY, warn);
  return {
    executionId: environment.SVC_EXECUTION_ID ?? "",
    agentId: environment.SVC_AGENT_ID ?? "",
    modelAlias: environment.SVC_MODEL_ALIAS ?? "",
    orchestratorUrl: readUrl(environment.SVC_ORCHESTRATOR_URL ?? ""),
    token: environment.SVC_EXECUTION_TOKEN || null,
    lifetimeMs: lifetimeOf(environment.SVC_EXECUTION_TOKEN),
    iteration: positiveInteger(environment.SVC_ITERATION, 1),
    llmTimeoutMs: positiveInteger(environment.SVC_LLM_TIMEOUT_SECONDS, 300) * 1_000,
    debug: isTrue(environment.SVC_BOOTSTRAP_DEBUG),
    workspace: environment.SVC_WORKSPACE || "/workspace",
    gatewaySockets: environment.SVC_GATEWAY_SOCKETS || null,
    egressSockets: environment.SVC_EGRESS_SOCKETS || null,
    relay: isTrue(environment.SVC_GATEWAY_RELAY),
    startupFile: environment.SVC_STARTUP_FILE || null,
    prompt: history === "" ? task : `${history}\n\n${task}`,
  };
}

async function readPrompt(
  environment: Environment,
  argument: string | undefined,
  read: (path: string) => Promise<string>,
  stdin: () => Promise<string>,
): Promise<string> {
  if (argument !== undefined && argument !== "") return argument;
  const file = environment.SVC_PROMPT_FILE;
  if (!file) return stdin();
  try {
    return await read(file);
  } catch {
    throw new BadInput("the prompt file cannot be read");
  }
}

const historyBytes = 65_536;

/** The earlier attempts as text for the model; empty when there were none. The newest survive the bound. */
export function describeHistory(json: string | undefined, warn: (message: string) => void): string {
  if (!json) return "";
  let attempts: unknown;
  try {
    attempts = JSON.parse(json);
  } catch {
    warn("SVC_ITERATION_HISTORY is not valid JSON; ignored");
    return "";
  }
  if (!Array.isArray(attempts)) {
    warn("SVC_ITERATION_HISTORY is not a list; ignored");
    return "";
  }
  const described: string[] = [];
  let left = historyBytes;
  for (const attempt of attempts.filter(isRecord).reverse()) {
    const text = trimText(describeAttempt(attempt), historyBytes - 1);
    left -= Buffer.byteLength(text) + 1;
    if (left < 0) break;
    described.unshift(text);
  }
  return described.length === 0 ? "" : `Earlier attempts at this task, oldest first:\n${described.join("\n")}`;
}

function describeAttempt(attempt: Readonly<Record<string, unknown>>): string {
  const lines = [`- Attempt ${String(attempt.iteration ?? "?")}`];
  const add = (label: string, value: unknown) => {
    if (value !== undefined && value !== null && value !== "") {
      lines.push(
        `  ${label}: ${(typeof value === "string" ? value : JSON.stringify(value)).replaceAll("\n", "\n    ")}`,
      );
    }
  };
  add("Error", attempt.error);
  add("Exit code", attempt.exit_code);
  add("Output", attempt.output);
  add("Rejected because", attempt.validation_reason);
  add("Feedback", attempt.feedback);
  return lines.join("\n");
}

/**
 * From `iat` to `exp` of a JSON Web Token, ms; null for what is none. The token was made when the program was started, so
 * that a wrong clock of this machine does not matter.
 */
function lifetimeOf(token: string | undefined): number | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token?.split(".")[1] ?? "", "base64url").toString());
    if (!isRecord(claims) || typeof claims.exp !== "number" || typeof claims.iat !== "number") return null;
    return Math.max(0, claims.exp - claims.iat) * 1_000;
  } catch {
    return null;
  }
}

function readUrl(text: string): URL {
  try {
    const url = new URL(text);
    if (url.protocol === "http:" || url.protocol === "https:") return url;
  } catch {}
  throw new BadInput("SVC_ORCHESTRATOR_URL is not an http address");
}

function positiveInteger(text: string | undefined, fallback: number): number {
  return text !== undefined && /^[0-9]{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : fallback;
}

function isTrue(text: string | undefined): boolean {
  return ["true", "1", "yes"].includes((text ?? "").toLowerCase());
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What a dispatched command inherits: everything but the execution token, which is also cut out of the
 * gateway's address. Both spellings of each name.
 */
export function commandEnvironment(environment: Environment): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || /^(SVC|AEGIS)_EXECUTION_TOKEN$/.test(name)) continue;
    inherited[name] = /^(SVC|AEGIS)_ORCHESTRATOR_URL$/.test(name) ? value.replace(/\/x\/[^/?#]+/, "") : value;
  }
  return inherited;
}
