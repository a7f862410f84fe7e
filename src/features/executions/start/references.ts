/** Other agents an execution will need, looked for before it starts. */
import type { JudgeValidator } from "../../../../actors/execution/start/plan.ts";
import { type Issue, invalid, Problem } from "../../../../actors/kernel/problem.ts";
import { isUuid } from "../../../http/route.ts";
import type { Agents, ResolvedAgent } from "../../agents/service.ts";

interface Reference {
  readonly path: string;
  /** UUID or name. */
  readonly agent: string;
}

/**
 * Every judge, and the agent of a required output handler, must be there and able to run. That of an optional
 * handler need not: the run then ends with a warning.
 * @throws Problem 422 `judge_not_found`
 */
export async function requireAgents(
  agents: Pick<Agents, "resolveForExecution">,
  tenant: string,
  { spec }: ResolvedAgent,
): Promise<void> {
  const { validators, tool_judges } = spec.execution;
  const references: Reference[] = [
    ...validators.flatMap((validator) =>
      validator.type === "semantic" || validator.type === "multi_judge"
        ? judgesOf("execution.validation", validator)
        : [],
    ),
    ...tool_judges.flatMap((judge) => judgesOf("execution.tool_validation", judge)),
  ];
  const handler = spec.output_handler;
  if (handler?.type === "agent" && handler.required) {
    references.push({ path: "output_handler.agent_id", agent: handler.agent });
  }
  if (references.length === 0) return;
  const found = await Promise.all(references.map((reference) => look(agents, tenant, reference)));
  const issues = found.filter((issue) => issue !== null);
  if (issues.length > 0) throw invalid("judge_not_found", "The agent needs agents that cannot run here", issues);
}

function judgesOf(path: string, judge: JudgeValidator): Reference[] {
  const names = judge.type === "semantic" ? [judge.judge_agent] : judge.judges.map(({ agent }) => agent);
  return names.map((agent) => ({ path, agent }));
}

async function look(
  agents: Pick<Agents, "resolveForExecution">,
  tenant: string,
  { path, agent }: Reference,
): Promise<Issue | null> {
  try {
    await agents.resolveForExecution({ tenant, ...(isUuid(agent) ? { agentId: agent } : { agentName: agent }) });
    return null;
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return { path, message: `${agent}: ${error.message}`, code: "judge_not_found" };
  }
}
