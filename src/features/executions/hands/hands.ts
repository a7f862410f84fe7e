/**
 * `cmd.run` for callers other than the agent's loop: the command is run inside the instance of the execution, on
 * whichever node has it.
 */
import { execution } from "../../../../actors/execution/execution.ts";
import { type DispatchCommand, readCommand, within } from "../../../../actors/execution/loop/command.ts";
import type { Header } from "../../../../actors/execution/start/plan.ts";
import type { ExecutionState } from "../../../../actors/execution/state.ts";
import type { ExecResult, InsideCommand, Sandboxes } from "../../../adapters/sandbox/port.ts";
import type { Masker } from "../../../lib/masking/masker.ts";
import type { Address, Runtime } from "../../../runtime/port.ts";
import { type ExecutionClaims, egressUser } from "../../execution-tokens/port.ts";
import { noWayIn } from "../../tools/feature.ts";
import { executionRequired, outcomeOf, ToolFailure, type ToolOutcome, type ToolRequest } from "../../tools/port.ts";
import type { RequireListed } from "../directory.ts";
import { instanceEnvironment } from "../iteration/environment.ts";
import type { Plans } from "../plans.ts";
import type { ExecutionReferences } from "../references/references.ts";
import type { HandsOrder, HandsWire } from "./wire.ts";

export interface HandsOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Plans;
  readonly sandboxes: Pick<Sandboxes, "inspect" | "exec" | "of">;
  readonly references: Pick<ExecutionReferences, "environmentOf">;
  readonly maskerOf: (execution: Address) => Promise<Masker | null>;
  readonly mintEgressToken: (claims: ExecutionClaims) => Promise<string>;
  readonly requireListed: RequireListed;
  /** Address of the internal listener, once it is open. */
  readonly gatewayUrl: () => string;
  readonly wire: HandsWire;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** By PostgreSQL's clock. @throws Problem 503 while it is not known */
  readonly databaseNow: () => number;
}

/** How late another node may begin with a command, ms: rules that have changed meanwhile forbid it perhaps. */
const goodForMs = 3_000;

/** For what a command may take beyond its own time limit, s. */
const marginSeconds = 60;

export function createHands(options: HandsOptions) {
  const { runtime, sandboxes, wire, now, databaseNow } = options;
  const isLate = ({ good_until }: HandsOrder) => databaseNow() > good_until;
  wire.serve({
    holds: async (order) => !isLate(order) && (await sandboxes.inspect(order.instanceId)) === "running",
    run: async (order, signal) => (isLate(order) ? null : runHere(options, order, signal)),
  });

  /** @throws ToolFailure, ToolRefusal, the signal's reason */
  async function run(request: ToolRequest): Promise<ToolOutcome> {
    const { tenant, executionId, bounds, signal } = request;
    if (executionId === null) throw executionRequired(request.name);
    const read = readCommand(request.arguments);
    if ("issues" in read) {
      const issues = read.issues.map((issue) => ({ ...issue }));
      const text = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
      throw new ToolFailure("invalid_arguments", `cmd.run: ${text}`, { issues });
    }
    const state = await runtime.of(execution).at(tenant, executionId).read();
    const instanceId = runningInstance(state);
    if (state === null || instanceId === null) return noWayIn;
    await options.requireListed({ tenant, executionId, cwd: read.cwd, pathRules: bounds.pathRules });
    const command = bounded(read, state, bounds, now());
    const order: HandsOrder = { tenant, executionId, instanceId, command, good_until: databaseNow() + goodForMs };
    const here = (await sandboxes.inspect(instanceId)) === "running";
    await request.still?.();
    const result = here ? await runHere(options, order, signal) : await wire.ask(order, signal);
    if (result === null) return noWayIn;
    if (result === "lost")
      throw new ToolFailure("interrupted", "The node that ran the command does not answer any more");
    const masker = await options.maskerOf({ kind: execution.kind, key: executionId, tenant });
    return { status: "succeeded", result: shown(result, command, masker) };
  }

  return {
    /** As a provider of tools has it: never rejects for what the caller did wrong. */
    exec: (request: ToolRequest): Promise<ToolOutcome> => run(request).catch(outcomeOf),
  };
}

/** The instance that a command can be run in; null where there is none. */
function runningInstance(state: ExecutionState | null): string | null {
  if (state === null || state.header.inline === true) return null;
  const { phase, spawned, instance_id } = state.iteration;
  return phase === "running" && spawned ? instance_id : null;
}

/** Within what the caller's policy leaves, and the time of iteration and execution. */
function bounded(
  command: DispatchCommand,
  state: ExecutionState,
  { maxTimeoutSecs, maxResponseBytes }: ToolRequest["bounds"],
  now: number,
): DispatchCommand {
  const { deadline_at: iterationEnds } = state.iteration;
  let least: DispatchCommand = {
    ...command,
    timeout_secs: Math.min(command.timeout_secs, maxTimeoutSecs),
    max_output_bytes: Math.min(command.max_output_bytes, maxResponseBytes),
  };
  if (iterationEnds !== null) least = within(least, iterationEnds - now, "iteration");
  return state.deadline_at === null ? least : within(least, state.deadline_at - now, "execution");
}

/** @returns null where this node has no way into the instance any more */
async function runHere(options: HandsOptions, order: HandsOrder, signal: AbortSignal): Promise<ExecResult | null> {
  const { tenant, executionId, instanceId, command } = order;
  const actor = { kind: execution.kind, key: executionId, tenant };
  const [state, plan] = await Promise.all([
    options.runtime.of(execution).at(tenant, executionId).read(),
    options.plans.of(actor),
  ]);
  if (runningInstance(state) !== instanceId || state === null) return null;
  const { header } = state;
  const env = await options.references.environmentOf(actor, plan, header);
  const inside: InsideCommand = {
    request: { action: "exec", ...command },
    tenant,
    environment: instanceEnvironment(
      header,
      { ...plan, env },
      {
        executionId,
        tenant,
        iteration: state.iteration.number,
        history: [],
        // No command has one: what runs it takes it out of the address again.
        token: "none",
        gatewayUrl: options.gatewayUrl(),
      },
    ),
    egress: await egressOf(options, order, header),
  };
  return options.sandboxes.exec(instanceId, inside, signal);
}

async function egressOf(
  { sandboxes, mintEgressToken }: HandsOptions,
  { tenant, executionId, instanceId, command }: HandsOrder,
  { agent_id: agentId, runtime }: Header,
): Promise<InsideCommand["egress"]> {
  if (sandboxes.of(runtime.isolation)?.describe().egressEnforced !== true) return null;
  const livesSeconds = command.timeout_secs + marginSeconds;
  const password = await mintEgressToken({ executionId, agentId, tenant, instanceId, livesSeconds });
  return { username: egressUser, password };
}

function shown(
  { signal, stdout, stderr, ...result }: ExecResult,
  { dropped_env, notice }: DispatchCommand,
  masker: Masker | null,
) {
  const hidden = (text: string): string => (masker === null ? text : masker.mask(text));
  return {
    ...result,
    stdout: hidden(stdout),
    stderr: hidden(stderr),
    signal: signal ?? null,
    dropped_env: [...dropped_env],
    ...(notice === null ? {} : { notice }),
  };
}
