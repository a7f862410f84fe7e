/** The activity `child.start`: starts a judge or an output handler as an execution below its parent. */

import type { JudgeValidator } from "../../../../actors/agent/manifest/execution/results.ts";
import { type CallInput, type ChildInput, type ChildStart, childStart } from "../../../../actors/execution/child.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import { judgeInput } from "../../../../actors/execution/judging/judge-verdict.ts";
import { LoopEntry, outsideCallLog } from "../../../../actors/execution/messages.ts";
import type { Plan } from "../../../../actors/execution/start/plan.ts";
import type { StartRequest } from "../../../../actors/execution/start/request.ts";
import type { ExecutionState } from "../../../../actors/execution/state.ts";
import { defineLog } from "../../../../actors/kernel/effect.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { storableText } from "../../../../actors/kernel/text.ts";
import { rateUserIn } from "../../../../actors/policy/rates/counted.ts";
import { isUuid } from "../../../http/route.ts";
import { type Activity, type Address, implement, type Runtime, Terminal } from "../../../runtime/port.ts";
import { argumentsOf, readLog } from "../iteration/loop/loop-activities.ts";
import { resultOf } from "../iteration/validation/validation.ts";
import { handlerText, outputOf } from "../output/output.ts";
import type { Plans } from "../plans.ts";
import type { Started } from "../schema.ts";
import { joinableSwarm } from "../start/swarm.ts";
import { judgedRun } from "./judged.ts";

export interface ChildOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Plans;
  /** `startAs` of the executions, once there is one. The same id again is the same child. */
  readonly start: (executionId: string, request: StartRequest) => Promise<Started>;
}

export function childStartActivity(options: ChildOptions): Activity {
  return implement(
    childStart,
    {
      concurrency: 32,
      retry: { attempts: 5, firstDelayMs: 300 },
    },
    async (work, { actor }) => {
      const parent = await options.runtime.of(execution).at(actor.tenant, actor.key).read();
      if (parent === null) throw new Terminal("execution_not_found", "The parent was removed");
      const plan = await options.plans.of(actor);
      const input = await inputOf(options, actor, parent, plan, work.input);
      const swarmId = await joinableSwarm(options.runtime, actor.tenant, parent.header.hierarchy.swarm_id);
      const request = requestOf(actor, parent, plan, work, input, swarmId);
      try {
        const { agent_id } = await options.start(work.child_execution_id, request);
        return { agent_id };
      } catch (error) {
        throw startFailure(error, work);
      }
    },
  );
}

function requestOf(
  { key, tenant }: Address,
  { header }: ExecutionState,
  plan: Plan,
  { agent, trigger, timeout_ms }: ChildStart,
  input: Json,
  swarmId: string | null,
): StartRequest {
  const { depth, path } = header.hierarchy;
  const counted = rateUserIn(header);
  return {
    ...(isUuid(agent) ? { agentId: agent } : { agentName: agent }),
    tenant,
    origin: {
      trigger,
      parent: { executionId: key, depth, path, swarmId },
      workflow: null,
      initiatingUserSub: header.initiating_user_sub,
      // Of a person who began it all; what a schedule or a webhook began is counted for none.
      initiatingRealm: counted?.userId === header.initiating_user_sub ? (counted?.realm ?? null) : null,
      exempt: true,
    },
    starter: null,
    startedBy: header.starter ?? null,
    ceilings: header.context_ceilings ?? [],
    countedFor: counted,
    input,
    timeoutSeconds: Math.ceil(timeout_ms / 1000),
    judgedMounts: trigger === "validator" ? plan.mounts : [],
  };
}

/** Refusals are final; what may pass, as an outage, is tried again. */
function startFailure(error: unknown, { agent, trigger }: ChildStart): unknown {
  if (!(error instanceof Problem) || error.status >= 500 || error.status === 429) return error;
  if (trigger === "validator" && error.code === "agent_not_found") {
    return new Terminal("judge_not_found", `There is no agent ${agent}`);
  }
  return new Terminal(error.code, error.message);
}

async function inputOf(
  options: ChildOptions,
  actor: Address,
  parent: ExecutionState,
  plan: Plan,
  input: ChildInput,
): Promise<Json> {
  if (input.of === "value") return input.value;
  if (input.of === "output") return handlerInput(options, actor, parent, plan);
  const judged = {
    ...(await judgedRun(options.runtime, actor, parent, plan, input.iteration)),
    iteration: input.iteration,
  };
  if (input.of === "result") {
    const validator = judgeOf(plan.validators[input.validator]);
    const { output } = await resultOf(options.runtime, actor, input.instance_id);
    const context = validator.type === "semantic" ? "semantic_judge" : "multi_judge";
    return judgeInput({ ...judged, output, criteria: validator.criteria, context });
  }
  const { criteria } = judgeOf(plan.tool_judges[input.judge]);
  const call = { tool: input.tool, arguments: await argumentsOfCall(options, actor, input) };
  return judgeInput({ ...judged, output: "", criteria, context: "tool_judge", call });
}

/** The arguments of a call that is to be judged. */
async function argumentsOfCall({ runtime }: ChildOptions, actor: Address, call: CallInput): Promise<Json> {
  const { seq } = call;
  if (call.of === "outside_call") {
    const [entry] = await readLog(runtime, actor, outsideCallLog, seq, seq);
    return entry?.entry.arguments ?? {};
  }
  const [entry] = await readLog(runtime, actor, defineLog(call.log, LoopEntry), seq, seq);
  return argumentsOf(entry?.entry ?? null, call.call_id) as Json;
}

/** What an output handler is started with: a text, however its template makes it from the accepted output. */
async function handlerInput(
  { runtime }: ChildOptions,
  actor: Address,
  { header, iteration }: ExecutionState,
  plan: Plan,
): Promise<Json> {
  if (plan.output_handler?.type !== "agent") throw new Terminal("agent_not_found", "No agent handles the output");
  const output = await outputOf(runtime, actor);
  const run = { executionId: actor.key, header, plan, iteration: iteration.number, output };
  return storableText(handlerText(plan.output_handler.input_template, run));
}

function judgeOf(validator: Plan["validators"][number] | undefined): JudgeValidator {
  if (validator?.type === "semantic" || validator?.type === "multi_judge") return validator;
  throw new Terminal("judge_not_found", "The validator at hand is no judge");
}
