/** The activity `iteration.run`: one sandbox instance from its slot to its end. */

import { type InstanceEnd, type IterationRun, iterationRunAt } from "../../../../actors/execution/activities.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import { executionProtocol, type PickedUpReply } from "../../../../actors/execution/messages.ts";
import { maxDepth, type RuntimeFacts, type Warning } from "../../../../actors/execution/start/plan.ts";
import type { ExecutionState } from "../../../../actors/execution/state.ts";
import { type Issue, Problem } from "../../../../actors/kernel/problem.ts";
import type { Room } from "../../../../actors/policy/storage-room.ts";
import {
  type InstanceExit,
  type Instances,
  LaunchFailure,
  type LaunchNews,
  type OutputChunk,
  type Sandbox,
  type Sandboxes,
  startupFailure,
  weaknessesOf,
} from "../../../adapters/sandbox/port.ts";
import { untilRoom } from "../../../lib/files/disk-room.ts";
import { MaskedStream } from "../../../lib/masking/masked-stream.ts";
import type { Masker } from "../../../lib/masking/masker.ts";
import {
  type AbortReason,
  type Activity,
  type ActivityContext,
  implement,
  type Runtime,
  Terminal,
} from "../../../runtime/port.ts";
import { type StorageViolations, writtenTooMuch } from "../../storage-violations/port.ts";
import type { Volumes } from "../../volumes/port.ts";
import type { ExecutionReferences } from "../references/references.ts";
import { ConsoleFeed } from "./console.ts";
import { instanceSpec, type LaunchParts, pullMessage } from "./launch.ts";
import type { Parking } from "./parking.ts";

export interface IterationRunOptions extends LaunchParts {
  readonly references: Pick<ExecutionReferences, "environmentOf" | "registryLoginOf" | "maskerOf" | "knows">;
  readonly sandboxes: Sandboxes;
  /** Watches how large the volumes of a run grow. @returns a function that ends it */
  readonly watchVolumes: Volumes["watchLimits"];
  /** An instance ended: what it left is put into the volumes that it mounted. */
  readonly instanceEnded: (instanceId: string, signal: AbortSignal | null) => Promise<"written" | "no_room">;
  readonly recordViolation: StorageViolations["recordViolation"];
  readonly parking: Pick<Parking, "watch">;
  /** SVC_MAX_INSTANCES */
  readonly maxInstances: number;
  /** Whether this node's disk can take what an instance needs. */
  readonly hasRoom: () => boolean;
}

/** A pending execution waits this long for a slot. */
export const queueTimeoutMs = 600_000;
const graceMs = 5_000;
/** How often an execution that waits for room on the disk looks for it. */
const roomLookMs = 1_000;
/**
 * An ended instance is kept until its end is committed, which may take as long as a store is away: a node that goes on
 * with it finds it. Then for a while more, for a database that loses its last commits. The sweep takes what a crash leaves.
 */
const removeAfterMs = 10_000;

export const notStarted: InstanceEnd = {
  reason: "terminated",
  exit_code: null,
  stdout: "",
  stdout_truncated: false,
  stderr: "",
};
const lost: InstanceEnd = { ...notStarted, reason: "lost" };

/** That an instance is to be launched is believed for so long at first, ms; twice as long after each further question. */
const believedMs = 1_000;

/** Slots of each generation of children, as a share of those of the roots. */
const childShare = 1 / 4;

const childSlotsOf = (maxInstances: number): number => Math.ceil(maxInstances * childShare);

/** Instances that a node has at once at most, those of children among them. */
export const mostInstances = (maxInstances: number): number => maxInstances + maxDepth * childSlotsOf(maxInstances);

export function iterationRunActivities(options: IterationRunOptions): readonly Activity[] {
  const { maxInstances } = options;
  const childSlots = childSlotsOf(maxInstances);
  return Array.from({ length: maxDepth + 1 }, (_, depth) =>
    activity(options, iterationRunAt(depth), depth === 0 ? maxInstances : childSlots),
  );
}

function activity(
  options: IterationRunOptions,
  definition: ReturnType<typeof iterationRunAt>,
  concurrency: number,
): Activity {
  const { sandboxes } = options;
  return implement(
    definition,
    { concurrency, queueTimeoutMs, retry: { attempts: 5, firstDelayMs: 500 }, hostBound: true },
    async (work, context) => {
      try {
        context.signal.throwIfAborted();
        if (work.replaces !== null) await endInstance(sandboxes, work.replaces);
        return await runIteration(options, work, context);
      } catch (error) {
        if (error instanceof LaunchFailure) throw new Terminal(error.code, error.message);
        if (error instanceof Problem && error.status < 500) throw new Terminal(error.code, toldIssues(error));
        // Another node of this host goes on with the instance.
        if (!context.signal.aborted || reasonOf(context.signal) === "draining") throw error;
        await endInstance(sandboxes, work.instance_id);
        // What cannot be written back now, the node's round does once the execution is over.
        await options.instanceEnded(work.instance_id, null).catch(() => {});
        return notStarted;
      }
    },
  );
}

async function runIteration(
  options: IterationRunOptions,
  work: IterationRun,
  context: ActivityContext,
): Promise<InstanceEnd> {
  const { instance_id } = work;
  const { signal } = context;
  await roomFor(options, work, signal);
  const begun = await stateOf(options.runtime, context);
  const sandbox = sandboxOf(options.sandboxes, begun);
  const look = () => lookAround(sandbox, options, work, context, begun);
  let seen = await look();
  const isFound = seen.kind === "there";
  if (seen.kind === "free") {
    const found = seen;
    // Of a launch that found the disk full nothing is left.
    seen = await untilRoom(() => launch(sandbox, options, work, context, { found, look }), signal);
  }
  if (seen.kind === "over") {
    await endInstance(options.sandboxes, instance_id);
    return notStarted;
  }
  if (seen.kind === "lost") return lost;
  // Launched by another node with a value that was replaced since: nothing here could hide it.
  if (isFound && !(await options.references.knows(context.actor, begun.iteration.started_at))) {
    await endInstance(options.sandboxes, instance_id);
    return lost;
  }
  const { reply } = seen;
  const actor = context.of(executionProtocol);
  await actor.tell("instance_spawned", { instance_id });
  const known = reply.console.stdout + reply.console.stderr;
  const seenFull: { room: Room | null } = { room: null };
  const plan = await options.plans.of(context.actor);
  const endWatch = options.watchVolumes({
    tenant: context.actor.tenant,
    executionId: work.execution_id,
    plan,
    hold: <T>(work: () => Promise<T>) => (sandbox.hold === undefined ? work() : sandbox.hold(instance_id, work)),
    exceeded: (room) => {
      seenFull.room = room;
      void sandbox.terminate(instance_id, 0).catch(() => {});
    },
  });
  const feed = new ConsoleFeed((news) => actor.tell("console", { instance_id, ...news }), known);
  const shown = hidingOutput(await options.references.maskerOf(context.actor), feed);
  const { slot } = context;
  const endParking = await options.parking.watch(
    { actor: context.actor, instanceId: instance_id, sandbox, slot },
    isFound,
  );
  try {
    const exit = await sandbox.follow(instance_id, {
      signal,
      from: reply.console,
      onOutput: shown.add,
    });
    shown.end();
    await feed.finish();
    // Before the end is told: what an iteration is said to have done is in its volumes, wherever the next one runs.
    const landed = await options.instanceEnded(instance_id, signal);
    const remove = () => void sandbox.remove(instance_id).catch(() => {});
    context.onceTaken(() => void setTimeout(remove, removeAfterMs).unref());
    const startup = exit.reason === "exited" ? startupFailure(exit) : null;
    if (startup !== null && plan.startup_script !== null) {
      throw new Terminal("startup_script_failed", startup);
    }
    const room = seenFull.room ?? (landed === "no_room" ? landed : null);
    if (room === null && exit.reason !== "disk_exceeded") return endOf(exit);
    options.recordViolation(
      writtenTooMuch(context.actor.tenant, work.execution_id, instance_id, room, plan.resources.disk_bytes),
    );
    return endOf({ ...exit, reason: "disk_exceeded" });
  } finally {
    endParking();
    endWatch();
    feed.abandon();
  }
}

type PickedUp = Extract<PickedUpReply, { proceed: true }>;

/** What is to be done with an instance, as the execution and this host know it. */
type Seen =
  /** The execution does without it. */
  | { readonly kind: "over" }
  /** It ran, and nothing is left of it. */
  | { readonly kind: "lost" }
  /** It is to be launched, as was asked at `askedAt`, monotonic milliseconds. */
  | Free
  | { readonly kind: "there"; readonly reply: PickedUp };

interface Free {
  readonly kind: "free";
  readonly reply: PickedUp;
  readonly state: ExecutionState;
  readonly askedAt: number;
}

async function lookAround(
  sandbox: Sandbox,
  { runtime }: IterationRunOptions,
  { instance_id }: IterationRun,
  context: ActivityContext,
  begun: ExecutionState,
): Promise<Seen> {
  const askedAt = performance.now();
  const facts = describeRuntime(sandbox, begun);
  const reply = await context.of(executionProtocol).ask("picked_up", { instance_id, ...facts });
  if (!reply.proceed) return { kind: "over" };
  context.signal.throwIfAborted();
  const state = await stateOf(runtime, context);
  if ((await sandbox.inspect(instance_id)) !== "gone") return { kind: "there", reply };
  // Another host was told to launch it and may do so yet: this one takes another instance, which makes that one's token void.
  const isElsewhere = context.moved && begun.iteration.phase === "running";
  return state.iteration.spawned || isElsewhere ? { kind: "lost" } : { kind: "free", reply, state, askedAt };
}

/** An execution's time begins when there is room for what it needs; until then it waits as it does for a slot. */
async function roomFor(
  { sandboxes, hasRoom }: IterationRunOptions,
  { instance_id }: IterationRun,
  signal: AbortSignal,
): Promise<void> {
  const givesUpAt = performance.now() + queueTimeoutMs;
  while (!hasRoom()) {
    // It is there already: this activity goes on with it.
    if (signal.aborted || (await sandboxes.inspect(instance_id)) !== "gone") break;
    if (performance.now() > givesUpAt) throw new Terminal("queue_timeout", "No room on the disk of this node in time");
    await Bun.sleep(roomLookMs);
  }
  signal.throwIfAborted();
}

/**
 * @param look says again what is to be done, as `found` did
 * @returns what it said last: the instance runs where that is `free` or `there`
 * @throws LaunchFailure when the instance cannot be started
 */
async function launch(
  sandbox: Sandbox,
  options: IterationRunOptions,
  work: IterationRun,
  context: ActivityContext,
  { found, look }: { readonly found: Free; readonly look: () => Promise<Seen> },
): Promise<Seen> {
  const { instance_id } = work;
  // In order, and before the outcome of the launch.
  let told: Promise<unknown> = Promise.resolve();
  const actor = context.of(executionProtocol);
  const report = (news: LaunchNews) => {
    told = told.then(() => actor.tell("image_pull", { instance_id, news: pullMessage(news) })).catch(() => {});
  };
  try {
    const description = sandbox.describe();
    const { state } = found;
    const spec = await instanceSpec(options, work, context, state.header, description);
    let seen = found;
    let validMs = believedMs;
    const isOld = () => performance.now() - seen.askedAt > validMs;
    // A node that was frozen meanwhile may come after another one that ran the instance, told of its end and removed it.
    // Where the question itself takes long, the answer is believed for longer, so that the instance is launched at last.
    for (; isOld(); validMs *= 2) {
      const again = await look();
      if (again.kind !== "free") return again;
      seen = again;
    }
    context.signal.throwIfAborted();
    await sandbox.launch(spec, report);
    if (!isOld()) return seen;
    // It may have been frozen within the launch, or that took long: what is not wanted any more ends at once.
    const now = await look();
    return now.kind === "free" ? seen : now;
  } finally {
    await told;
  }
}

/** @throws Terminal where this node does not give what the execution was promised at its start */
function sandboxOf(sandboxes: Sandboxes, { header }: ExecutionState): Sandbox {
  const { isolation } = header.runtime;
  const sandbox = sandboxes.of(isolation);
  if (sandbox === null) throw new Terminal("runtime_error", `This node does not offer ${isolation}`);
  return sandbox;
}

/** What this node adds to the record: where the agent lives, and what it cannot hold it to. */
function describeRuntime(sandbox: Sandbox, { header }: ExecutionState): { runtime: RuntimeFacts; warnings: Warning[] } {
  const description = sandbox.describe();
  const { isolation, sandbox: kind, egressEnforced } = description;
  const { image } = header.runtime;
  const runtime = { isolation, image, sandbox: kind, egress_enforced: egressEnforced };
  return { runtime, warnings: weaknessesOf(description).map((one) => ({ ...one })) };
}

async function stateOf(runtime: Pick<Runtime, "of">, { actor }: ActivityContext): Promise<ExecutionState> {
  const state = await runtime.of(execution).at(actor.tenant, actor.key).read();
  if (state === null) throw new Error(`execution ${actor.key} is gone`);
  return state;
}

/** Ends an instance and takes away what is left of it. Repeatable. */
export async function endInstance(
  instances: Pick<Instances, "terminate" | "remove">,
  instanceId: string,
): Promise<void> {
  await instances.terminate(instanceId, graceMs);
  await instances.remove(instanceId);
}

export function endOf({ reason, exitCode, stdout, stdoutTruncated, stderr }: InstanceExit): InstanceEnd {
  return { reason, exit_code: exitCode, stdout, stdout_truncated: stdoutTruncated, stderr };
}

/** What is wrong with each reference; the issues name them. */
function toldIssues({ message, extras }: Problem): string {
  const issues = (extras.issues ?? []) as readonly Issue[];
  return issues.length === 0 ? message : issues.map((issue) => issue.message).join("; ");
}

/** Output on its way to the feed with values hidden that may be split over its chunks. */
function hidingOutput(masker: Masker | null, feed: Pick<ConsoleFeed, "add">) {
  const streams = masker === null ? null : { stdout: new MaskedStream(masker), stderr: new MaskedStream(masker) };
  return {
    add(chunk: OutputChunk): void {
      const shown = streams === null ? chunk : streams[chunk.stream].add(chunk);
      if (shown !== null) feed.add({ ...chunk, ...shown });
    },
    end(): void {
      for (const stream of ["stdout", "stderr"] as const) {
        const rest = streams?.[stream].end() ?? null;
        if (rest !== null) feed.add({ stream, ...rest });
      }
    },
  };
}

const reasonOf = (signal: AbortSignal): AbortReason => signal.reason as AbortReason;
