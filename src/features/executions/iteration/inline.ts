/**
 * The activity `iteration.run.inline`: executions whose agent brings nothing to run (`needsNoInstance`).
 *
 * A router that only has to name a workflow would otherwise have a sandboxed process started for one question and one
 * answer, which takes some ten times as much of the node as all the rest of it. The node carries the prompt to the
 * gateway itself (`src/adapters/sandbox/inline`); nothing that an agent or its author wrote is run in it.
 */
import { type InstanceEnd, inlineRun } from "../../../../actors/execution/activities.ts";
import { iterationTimedOut } from "../../../../actors/execution/instance.ts";
import { executionProtocol } from "../../../../actors/execution/messages.ts";
import { type InstanceSpec, LaunchFailure, type Sandbox } from "../../../adapters/sandbox/port.ts";
import { type Activity, implement, Terminal } from "../../../runtime/port.ts";
import { endOf, notStarted, queueTimeoutMs } from "./iteration-run.ts";
import { instanceSpec, type LaunchParts } from "./launch.ts";

export interface InlineRunOptions extends LaunchParts {
  readonly inline: Sandbox;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Waiting for a model costs a node next to nothing. */
const concurrency = 256;

export function inlineRunActivity(options: InlineRunOptions): Activity {
  const { inline, now } = options;
  const description = inline.describe();
  const { isolation, sandbox, egressEnforced } = description;
  const facts = { runtime: { isolation, image: null, sandbox, egress_enforced: egressEnforced }, warnings: [] };
  return implement(
    inlineRun,
    {
      concurrency,
      queueTimeoutMs,
      retry: { attempts: 5, firstDelayMs: 500 },
    },
    async (work, context) => {
      context.signal.throwIfAborted();
      const actor = context.of(executionProtocol);
      const reply = await actor.ask("picked_up", { instance_id: work.instance_id, ...facts });
      if (!reply.proceed || reply.inline === undefined) return notStarted;
      const { header, iteration_deadline_at } = reply.inline;
      const dueAt = iteration_deadline_at ?? reply.deadline_at;
      const late =
        iteration_deadline_at === null
          ? new Terminal("execution_timeout", "The execution took too long")
          : new Terminal("iteration_timeout", iterationTimedOut(header.iteration_timeout_ms));
      return within(context.signal, dueAt - now(), late, (signal) => {
        const prepare = () => instanceSpec(options, work, { ...context, signal }, header, description);
        return converse(inline, work.instance_id, signal, prepare);
      });
    },
  );
}

/** @throws the signal's reason, Terminal */
async function converse(
  inline: Sandbox,
  instanceId: string,
  signal: AbortSignal,
  prepare: () => Promise<InstanceSpec>,
): Promise<InstanceEnd> {
  try {
    const spec = await prepare();
    signal.throwIfAborted();
    await inline.launch(spec, () => {});
    // There is no console: what it says is its output.
    return endOf(await inline.follow(instanceId, { signal, from: { stdout: 0, stderr: 0 }, onOutput() {} }));
  } catch (error) {
    if (error instanceof LaunchFailure) throw new Terminal(error.code, error.message);
    throw error;
  } finally {
    // Nothing of it outlives this attempt: the next one, wherever it is, launches it anew and goes on.
    await inline.remove(instanceId);
  }
}

/** Acts under a signal that is aborted with the given one, or with `late` after `ms`. */
async function within<T>(
  signal: AbortSignal,
  ms: number,
  late: Error,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const cut = new AbortController();
  const follow = () => cut.abort(signal.reason);
  const timer = setTimeout(() => cut.abort(late), Math.max(0, ms));
  signal.addEventListener("abort", follow, { once: true });
  if (signal.aborted) follow();
  try {
    return await act(cut.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
}
