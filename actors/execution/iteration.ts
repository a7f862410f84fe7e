/**
 * One iteration: an instance is started and followed, its exit is judged, and what comes next is
 * decided.
 *
 *   waiting ──picked_up──▶ running ──instance_ended──▶ validating ──▶ accepted: the execution completes
 *      ▲                      │                             └───────▶ rejected ─┐
 *      │  lost (twice at most)│                                                 ▼
 *      └──────────────────────┴──── fault ─────────────────▶ next iteration, or the execution fails
 */
import type { InstanceEnd, InstanceEnded, Validated } from "./activities.ts";
import type { Ended } from "./children.ts";
import { fail, shortened, timeOut } from "./ending.ts";
import {
  closeInstance,
  freshIteration,
  giveUpIteration,
  noteStarted,
  replaceInstance,
  runInstance,
} from "./instance.ts";
import { type Decision, judged, judgesOverdue, measured, validate } from "./judging/validation.ts";
import { agentStderr, type Rule, type ValidationResult } from "./judging/verdict.ts";
import type { Life } from "./life.ts";
import { isFatalModelError } from "./loop/refusal.ts";
import { accept } from "./output/output-handler.ts";
import { attemptOf, historyLog } from "./record/history.ts";
import type { Iteration } from "./state.ts";
import { trimText } from "./trim.ts";

const maxRestarts = 2;
const maxOutputBytes = 1_048_576;
const maxStderrBytes = 65_536;
const maxMessageBytes = 4096;

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
]);
/** No later iteration could do better. */
const fatalFaults = new Set(["image_pull_failed", "volume_error"]);

interface FaultReport {
  readonly code: string;
  readonly message: string;
  readonly details?: { readonly [member: string]: string | number | null };
  readonly exitCode?: number | null;
  readonly stderr?: string;
  readonly fatal?: boolean;
}

/** The work on the instance is over, one way or another. */
export function instanceEnded(life: Life, outcome: InstanceEnded): void {
  const { iteration, state } = life;
  if (!outcome.ok && outcome.code === "queue_timeout") {
    slotWaitOver(life);
    return;
  }
  if (outcome.ok ? outcome.value.reason === "lost" : outcome.code === "instance_lost") {
    instanceLost(life);
    return;
  }
  // Reported by the activity that watches the time of an exchange.
  if (!outcome.ok && outcome.code === "execution_timeout") {
    timeOut(life);
    return;
  }
  if (!outcome.ok) {
    const named = namedFaults.has(outcome.code);
    const code = named ? outcome.code : "runtime_error";
    const details = named ? {} : { details: { code: outcome.code } };
    fault(life, { code, message: outcome.message, ...details, fatal: fatalFaults.has(code) });
    return;
  }
  if (iteration.phase === "waiting") {
    fault(life, { code: "runtime_error", message: "The instance ended before it was picked up" });
    return;
  }
  const { value: ended } = outcome;
  iteration.exit_code = ended.exit_code;
  const found = exitFault(ended, iteration, state.rules);
  if (found !== null) {
    fault(life, found);
    return;
  }
  produced(life, ended, ended.exit_code ?? 0);
}

function slotWaitOver(life: Life): void {
  if (life.state.status === "pending") {
    life.iteration.phase = "over";
    fail(life, "start_timeout", "No node had a free slot in time");
    return;
  }
  replaceInstance(life);
}

/** The instance is gone and nothing is known of how it ended: the iteration begins again under its number. */
function instanceLost(life: Life): void {
  const { iteration } = life;
  if (iteration.attempt > maxRestarts) {
    fault(life, { code: "instance_lost", message: `The instance was lost ${iteration.attempt} times` });
    return;
  }
  closeInstance(life, null);
  iteration.attempt += 1;
  if (iteration.started_at !== null) {
    life.emit("iteration_restarted", {
      iteration_number: iteration.number,
      attempt: iteration.attempt,
      reason: "instance_lost",
      restarted_at: life.at,
    });
  }
  replaceInstance(life);
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
  return {
    code: "nonzero_exit",
    message: `The agent exited with code ${exitCode}`,
    details: { exit_code: exitCode },
    ...seen,
  };
}

function produced(life: Life, ended: InstanceEnd, exitCode: number): void {
  const { iteration } = life;
  const output = trimText(ended.stdout.replace(/\r?\n$/, ""), maxOutputBytes);
  if (ended.stdout_truncated) life.warnOnce("output_truncated", "The output was longer than 1 MiB and was cut");
  closeInstance(life, exitCode);
  life.emit("iteration_completed", {
    iteration_number: iteration.number,
    output,
    completed_at: life.at,
    _stderr: trimText(ended.stderr, maxStderrBytes),
    _exit_code: exitCode,
  });
  decide(life, validate(life, { output, stderr: agentStderr(ended.stderr), exit_code: exitCode }));
}

/** Validators were measured, or could not be. */
export function validated(life: Life, outcome: Validated): void {
  decide(life, measured(life, outcome));
}

/** A judge of the output is over. */
export function outputJudged(life: Life, ended: Ended): void {
  decide(life, judged(life, ended));
}

/** The judges of the output took too long. */
export function outputJudgesOverdue(life: Life, panelId: string): void {
  decide(life, judgesOverdue(life, panelId));
}

function decide(life: Life, decision: Decision): void {
  if (decision.is === "rejected") reject(life, decision.excerpt, decision.result);
  if (decision.is === "accepted") accept(life, decision.output);
}

function reject(life: Life, output: string, result: ValidationResult): void {
  const { iteration } = life;
  const { validator, score, confidence, feedback } = result;
  life.emit("iteration_rejected", {
    iteration_number: iteration.number,
    validator,
    score,
    confidence,
    feedback,
    rejected_at: life.at,
  });
  const reason = trimText(`${validator} rejected the output: ${feedback ?? `score ${score}`}`, maxMessageBytes);
  remember(life, { output, validation_failed: validator, validation_reason: reason, feedback: feedback ?? reason });
  goOn(life, "validation_rejected", reason, feedback ?? reason);
}

/** Something went wrong before there was an output worth judging. */
function fault(life: Life, report: FaultReport): void {
  const { iteration, state } = life;
  const { code, details = null, exitCode = null, stderr = "", fatal = false } = report;
  const message = trimText(report.message, maxMessageBytes);
  if (state.status === "pending") {
    iteration.phase = "over";
    fail(life, code, message);
    return;
  }
  noteStarted(life);
  closeInstance(life, exitCode);
  life.emit("iteration_failed", {
    iteration_number: iteration.number,
    error: { code, message, details },
    failed_at: life.at,
    _stderr: trimText(stderr, maxStderrBytes),
    _exit_code: exitCode,
  });
  iteration.phase = "over";
  if (fatal) {
    fail(life, code, message);
    return;
  }
  remember(life, { error: `${code}: ${message}` });
  goOn(life, code, message, `The previous attempt failed (${code}): ${message}`);
}

/** The iteration must be ended by force: its instance is still there. */
export function faultInFlight(life: Life, report: FaultReport): void {
  giveUpIteration(life);
  fault(life, report);
}

/** Adds to what the next iteration is told, if there can be one. */
function remember(life: Life, attempt: Omit<Parameters<typeof attemptOf>[0], "iteration">): void {
  const { iteration, state } = life;
  if (iteration.number >= state.header.max_iterations) return;
  const exit = iteration.exit_code === null ? {} : { exit_code: iteration.exit_code };
  life.append(historyLog, attemptOf({ iteration: iteration.number, ...exit, ...attempt }));
}

/** After a rejection or a fault: the next iteration, if the mode and the count allow one. */
function goOn(life: Life, code: string, reason: string, feedback: string): void {
  const { header, iteration } = life.state;
  iteration.phase = "over";
  if (header.mode === "one-shot") {
    fail(life, code, reason);
    return;
  }
  if (iteration.number >= header.max_iterations) {
    fail(life, "max_iterations_exceeded", reason);
    return;
  }
  const next = iteration.number + 1;
  life.emit("refinement_applied", { iteration_number: next, feedback, code_diff: {}, applied_at: life.at });
  life.state.iteration = freshIteration(next, shortened(`Refine: ${feedback}`), life.context.newId());
  runInstance(life, iteration.instance_id);
}
