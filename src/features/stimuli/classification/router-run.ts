/**
 * The execution of a router agent: started, or joined where an earlier try began it, and followed to its end wherever
 * it runs. At the deadline it is cancelled.
 */

import { readEvent } from "../../../../actors/execution/events.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import type { StartRequest } from "../../../../actors/execution/start/request.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { RouterFailure } from "../../../../actors/stimulus/classification.ts";
import type { Address, LogEntry, Runtime } from "../../../runtime/port.ts";
import type { RouterEnd } from "./match.ts";

export interface RouterRunOptions {
  readonly executions: {
    /** The same id again is the same execution. @throws Problem when refused */
    startAs(executionId: string, fresh: boolean, request: StartRequest): Promise<unknown>;
  };
  readonly runtime: Pick<Runtime, "of">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface RouterRun {
  readonly tenant: string;
  readonly executionId: string;
  /** Whether the id cannot have been used before. */
  readonly fresh: boolean;
  readonly agentId: string;
  readonly input: Json;
  /** The person on whose behalf; null: no person. */
  readonly initiatingUserSub: string | null;
  /** Unix milliseconds. */
  readonly deadline: number;
}

/** What a cancelled router's record says. */
const overdue = "classification_timed_out";
/** Between tries at what a store or an actor did not answer, ms. */
const tryAgainMs = 300;
/** Tries to cancel an execution that is no longer waited for. */
const cancelTries = 100;

/**
 * Runs a router to its end, or to its deadline.
 * @param signal aborted when this node gives the work up; the execution goes on
 * @throws the signal's reason
 */
export function runRouter(options: RouterRunOptions, run: RouterRun, signal: AbortSignal): Promise<RouterEnd> {
  const { now } = options;
  const at = addressOf(run);
  return new Promise((resolve, reject) => {
    let isOver = false;
    let stop = () => {};
    const end = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      stop();
      settle();
    };
    const giveUp = () => end(() => reject(signal.reason));
    const timer = setTimeout(
      () =>
        end(() => {
          // Nothing may be left running, neither now nor once a start that is under way comes through.
          void starting.then(() => cancelRouter(options, at));
          resolve(late);
        }),
      Math.max(0, run.deadline - now()),
    );
    const starting = start(options, run, () => isOver).then((refusal) => {
      if (refusal !== null) end(() => resolve({ failure: refusal }));
      if (isOver) return;
      stop = follow(options, at, (found) => end(() => resolve(found)));
      // It may have been told at once.
      if (isOver) stop();
    });
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  });
}

const late: RouterEnd = {
  failure: { reason: "timed_out", message: "The router agent did not answer in time and was cancelled" },
};

/** Starts the execution, as often as it takes. @returns why it is refused for good, or null once it is there */
async function start(
  { executions, now }: RouterRunOptions,
  run: RouterRun,
  isOver: () => boolean,
): Promise<RouterFailure | null> {
  for (let { fresh } = run; now() < run.deadline; fresh = false) {
    try {
      await executions.startAs(run.executionId, fresh, requestOf(run));
      return null;
    } catch (error) {
      if (error instanceof Problem && error.status < 500 && error.status !== 429) {
        return { reason: "refused", message: `The router agent could not be started: ${error.code}` };
      }
    }
    await pause(tryAgainMs);
    if (isOver()) break;
  }
  return null;
}

function requestOf({ tenant, agentId, input, initiatingUserSub }: RouterRun): StartRequest {
  return {
    tenant,
    agentId,
    origin: { trigger: "stimulus", parent: null, workflow: null, initiatingUserSub, exempt: true },
    starter: null,
    input,
  };
}

/** Calls back once, when the execution has ended. @returns a function that ends it */
function follow({ runtime }: RouterRunOptions, at: Address, ended: (end: RouterEnd) => void): () => void {
  return runtime
    .of(execution)
    .at(at.tenant, at.key)
    .tail(0, (entries, isErased) => {
      const end = endIn(entries) ?? (isErased ? { failure: erased } : null);
      if (end !== null) ended(end);
    });
}

const erased: RouterFailure = { reason: "cancelled", message: "The router agent's execution was deleted" };

function endIn(entries: readonly LogEntry[]): RouterEnd | null {
  for (const { entry } of entries) {
    const event = readEvent(entry);
    if (event?.name === "execution_completed") return { output: event.fields.final_output };
    if (event?.name === "execution_failed") {
      // What else it says is for those who may read its record.
      return { failure: { reason: "failed", message: `The router agent failed: ${event.fields.error_code}` } };
    }
    if (event?.name === "execution_timed_out") {
      return { failure: { reason: "timed_out", message: "The router agent's own time ran out" } };
    }
    if (event?.name === "execution_cancelled") {
      return event.fields.reason === overdue
        ? late
        : { failure: { reason: "cancelled", message: "The router agent's execution was cancelled" } };
    }
  }
  return null;
}

/** Cancels an execution that may be under way. Never throws: while no actor answers it is tried again, for some time. */
export async function cancelRouter({ runtime }: Pick<RouterRunOptions, "runtime">, at: Address): Promise<void> {
  for (let tries = 0; tries < cancelTries; tries++) {
    try {
      await runtime.of(execution).at(at.tenant, at.key).ask("cancel", { reason: overdue }, { repeatable: true });
      return;
    } catch {
      await pause(tryAgainMs);
    }
  }
}

export function addressOf({ tenant, executionId }: Pick<RouterRun, "tenant" | "executionId">): Address {
  return { kind: execution.kind, key: executionId, tenant };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
