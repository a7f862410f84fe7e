/** The kinds of state that run agents: `Agent` and `ParallelAgents`. */
import { isolation } from "../../../agent/manifest/runtime/runtime.ts";
import type { Fields } from "../../../manifest/fields.ts";
import { second, weight } from "../../../manifest/members.ts";
import { object } from "../../../manifest/object.ts";
import { choice, integer, list, number, share } from "../../../manifest/shape.ts";
import type { Judge } from "../../definition/parts.ts";
import type { AgentState, Consensus, ParallelAgentsState } from "../../definition/states.ts";
import { agentId, agentReference, type Of, template, templateTree, timeout, timeoutSeconds } from "../members.ts";
import { outputHandler } from "./handler.ts";
import { mounts } from "./volumes.ts";

const maxJudges = 20;
const maxAgents = 20;

const judge = { agent_id: agentId, input_template: template };

const judges = list(
  object({ ...judge, weight })
    .strict("a judge")
    .build(({ agent_id: agent, ...read }): Judge => ({ agent, ...read }))
    .named("Judge"),
  maxJudges,
).or([]);

export const agentState = object({
  timeout,
  agent: agentReference,
  input: templateTree.required(),
  intent: template,
  isolation,
  temperature: number(0, 2),
  judges,
  judge_threshold: share.or(0.8),
  max_iterations: integer(1, 20).or(10),
  pre_execution_validator: object(judge)
    .strict("a pre-execution validator")
    .build(({ agent_id: agent, input_template }) => ({ agent, input_template })),
  volumes: mounts("agent"),
  output_handler: outputHandler,
})
  .strict("an Agent state")
  .build(
    ({ timeout, judges, volumes, ...read }): Of<AgentState> => ({
      kind: "Agent",
      ...read,
      timeout_ms: timeout,
      judges: [...judges],
      volumes: volumes ?? [],
    }),
  );

const parallelAgent = object({
  agent: agentReference,
  input: templateTree.required(),
  weight,
  timeout_seconds: timeoutSeconds.or(600),
  // Results are pushed, so that nothing is polled.
  poll_interval_ms: integer(0, 30 * 24 * 3600 * second),
})
  .strict("an agent of a ParallelAgents state")
  .build(({ agent, input, weight, timeout_seconds }) => ({
    agent,
    input,
    weight,
    timeout_ms: timeout_seconds * second,
  }));

/** What two decimals written down may be off by. */
const tolerance = 0.01 + 1e-9;

const weighting = object({ agreement_factor: share.or(0.7), self_confidence_factor: share.or(0.3) })
  .strict("a confidence weighting")
  .build((read, { path, findings }) => {
    const isOff = Math.abs(read.agreement_factor + read.self_confidence_factor - 1) > tolerance;
    if (isOff && !findings.hasIssueAt(path)) findings.issue(path, "the two factors must add up to 1");
    return read;
  });

const consensus = object({
  strategy: choice("weighted_average", "majority", "unanimous", "best_of_n").required().or("weighted_average"),
  threshold: share.or(0.7),
  agreement: share,
  min_agreement_confidence: share,
  n: integer(1, maxJudges),
  min_judges_required: integer(1, maxJudges).or(1),
  confidence_weighting: weighting.section(),
})
  .strict("a consensus")
  .build(({ agreement, min_agreement_confidence: alias, confidence_weighting, ...read }, fields): Consensus => {
    if (agreement !== null && alias !== null && agreement !== alias) {
      fields.issue("min_agreement_confidence", "is another name of agreement, with another value");
    }
    if (read.n !== null && read.strategy !== "best_of_n") {
      fields.warn("n", "no_effect", `The strategy ${read.strategy} counts every verdict`);
    }
    return { ...read, agreement: agreement ?? alias, ...confidence_weighting };
  });

const noConsensus: Consensus = {
  strategy: "weighted_average",
  threshold: 0.7,
  agreement: null,
  n: null,
  min_judges_required: 1,
  agreement_factor: 0.7,
  self_confidence_factor: 0.3,
};

export const parallelAgentsState = object({
  agents: list(parallelAgent, maxAgents, "must name an agent").required(),
  judges_for_parallel: judges,
  timeout,
  consensus: consensus.required(),
  output_handler: outputHandler,
})
  .strict("a ParallelAgents state")
  .build(({ timeout, agents, judges_for_parallel, consensus, output_handler }, fields): Of<ParallelAgentsState> => {
    // Without judges of its own the agents' verdicts are what counts.
    const verdicts = judges_for_parallel.length || (agents?.length ?? 0);
    if (consensus !== null && verdicts > 0) checkCounts(fields, consensus, verdicts);
    return {
      kind: "ParallelAgents",
      timeout_ms: timeout,
      agents: [...(agents ?? [])],
      consensus: consensus ?? noConsensus,
      judges_for_parallel: [...judges_for_parallel],
      output_handler,
    };
  });

function checkCounts(fields: Fields, consensus: Consensus, verdicts: number): void {
  for (const key of ["n", "min_judges_required"] as const) {
    if ((consensus[key] ?? 0) <= verdicts) continue;
    fields.issue(`consensus.${key}`, "is more than there are verdicts to count");
  }
}
