/** The activity `iteration.run`: one sandbox instance from its slot to its end. */
import { Value } from "@sinclair/typebox/value";
import { type InstanceEnd, IterationRun } from "../../actors/execution/activities.ts";
import { PickedUpReply } from "../../actors/execution/messages.ts";
import { HISTORY_LOG, type RuntimeFacts, type Warning } from "../../actors/execution/plan.ts";
import { renderPrompt } from "../../actors/execution/prompt.ts";
import type { ExecutionState } from "../../actors/execution/state.ts";
import type { AbortReason, ActivityContext, ActivityDefinition, Runtime } from "../runtime/port.ts";
import type { InstanceExit, Sandbox } from "../sandbox/port.ts";
import { ConsoleFeed } from "./console.ts";
import { instanceEnvironment } from "./environment.ts";
import type { Plans } from "./plans.ts";

export interface IterationRunOptions {
  readonly runtime: Pick<Runtime, "read" | "log">;
  readonly plans: Plans;
  readonly sandbox: Sandbox;
  /** Address of the internal listener, without a path, once it is open. */
  readonly gatewayUrl: Promise<string>;
  /** Signs the token that the instance identifies itself with at the gateway. */
  readonly mintToken: (claims: ExecutionClaims) => Promise<string>;
  /** SVC_MAX_INSTANCES */
  readonly maxInstances: number;
}

/** Whom an execution token speaks for, and until when. */
export interface ExecutionClaims {
  readonly executionId: string;
  readonly agentId: string;
  readonly tenant: string;
  readonly instanceId: string;
  /** Unix ms; the token outlives it by the contract's margin. */
  readonly deadlineAt: number;
}

/** A pending execution waits this long for a slot. */
const queueTimeoutMs = 600_000;
const graceMs = 5_000;
/** An ended instance is kept until its end is surely committed; the orphan sweep takes what a crash leaves. */
const removeAfterMs = 10_000;
const historyPage = 100;

const notStarted: InstanceEnd = {
  reason: "terminated",
  exit_code: null,
  stdout: "",
  stdout_truncated: false,
  stderr: "",
};
const lost: InstanceEnd = { ...notStarted, reason: "lost" };

export function iterationRunActivity(options: IterationRunOptions): ActivityDefinition {
  const { sandbox } = options;
  return {
    name: "iteration.run",
    concurrency: options.maxInstances,
    queueTimeoutMs,
    retry: { attempts: 5, firstDelayMs: 500 },
    hostBound: true,
    run: async (input, context) => {
      const work = Value.Parse(IterationRun, input);
      try {
        context.signal.throwIfAborted();
        if (work.replaces !== null) await endInstance(sandbox, work.replaces);
        return await runIteration(options, work, context);
      } catch (error) {
        // Another node of this host goes on with the instance.
        if (!context.signal.aborted || reasonOf(context.signal) === "draining") throw error;
        await endInstance(sandbox, work.instance_id);
        return notStarted;
      }
    },
  };
}

async function runIteration(
  options: IterationRunOptions,
  work: IterationRun,
  context: ActivityContext,
): Promise<InstanceEnd> {
  const { sandbox } = options;
  const { instance_id } = work;
  const { signal } = context;
  const facts = await describeRuntime(options, context);
  const reply = Value.Parse(PickedUpReply, await context.ask("picked_up", { instance_id, ...facts }));
  if (!reply.proceed) {
    await endInstance(sandbox, instance_id);
    return notStarted;
  }
  signal.throwIfAborted();
  const { state } = await stateOf(options.runtime, context);
  if ((await sandbox.inspect(instance_id)) === "gone") {
    if (state.iteration.spawned) return lost;
    await launch(options, work, context, state, reply.deadline_at);
  }
  await context.tell("instance_spawned", { instance_id });
  const known = reply.console.stdout + reply.console.stderr;
  const feed = new ConsoleFeed((news) => context.tell("console", { instance_id, ...news }), known);
  try {
    const exit = await sandbox.follow(instance_id, {
      signal,
      from: reply.console,
      onOutput: (chunk) => feed.add(chunk),
    });
    await feed.finish();
    setTimeout(() => void sandbox.remove(instance_id).catch(() => {}), removeAfterMs);
    return endOf(exit);
  } finally {
    feed.abandon();
  }
}

async function launch(
  { runtime, plans, sandbox, ...options }: IterationRunOptions,
  work: IterationRun,
  { actor }: ActivityContext,
  { header }: ExecutionState,
  deadlineAt: number,
): Promise<void> {
  const plan = await plans.of(actor);
  const entries = await runtime.log(actor, HISTORY_LOG, 0, historyPage);
  const history = entries.map(({ entry }) => entry);
  const token = await options.mintToken({
    executionId: work.execution_id,
    agentId: header.agent_id,
    tenant: actor.tenant,
    instanceId: work.instance_id,
    deadlineAt,
  });
  await sandbox.launch({
    instanceId: work.instance_id,
    executionId: work.execution_id,
    tenant: actor.tenant,
    environment: instanceEnvironment(header, plan, {
      executionId: work.execution_id,
      tenant: actor.tenant,
      iteration: work.iteration,
      history,
      token,
      gatewayUrl: await options.gatewayUrl,
    }),
    prompt: renderPrompt(plan, {
      intent: header.intent,
      iteration: work.iteration,
      maxIterations: header.max_iterations,
      history,
    }),
    limits: {
      cpuMillicores: plan.resources.cpu_millicores,
      memoryBytes: plan.resources.memory_bytes,
      diskBytes: plan.resources.disk_bytes,
      processes: plan.resources.processes,
    },
  });
}

/** What this node adds to the record: where the agent lives, and what it cannot hold it to. */
async function describeRuntime(
  { sandbox, runtime }: IterationRunOptions,
  context: ActivityContext,
): Promise<{ runtime: RuntimeFacts; warnings: Warning[] }> {
  const { isolation, sandbox: kind, egressEnforced, unenforcedLimits } = sandbox.describe();
  const { state } = await stateOf(runtime, context);
  const warnings: Warning[] = [];
  if (kind === "none") warnings.push({ code: "unsandboxed", message: "The agent runs without a sandbox on this node" });
  if (unenforcedLimits.length > 0) {
    warnings.push({
      code: "limit_not_enforced",
      message: `This node does not enforce: ${unenforcedLimits.join(", ")}`,
    });
  }
  const { image } = state.header.runtime;
  return { runtime: { isolation, image, sandbox: kind, egress_enforced: egressEnforced }, warnings };
}

async function stateOf(runtime: Pick<Runtime, "read">, { actor }: ActivityContext): Promise<{ state: ExecutionState }> {
  const stored = await runtime.read(actor);
  if (!stored) throw new Error(`execution ${actor.key} is gone`);
  // The runtime checked it against the actor's schema when it was written.
  return { state: stored.state as unknown as ExecutionState };
}

/** Ends an instance and takes away what is left of it. Repeatable. */
export async function endInstance(sandbox: Sandbox, instanceId: string): Promise<void> {
  await sandbox.terminate(instanceId, graceMs);
  await sandbox.remove(instanceId);
}

function endOf({ reason, exitCode, stdout, stdoutTruncated, stderr }: InstanceExit): InstanceEnd {
  return { reason, exit_code: exitCode, stdout, stdout_truncated: stdoutTruncated, stderr };
}

const reasonOf = (signal: AbortSignal): AbortReason => signal.reason as AbortReason;
