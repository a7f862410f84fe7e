/** The activity `workflow.agent`: a run starts an agent, a judge or an output handler as an execution below itself. */

import { isServiceAgent, type ServiceAgentName } from "../../../../../actors/agent/of-service.ts";
import { execution } from "../../../../../actors/execution/execution.ts";
import { type JudgedRun, judgeInput } from "../../../../../actors/execution/judging/judge-verdict.ts";
import type { AgentReference, StartRequest } from "../../../../../actors/execution/start/request.ts";
import { trimText } from "../../../../../actors/execution/trim.ts";
import { isObject, type Json } from "../../../../../actors/kernel/json.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { rateUserIn } from "../../../../../actors/policy/rates/counted.ts";
import { type AgentStart, agentStart } from "../../../../../actors/workflow/run/activities.ts";
import { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import { callerOf } from "../../../../../actors/workflow/run/start/request.ts";
import type { RunHeader } from "../../../../../actors/workflow/run/state.ts";
import { isUuid } from "../../../../http/route.ts";
import {
  type Activity,
  type ActivityContext,
  type Address,
  implement,
  isServiceAway,
  Retryable,
  type Runtime,
  Terminal,
} from "../../../../runtime/port.ts";
import type { JudgedFacts } from "../../../executions/port.ts";
import { isPipeline } from "../intents/pipeline.ts";
import { runOf } from "../items/run-of.ts";

export interface AgentStartOptions {
  readonly runtime: Pick<Runtime, "of">;
  /** `startAs` of the executions. The same id again is the same execution. */
  readonly start: (executionId: string, request: StartRequest) => Promise<{ readonly agent_id: string }>;
  /** See `judgedFacts` of the executions. */
  readonly judged: (execution: Address) => Promise<JudgedFacts | null>;
  readonly now: () => number;
  /** Pause before the second attempt; it doubles, up to a minute. 1000 when absent. */
  readonly firstDelayMs?: number;
}

/** Attempts for faults of the service itself; what is away or has no room is asked again for as long as it takes. */
const maxFaults = 3;
/** Pause after the first fault; it doubles. */
const faultPauseMs = 5_000;
/** Kinds of initiators that are no person's login. */
const impersonal: readonly string[] = ["agent", "webhook", "workflow"];

export function agentStartActivity(options: AgentStartOptions): Activity {
  const { runtime, firstDelayMs = 1000 } = options;
  const faults = new Map<string, number>();

  async function start(work: AgentStart, { id, actor }: ActivityContext): Promise<{ agent_id: string }> {
    try {
      const request = await requestOf(options, actor, work);
      const { agent_id } = await options.start(work.child_execution_id, request);
      faults.delete(id);
      return { agent_id };
    } catch (error) {
      throw failureOf(error, id, work);
    }
  }

  function failureOf(error: unknown, id: string, work: AgentStart): unknown {
    const isRefusal = error instanceof Problem && error.status < 500;
    const lacksRoom = isRefusal && error.status === 429;
    if (lacksRoom && options.now() < work.start_by) return error;
    if (isServiceAway(error)) return error;
    const before = faults.get(id) ?? 0;
    faults.delete(id);
    if (isRefusal) return new Terminal(error.code, error.message);
    if (error instanceof Terminal) return error;
    if (before + 1 >= maxFaults)
      return new Terminal("attempts_exhausted", `The agent ${work.agent} could not be started`);
    faults.set(id, before + 1);
    return new Retryable(error instanceof Error ? error.message : String(error), faultPauseMs * 2 ** before);
  }

  return implement(
    agentStart,
    {
      // One that is refused keeps its place while it waits; that costs next to nothing.
      concurrency: 1024,
      retry: { attempts: Number.MAX_SAFE_INTEGER, firstDelayMs },
    },
    async (work, context) => {
      const { id, actor, signal } = context;
      const isAbandoned = () => signal.aborted && signal.reason === "abandoned";
      try {
        if (isAbandoned()) signal.throwIfAborted();
        return await start(work, context);
      } finally {
        if (signal.aborted) faults.delete(id);
        // It may have started all the same, and the run will not hear of it any more.
        if (isAbandoned()) {
          const child = runtime.of(execution).at(actor.tenant, work.child_execution_id);
          // Its answer is in PostgreSQL: no other message tells the child that its parent is gone.
          await child.ask("cancel", { reason: "parent_ended" }, { repeatable: true });
        }
      }
    },
  );
}

async function requestOf(options: AgentStartOptions, actor: Address, work: AgentStart): Promise<StartRequest> {
  const { agent, trigger, timeout_ms, overrides, judged } = work;
  const header = await headerOf(options.runtime, actor);
  const { executionId, told } = runOf(actor, header);
  const ofService = isPipeline(header.workflow_id) && isServiceAgent(agent) ? agent : null;
  const facts = judged === null ? null : await factsOf(options, actor.tenant, judged.execution_id);
  return {
    ...referenceOf(agent, ofService),
    tenant: actor.tenant,
    origin: {
      trigger,
      workflow: { name: header.workflow_name, executionId },
      parent: { executionId, depth: header.depth, path: header.path, swarmId: null, ...told },
      initiatingUserSub: impersonal.includes(header.initiated_by.kind) ? null : header.initiated_by.sub,
      initiatingRealm: header.initiated_by.realm ?? null,
      exempt: trigger !== "workflow",
    },
    // The starter of the run was checked then; the run goes on in the starter's tier.
    starter: callerOf(header),
    startedBy: header.starter ?? null,
    ceilings: header.context_ceilings ?? [],
    countedFor: rateUserIn(header),
    input: judged?.usual === true && facts !== null ? completed(work.input, facts) : inputOf(work, ofService),
    intent: work.intent,
    timeoutSeconds: timeout_ms === null ? null : Math.ceil(timeout_ms / 1000),
    overrides,
    judgedMounts: judged === null ? [] : (facts?.mounts ?? judged.mounts),
  };
}

/** Agents of the service are for its own workflows: elsewhere the name means none. */
function referenceOf(agent: string, ofService: ServiceAgentName | null): AgentReference {
  if (ofService !== null) return { ofService };
  return isUuid(agent) ? { agentId: agent.toLowerCase() } : { agentName: agent };
}

/** Bytes of each text that an agent of the service is shown: what a program printed may be a mebibyte. */
const maxShownBytes = 32 * 1024;

function inputOf({ input }: AgentStart, ofService: ServiceAgentName | null): Json {
  if (ofService === null || !isObject(input)) return input;
  const shown = (value: Json) => (typeof value === "string" ? trimText(value, maxShownBytes) : value);
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, shown(value)]));
}

async function headerOf(runtime: AgentStartOptions["runtime"], { tenant, key }: Address): Promise<RunHeader> {
  const run = (await runtime.of(workflowRun).readListed(tenant, [key])).get(key);
  if (run === undefined) throw new Terminal("workflow_execution_not_found", "The run was removed");
  return run.header;
}

async function factsOf({ judged }: AgentStartOptions, tenant: string, key: string | null): Promise<JudgedFacts | null> {
  return key === null ? null : judged({ kind: execution.kind, key, tenant });
}

/** A judge's usual input with what only the judged execution knows: its prompt, its tool calls, its volumes. */
function completed(input: Json, facts: JudgedFacts): Json {
  // Made by `judgeInput`.
  const { output, criteria, iteration_number, validation_context } = input as unknown as {
    readonly output: string;
    readonly criteria: string;
    readonly iteration_number: number;
    readonly validation_context: JudgedRun["context"];
  };
  return judgeInput({ ...facts, output, criteria, iteration: iteration_number, context: validation_context });
}
