/**
 * One iteration: an instance is started and followed, its exit is judged, and what comes next is
 * decided.
 *
 *   waiting ──picked_up──▶ running ──instance_ended──▶ validating ──▶ accepted: the execution completes
 *      ▲                      │                             └───────▶ rejected ─┐
 *      │  lost (twice at most)│                                                 ▼
 *      └──────────────────────┴──── fault ─────────────────▶ next iteration, or the execution fails
 */
import { lessonFact, lostLesson } from "../../cortex/lesson.ts";
import { lastLines } from "../../kernel/text.ts";
import type { InstanceEnd, InstanceEnded, Validated } from "../activities.ts";
import type { Ended } from "../children.ts";
import { fail, isPastDeadline, shortened, timeOut } from "../ending.ts";
import { judged, judgesOverdue, measured, type ValidationProgress, validate } from "../judging/validation.ts";
import { agentStderr, type Rule, type ValidationResult } from "../judging/validator-result.ts";
import { isFatalModelError } from "../loop/refusal.ts";
import { accept } from "../output/output-handler.ts";
import { historyLog, iterationSummary } from "../record/history.ts";
import type { Iteration } from "../state.ts";
import { trimText } from "../trim.ts";
import type { ExecutionTurn } from "../turn.ts";
import {
  abandonInstance,
  closeInstance,
  freshIteration,
  giveUpIteration,
  noteStarted,
  replaceInstance,
  runInstance,
} from "./instance.ts";

const maxRestarts = 2;
const maxOutputBytes = 1_048_576;
const maxStderrBytes = 65_536;
const maxMessageBytes = 4096;

/** What the manifest refers to cannot be used any more, or is no login for a registry. */
const referenceFaults = [
  "secret_not_found",
  "secret_forbidden",
  "credential_not_found",
  "credential_not_granted",
  "credential_forbidden",
  "registry_credentials_invalid",
];

/** Faults that an activity may name; any other is a `runtime_error`. */
const namedFaults = new Set([
  "iteration_timeout",
  "image_pull_failed",
  "startup_script_failed",
  "runtime_error",
  "instance_lost",
  "out_of_memory",
  "disk_exceeded",
  "volume_error",
  ...referenceFaults,
]);
/** No later iteration could do better. */
const fatalFaults = new Set(["image_pull_failed", "volume_error", ...referenceFaults]);

interface FaultReport {
  readonly code: string;
  readonly message: string;
  readonly details?: { readonly [member: string]: string | number | null };
  readonly exitCode?: number | null;
  readonly stderr?: string;
  readonly fatal?: boolean;
}

/** The work on the instance is over, one way or another. */
export function instanceEnded(turn: ExecutionTurn, outcome: InstanceEnded): void {
  const { iteration, state } = turn;
  if (!outcome.ok && outcome.code === "queue_timeout") {
    slotWaitOver(turn);
    return;
  }
  if (outcome.ok ? outcome.value.reason === "lost" : outcome.code === "instance_lost") {
    restart(turn, instanceLost);
    return;
  }
  // Also reported by the activity that watches the time of an exchange.
  if (isPastDeadline(turn) || (!outcome.ok && outcome.code === "execution_timeout")) {
    timeOut(turn);
    return;
  }
  if (!outcome.ok) {
    const named = namedFaults.has(outcome.code);
    const code = named ? outcome.code : "runtime_error";
    const details = named ? {} : { details: { code: outcome.code } };
    fault(turn, { code, message: outcome.message, ...details, fatal: fatalFaults.has(code) });
    return;
  }
  if (iteration.phase === "waiting") {
    fault(turn, { code: "runtime_error", message: "The instance ended before it was picked up" });
    return;
  }
  const { value: ended } = outcome;
  if (gaveTheServiceUp(ended) && iteration.model_fault === null) {
    restart(turn, bootstrapLost);
    return;
  }
  iteration.exit_code = ended.exit_code;
  const found = exitFault(ended, iteration, state.rules);
  if (found !== null) {
    fault(turn, found);
    return;
  }
  produced(turn, ended, ended.exit_code ?? 0);
}

function slotWaitOver(turn: ExecutionTurn): void {
  if (turn.state.status === "pending") {
    turn.iteration.phase = "over";
    fail(turn, "start_timeout", "No node had a free slot in time");
    return;
  }
  replaceInstance(turn);
}

/** Why an iteration begins again: no fault of the agent. */
interface Loss {
  readonly code: "instance_lost" | "bootstrap_lost";
  /** What the record says once it has begun again too often. */
  readonly message: (attempts: number) => string;
}

const instanceLost: Loss = {
  code: "instance_lost",
  message: (attempts) => `The instance was lost ${attempts} times`,
};
const bootstrapLost: Loss = {
  code: "bootstrap_lost",
  message: (attempts) => `The bootstrap lost the service ${attempts} times`,
};

/** The code a bootstrap ends with that reached no gateway for as long as it could wait. */
const gaveUpCode = 5;

/** Programs in the bootstrap's place may have a meaning of their own for that code: its line tells them apart. */
const gaveTheServiceUp = ({ exit_code, stderr }: InstanceEnd): boolean =>
  exit_code === gaveUpCode && stderr.includes("[BOOTSTRAP ");

/** The iteration begins again under its number, in a fresh instance; that uses no iteration. */
function restart(turn: ExecutionTurn, loss: Loss): void {
  const { iteration } = turn;
  if (iteration.attempt > maxRestarts) {
    fault(turn, { code: loss.code, message: loss.message(iteration.attempt) });
    return;
  }
  closeInstance(turn, null);
  iteration.attempt += 1;
  if (iteration.started_at !== null) {
    turn.emit("iteration_restarted", {
      iteration_number: iteration.number,
      attempt: iteration.attempt,
      reason: loss.code,
      restarted_at: turn.at,
    });
  }
  replaceInstance(turn);
}

/** The bootstrap of a running instance does not report the end of a command. */
export function bootstrapSilent(turn: ExecutionTurn): void {
  abandonInstance(turn);
  restart(turn, bootstrapLost);
}

/** What is wrong with the way the instance ended, or null if it produced an output to be judged. */
function exitFault(ended: InstanceEnd, iteration: Iteration, rules: readonly Rule[]): FaultReport | null {
  const { reason, exit_code: exitCode, stderr } = ended;
  const seen = { exitCode, stderr };
  if (reason === "out_of_memory") return { code: reason, message: "The instance ran out of memory", ...seen };
  if (reason === "disk_exceeded") return { code: reason, message: "The instance used up its disk space", ...seen };
  if (exitCode === null) return { code: "runtime_error", message: "The instance ended without an exit code", ...seen };
  if (exitCode === 0) return null;
  const spoiled = iteration.model_fault;
  const fatal = spoiled !== null && isFatalModelError(spoiled.error_class);
  if (!fatal && rules.some(({ type }) => type === "exit_code")) return null;
  if (spoiled !== null) {
    const details = { exit_code: exitCode, error_class: spoiled.error_class };
    return { code: "llm_error", message: spoiled.message, details, fatal, ...seen };
  }
  // The bootstrap's own words are the next best.
  const words = lastLines(agentStderr(stderr)) || lastLines(stderr);
  return {
    code: "nonzero_exit",
    message: `The agent exited with code ${exitCode}${words === "" ? "" : `:\n${words}`}`,
    details: { exit_code: exitCode },
    ...seen,
  };
}

function produced(turn: ExecutionTurn, ended: InstanceEnd, exitCode: number): void {
  const { iteration } = turn;
  const output = trimText(ended.stdout.replace(/\r?\n$/, ""), maxOutputBytes);
  if (ended.stdout_truncated) turn.warnOnce("output_truncated", "The output was longer than 1 MiB and was cut");
  closeInstance(turn, exitCode);
  turn.emit("iteration_completed", {
    iteration_number: iteration.number,
    output,
    completed_at: turn.at,
    _stderr: trimText(ended.stderr, maxStderrBytes),
    _exit_code: exitCode,
  });
  decide(turn, validate(turn, { output, stderr: agentStderr(ended.stderr), exit_code: exitCode }));
}

/** Validators were measured, or could not be. */
export function validated(turn: ExecutionTurn, outcome: Validated): void {
  decide(turn, measured(turn, outcome));
}

/** A judge of the output is over. */
export function outputJudged(turn: ExecutionTurn, ended: Ended): void {
  decide(turn, judged(turn, ended));
}

/** The judges of the output took too long. */
export function outputJudgesOverdue(turn: ExecutionTurn, panelId: string): void {
  decide(turn, judgesOverdue(turn, panelId));
}

function decide(turn: ExecutionTurn, decision: ValidationProgress): void {
  if (decision.is === "rejected") reject(turn, decision.excerpt, decision.result);
  if (decision.is === "accepted") accept(turn, decision.output);
}

function reject(turn: ExecutionTurn, output: string, result: ValidationResult): void {
  const { iteration } = turn;
  const { validator, score, confidence, feedback } = result;
  turn.emit("iteration_rejected", {
    iteration_number: iteration.number,
    validator,
    score,
    confidence,
    feedback,
    rejected_at: turn.at,
  });
  const reason = trimText(`${validator} rejected the output: ${feedback ?? `score ${score}`}`, maxMessageBytes);
  remember(turn, { output, validation_failed: validator, validation_reason: reason, feedback: feedback ?? reason });
  learn(turn, "validation_rejected", reason, !mayGoOn(turn));
  goOn(turn, "validation_rejected", reason, feedback ?? reason);
}

/** Something went wrong before there was an output worth judging. */
function fault(turn: ExecutionTurn, report: FaultReport): void {
  const { iteration, state } = turn;
  const { code, details = null, exitCode = null, stderr = "", fatal = false } = report;
  const message = trimText(report.message, maxMessageBytes);
  if (state.status === "pending") {
    iteration.phase = "over";
    learn(turn, code, message, true);
    fail(turn, code, message);
    return;
  }
  noteStarted(turn);
  closeInstance(turn, exitCode);
  turn.emit("iteration_failed", {
    iteration_number: iteration.number,
    error: { code, message, details },
    failed_at: turn.at,
    _stderr: trimText(stderr, maxStderrBytes),
    _exit_code: exitCode,
  });
  iteration.phase = "over";
  learn(turn, code, message, fatal || !mayGoOn(turn));
  if (fatal) {
    fail(turn, code, message);
    return;
  }
  remember(turn, { error: `${code}: ${message}` });
  goOn(turn, code, message, `The previous attempt failed (${code}): ${message}`);
}

/** The iteration must be ended by force: its instance is still there. */
export function faultInFlight(turn: ExecutionTurn, report: FaultReport): void {
  giveUpIteration(turn);
  fault(turn, report);
}

/** Puts on record that the iteration is lost, in the commit that ends it. */
function learn(turn: ExecutionTurn, error_type: string, message: string, is_last: boolean): void {
  const of = { execution_id: turn.executionId, iteration_number: turn.iteration.number };
  turn.fact(lessonFact, lostLesson({ ...of, error_type, message, is_last }));
}

/** Whether the mode and the count allow a further iteration. */
const mayGoOn = ({ state: { header, iteration } }: ExecutionTurn): boolean =>
  header.mode !== "one-shot" && iteration.number < header.max_iterations;

/** Adds to what the next iteration is told, if there can be one. */
function remember(turn: ExecutionTurn, attempt: Omit<Parameters<typeof iterationSummary>[0], "iteration">): void {
  const { iteration, state } = turn;
  if (iteration.number >= state.header.max_iterations) return;
  const exit = iteration.exit_code === null ? {} : { exit_code: iteration.exit_code };
  turn.append(historyLog, iterationSummary({ iteration: iteration.number, ...exit, ...attempt }));
}

/** After a rejection or a fault: the next iteration, if the mode and the count allow one. */
function goOn(turn: ExecutionTurn, code: string, reason: string, feedback: string): void {
  const { header, iteration } = turn.state;
  iteration.phase = "over";
  if (header.mode === "one-shot") {
    fail(turn, code, reason);
    return;
  }
  if (iteration.number >= header.max_iterations) {
    fail(turn, "max_iterations_exceeded", reason);
    return;
  }
  const next = iteration.number + 1;
  turn.emit("refinement_applied", { iteration_number: next, feedback, code_diff: {}, applied_at: turn.at });
  turn.state.iteration = freshIteration(next, shortened(`Refine: ${feedback}`), turn.context.newId());
  runInstance(turn, iteration.instance_id);
}
