/** The activity `iteration.validate`: measures an iteration's result, validator by validator. */

import { fileURLToPath } from "node:url";
import type { JudgeValidator, Validator } from "../../../../../actors/agent/manifest/execution/results.ts";
import { iterationValidate, type Measurement } from "../../../../../actors/execution/activities.ts";
import { execution } from "../../../../../actors/execution/execution.ts";
import { measureExitCode, passes } from "../../../../../actors/execution/judging/validator-result.ts";
import { type IterationResult, resultLog } from "../../../../../actors/execution/start/plan.ts";
import { BudgetExceeded } from "../../../../lib/guarded/child.ts";
import { runGuarded } from "../../../../lib/guarded/guarded.ts";
import { type Activity, type Address, implement, type Runtime, Terminal } from "../../../../runtime/port.ts";
import type { Plans } from "../../plans.ts";
import type { Finding, MeasureJob } from "./measure.ts";

const program = fileURLToPath(new URL("./measure-program.ts", import.meta.url));
/** The budget of a pattern; a schema may hold several. */
const budgetMs = { regex: 1_000, json_schema: 5_000 } as const;

export function validateActivity(plans: Plans, runtime: Pick<Runtime, "of">): Activity {
  return implement(
    iterationValidate,
    {
      concurrency: 16,
      retry: { attempts: 5, firstDelayMs: 200 },
    },
    async ({ instance_id, from }, { actor, signal }) => {
      const { validators } = await plans.of(actor);
      const result = await resultOf(runtime, actor, instance_id);
      const measurements: Measurement[] = [];
      for (const validator of validators.slice(from)) {
        if (isJudge(validator)) break;
        const measurement = await measureOne(actor.tenant, validator, result, signal);
        measurements.push(measurement);
        if (!passes(validator, measurement)) break;
      }
      return { output: result.output, measurements };
    },
  );
}

/** What the actor kept for its validators when the instance ended. */
export async function resultOf(
  runtime: Pick<Runtime, "of">,
  { tenant, key }: Address,
  instanceId: string,
): Promise<IterationResult> {
  const [first] = await runtime.of(execution).at(tenant, key).log(resultLog(instanceId), 0, 1);
  if (!first) throw new Terminal("execution_not_found", "The execution was removed");
  return first.entry;
}

function isJudge(validator: Validator): validator is JudgeValidator {
  return validator.type === "semantic" || validator.type === "multi_judge";
}

/** Measures one validator; what cannot be measured in time scores 0. */
export async function measureOne(
  tenant: string,
  validator: Exclude<Validator, JudgeValidator>,
  work: IterationResult,
  signal: AbortSignal,
): Promise<Measurement> {
  if (validator.type === "exit_code") return measureExitCode(validator.expected, work.exit_code, work.stderr);
  const job: MeasureJob =
    validator.type === "regex"
      ? { ...validator, text: validator.target === "stderr" ? work.stderr : work.output }
      : { ...validator, output: work.output };
  const budget = budgetMs[validator.type];
  try {
    const finding = (await runGuarded(program, job, {
      kind: "computation",
      tenant,
      budgetMs: budget,
      signal,
      durable: true,
    })) as Finding;
    return { ...finding, confidence: 1 };
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    const feedback = `${validator.type} took longer than ${budget / 1000} s`;
    return { score: 0, confidence: 1, feedback, details: { reason: "budget_exceeded" } };
  }
}
