/** The activity `iteration.validate`: measures an iteration's result, validator by validator. */
import { fileURLToPath } from "node:url";
import type { Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Json } from "../../actors/actor.ts";
import { IterationValidate, type Measurement } from "../../actors/execution/activities.ts";
import type { Validator } from "../../actors/execution/plan.ts";
import { measureExitCode, passes } from "../../actors/execution/verdict.ts";
import type { ActivityDefinition } from "../runtime/port.ts";
import { BudgetExceeded, runGuarded } from "../tools/guarded.ts";
import type { Finding, MeasureJob } from "./measure.ts";
import type { Plans } from "./plans.ts";

const program = fileURLToPath(new URL("./measure-program.ts", import.meta.url));
/** The contract's budget of a pattern; a schema may hold several. */
const budgetMs = { regex: 1_000, json_schema: 5_000 } as const;

export function validateActivity(plans: Plans): ActivityDefinition {
  return {
    name: "iteration.validate",
    concurrency: 16,
    retry: { attempts: 5, firstDelayMs: 200 },
    run: async (input, { actor, signal }) => {
      const work = Value.Parse(IterationValidate, input);
      const { validators } = await plans.of(actor);
      const measurements: Measurement[] = [];
      for (const validator of validators) {
        const measurement = await measureOne(validator, work, signal);
        measurements.push(measurement);
        if (!passes(validator, measurement)) break;
      }
      return { output: work.output, measurements } satisfies Json;
    },
  };
}

/** Measures one validator; what cannot be measured in time scores 0. */
export async function measureOne(
  validator: Validator,
  work: Pick<Static<typeof IterationValidate>, "output" | "stderr" | "exit_code">,
  signal: AbortSignal,
): Promise<Measurement> {
  if (validator.type === "exit_code") return measureExitCode(validator.expected, work.exit_code, work.stderr);
  const job: MeasureJob =
    validator.type === "regex"
      ? { ...validator, text: validator.target === "stderr" ? work.stderr : work.output }
      : { ...validator, output: work.output };
  const budget = budgetMs[validator.type];
  try {
    const finding = (await runGuarded(program, job, budget, signal)) as Finding;
    return { ...finding, confidence: 1 };
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    const feedback = `${validator.type} took longer than ${budget / 1000} s`;
    return { score: 0, confidence: 1, feedback, details: { reason: "budget_exceeded" } };
  }
}
