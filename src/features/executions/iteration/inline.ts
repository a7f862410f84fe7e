/**
 * The activity `iteration.run.inline`: executions whose agent brings nothing to run (`needsNoInstance`).
 *
 * A router that only has to name a workflow would otherwise have a sandboxed process started for one question and one
 * answer, which takes some ten times as much of the node as all the rest of it. The node carries the prompt to the
 * gateway itself (`src/adapters/sandbox/inline`); nothing that an agent or its author wrote is run in it.
 */
import { type InstanceEnd, inlineRun } from "../../../../actors/execution/activities.ts";
import { iterationTimedOut } from "../../../../actors/execution/iteration/instance.ts";
import { executionProtocol, type PickedUpReply } from "../../../../actors/execution/messages.ts";
import { type InstanceSpec, LaunchFailure, type Sandbox } from "../../../adapters/sandbox/port.ts";
import { type Activity, implement, Terminal } from "../../../runtime/port.ts";
import { endOf, notStarted, queueTimeoutMs } from "./iteration-run.ts";
import { instanceSpec, type LaunchParts } from "./launch.ts";

export interface InlineRunOptions extends LaunchParts {
  readonly inline: Sandbox;
  /** Unix milliseconds. */
  readonly now: () => number;
}

type PickedUp = Extract<PickedUpReply, { proceed: true }>;

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
      const late =
        iteration_deadline_at === null
          ? new Terminal("execution_timeout", "The execution took too long")
          : new Terminal("iteration_timeout", iterationTimedOut(header.iteration_timeout_ms));
      const dueIn = ({ deadline_at, inline }: PickedUp) => (inline?.iteration_deadline_at ?? deadline_at) - now();
      // A deadline stands still while tool calls wait for people: where it has moved, there is time left.
      const left = async () => {
        const again = await actor.ask("picked_up", { instance_id: work.instance_id, ...facts });
        return again.proceed ? dueIn(again) : 0;
      };
      return within(context.signal, dueIn(reply), left, late, (signal) => {
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

/** A timer that waits longer than this fires at once. */
const longestTimerMs = 2_000_000_000;
/** While the execution cannot be asked, its time is not up: it is asked again. */
const askAgainMs = 5_000;

/**
 * Acts under a signal that is aborted with the given one, or with `late` once the time is up.
 * @param ms until it is
 * @param left how much there is then, ms: none, unless the deadline has moved
 */
async function within<T>(
  signal: AbortSignal,
  ms: number,
  left: () => Promise<number>,
  late: Error,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const cut = new AbortController();
  const follow = () => cut.abort(signal.reason);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const wait = (forMs: number) => {
    if (isOver) return;
    timer = setTimeout(() => void look(), Math.min(longestTimerMs, Math.max(0, forMs)));
  };
  const look = async () => {
    const more = await left().catch(() => askAgainMs);
    if (more > 0) wait(more);
    else cut.abort(late);
  };
  wait(ms);
  signal.addEventListener("abort", follow, { once: true });
  if (signal.aborted) follow();
  try {
    return await act(cut.signal);
  } finally {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
}
