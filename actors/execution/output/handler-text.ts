/** What an output handler is given: a template over the accepted output and what led to it. */
import type { Json } from "../../kernel/json.ts";
import type { TellMissing } from "../../template/effort.ts";
import { compile } from "../../template/template.ts";
import type { Header, Plan } from "../start/plan.ts";

/** As large as an input may be. */
const maxTextBytes = 1_048_576;

export interface AcceptedRun {
  readonly executionId: string;
  readonly header: Pick<Header, "agent_id" | "agent_name" | "intent">;
  readonly plan: Pick<Plan, "input" | "instruction" | "context_overrides">;
  /** The number of the accepted iteration. */
  readonly iteration: number;
  readonly output: string;
}

/**
 * Variables: `output`, `input`, `intent`, `instruction`, `context_overrides`, `execution_id`, `agent_id`,
 * `agent_name`, `iteration_number`.
 * @param missing told of what the template prints and does not exist
 * @throws TemplateError, for a text above 1 MiB too
 */
export function renderForHandler(template: string, run: AcceptedRun, missing?: TellMissing): string {
  const variables: { [name: string]: Json } = {
    output: run.output,
    input: run.plan.input,
    intent: run.header.intent,
    instruction: run.plan.instruction,
    context_overrides: run.plan.context_overrides,
    execution_id: run.executionId,
    agent_id: run.header.agent_id,
    agent_name: run.header.agent_name,
    iteration_number: run.iteration,
  };
  return compile(template).render(variables, maxTextBytes, undefined, missing);
}
