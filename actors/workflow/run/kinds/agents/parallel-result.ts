/** The result of a ParallelAgents state: what its agents came to, and the consensus over the verdicts (docs/reference/workflows.md). */

import { consensusOf } from "../../../../execution/judging/consensus.ts";
import { trimText } from "../../../../execution/trim.ts";
import type { Consensus } from "../../../definition/states.ts";
import type { StateResult } from "../../kind.ts";
import type { AgentEnd, JudgeResult } from "../../work.ts";
import { agentFailure } from "../failure.ts";
import { outputValue } from "./agent-result.ts";
import { reasoningOf, resultsOf } from "./judging.ts";

const maxReasoningBytes = 16_384;

/** The outputs that there are, each under its agent's name. */
export function joinedOutputs(ends: readonly AgentEnd[]): string {
  return ends
    .filter(({ status }) => status === "completed")
    .map(({ agent, output }) => `[${agent}]:\n${output ?? ""}`)
    .join("\n\n");
}

/**
 * @param state    its name
 * @param verdicts as `judgeResult` gave them, by position
 * @param judged   whether judges gave them; otherwise they are the agents' own
 * @param without  the agents that should have given a verdict, and gave none
 */
export function parallelResult(
  state: string,
  rule: Consensus,
  ends: readonly AgentEnd[],
  verdicts: readonly (JudgeResult | null)[],
  judged: boolean,
  without: readonly string[] = [],
): StateResult {
  const results = resultsOf(verdicts);
  const agents = ends.map((end) => ({
    agent: end.agent,
    execution_id: end.execution_id,
    status: end.status,
    output: end.output === null ? null : outputValue(end.output),
    ...(end.error === null ? {} : agentFailure(state, end)),
  }));
  const failure = failureOf(rule, ends, results, judged);
  return {
    status: failure === null ? "completed" : "failed",
    ...(failure === null ? {} : { error: failure, message: told(failure, state, rule, ends, results) }),
    consensus: {
      ...(failure === null && results.length > 0 ? agreement(rule, results) : {}),
      strategy: rule.strategy,
      metadata: {
        individual_outputs: agents.map(({ output }) => output),
        individual_results: results,
        reasoning: trimText(reasoningOf(results), maxReasoningBytes),
        agents_without_verdict: [...without],
      },
    },
    agents,
    individual_results: results,
  };
}

/** The same in words for people. */
function told(
  failure: Shortfall,
  state: string,
  { min_judges_required: required }: Consensus,
  ends: readonly AgentEnd[],
  results: readonly JudgeResult[],
): string {
  if (failure === "insufficient_judges") return `${state} got ${results.length} verdicts, of ${required} that it needs`;
  const failures = ends.map((end) => agentFailure(state, end).error);
  return trimText(`No agent of ${state} completed:\n${failures.join("\n")}`, maxReasoningBytes);
}

type Shortfall = "all_agents_failed" | "insufficient_judges";

/** Why the state fails; null: it does not. Without judges and without verdicts the agents decide. */
function failureOf(
  { min_judges_required }: Consensus,
  ends: readonly AgentEnd[],
  results: readonly JudgeResult[],
  judged: boolean,
): Shortfall | null {
  if (!ends.some(({ status }) => status === "completed")) return "all_agents_failed";
  const own = results.length === 0 && !judged;
  return !own && results.length < min_judges_required ? "insufficient_judges" : null;
}

function agreement(rule: Consensus, results: readonly JudgeResult[]) {
  const factors = { agreement: rule.agreement_factor, self: rule.self_confidence_factor };
  const { score, confidence } = consensusOf(rule, results, factors);
  const agreed = rule.agreement === null || confidence >= rule.agreement;
  return { score, confidence, binary_valid: score >= rule.threshold && agreed };
}
