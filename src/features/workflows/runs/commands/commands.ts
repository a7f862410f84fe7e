/**
 * The activity `workflow.command`: one command of a state in a sandbox of this node (docs/reference/workflows.md).
 *
 * A command is run at most once per attempt, even if nodes are lost: the host notes down before each step how
 * far it came (`attempts.ts`). What still runs when its node dies is followed by the next one; what is gone by then was
 * interrupted. Only `retry` makes it run again, after faults that lie outside the command.
 */
import { type CommandEnd, type CommandRun, commandRun } from "../../../../../actors/workflow/run/activities.ts";
import type { Activity, ActivityContext } from "../../../../runtime/port.ts";
import { implement } from "../../../../runtime/port.ts";
import { endInstance } from "../../../executions/port.ts";
import { Attempt } from "./attempt.ts";
import { type AttemptRecord, Attempts, instanceOf } from "./attempts.ts";
import { placeOf } from "./place.ts";
import { isFault, nothingOf } from "./result.ts";
import type { CommandOptions } from "./spec.ts";

/** A command waits this long for a slot. */
const queueTimeoutMs = 600_000;
/** What was given up is gone within 5 s. */
const abandonedGraceMs = 2_000;
/** An ended sandbox is kept until its end is committed, and for a while more; the sweep takes what a crash leaves. */
const removeAfterMs = 10_000;
const longestBackoffMs = 30_000;

export function commandActivity(options: CommandOptions): Activity {
  const attempts = new Attempts(options.dataDir);
  return implement(
    commandRun,
    {
      concurrency: options.maxCommands,
      queueTimeoutMs,
      // Of what this node cannot do now; a command's own attempts are counted apart.
      retry: { attempts: 5, firstDelayMs: 500 },
      hostBound: true,
    },
    async (work, context) => {
      try {
        context.signal.throwIfAborted();
        return await runCommand(options, attempts, work, context);
      } catch (error) {
        // Another node of this host goes on with it.
        if (!context.signal.aborted || context.signal.reason === "draining") throw error;
        await giveUp(options, attempts, work, context);
        throw error;
      }
    },
  );
}

async function runCommand(
  options: CommandOptions,
  attempts: Attempts,
  work: CommandRun,
  context: ActivityContext,
): Promise<CommandEnd> {
  const place = placeOf(work, options);
  if (!place.ok) return { ...nothingOf(place.error), attempts: 0, warnings: [] };
  const { warnings } = place;
  let known = await knownAttempt(options, attempts, work, context);
  let ranMs = known?.ranMs ?? 0;
  for (let number = known?.number ?? 1; ; number += 1) {
    const attempt = new Attempt(options, attempts, work, context, place, number, ranMs);
    const end =
      known?.phase === "failed" ? { fault: known.error ?? "interrupted", message: "" } : await attempt.run(known);
    if (!isFault(end)) {
      context.onceTaken(() => removeLater(options, attempts, work, number));
      return { ...end, sandbox_ms: ranMs + end.duration_ms, attempts: number, warnings: [...warnings] };
    }
    const failedAt = known?.phase === "failed" ? known.at : await attempt.note("failed", end.fault);
    if (known?.phase !== "failed") ranMs = attempt.ranUntil(failedAt);
    await attempts.removeWorkspace(work.instance_id, number);
    if (number >= work.retry.max_attempts) {
      const shown = { stderr: end.message, attempts: number, warnings: [...warnings] };
      return { ...nothingOf(end.fault), ...shown, sandbox_ms: ranMs };
    }
    await until(failedAt + backoff(work, number), options.now, context.signal);
    known = null;
  }
}

/** What is known of the latest attempt. On a host that did not begin it, it is lost: it may have run elsewhere. */
async function knownAttempt(
  { now }: CommandOptions,
  attempts: Attempts,
  { instance_id }: CommandRun,
  { actor, moved }: ActivityContext,
): Promise<AttemptRecord | null> {
  const known = await attempts.read(instance_id);
  if (known !== null || !moved) return known;
  const lost: AttemptRecord = {
    executionId: actor.key,
    number: 1,
    phase: "failed",
    at: now(),
    error: "interrupted",
    machine: "",
  };
  await attempts.write(instance_id, lost);
  return lost;
}

const backoff = ({ retry }: CommandRun, attempt: number): number =>
  Math.min(longestBackoffMs, retry.backoff_ms ?? attempt * 1_000);

/** @throws the signal's reason when that is aborted first */
async function until(at: number, now: () => number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, Math.min(longestBackoffMs, Math.max(0, at - now())));
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
  signal.throwIfAborted();
}

/** Ends what runs and takes it away. */
async function giveUp(
  { sandboxes, now, used }: CommandOptions,
  attempts: Attempts,
  { instance_id, workflow_name, timeout_ms }: CommandRun,
  { actor }: ActivityContext,
): Promise<void> {
  const known = await attempts.read(instance_id);
  const instance = instanceOf(instance_id, known?.number ?? 1);
  await sandboxes.terminate(instance, abandonedGraceMs);
  await endInstance(sandboxes, instance);
  // Nothing is stored of a command that was given up but this.
  const own = known?.phase === "launched" ? Math.min(Math.max(0, now() - known.at), timeout_ms) : 0;
  const ranMs = (known?.ranMs ?? 0) + own;
  if (ranMs > 0) await used(actor.tenant, { instanceId: instance_id, workflow: workflow_name, ranMs });
  await attempts.forget(instance_id);
}

/** What the host noted down stays until the sweep: without it the command could be run once more. */
function removeLater(options: CommandOptions, attempts: Attempts, { instance_id }: CommandRun, number: number): void {
  const remove = async () => {
    await options.sandboxes.remove(instanceOf(instance_id, number));
    await attempts.removeWorkspace(instance_id, number);
  };
  setTimeout(() => void remove().catch(() => {}), removeAfterMs).unref();
}
