/** The kinds of state that run agents: `Agent` and `ParallelAgents`. */

import { isolations } from "../../../agent/manifest/spec.ts";
import type { Fields } from "../../../manifest/fields.ts";
import type { AgentState, Consensus, Judge, ParallelAgentsState } from "../../definition.ts";
import { readAgent, readJudgeName } from "../names.ts";
import { maxTimeoutSeconds, readTimeout, readWeight, requireElements, second, share } from "../quantities.ts";
import type { Of, Reading } from "../reading.ts";
import { readHandler } from "./handler.ts";

import { readMounts } from "./volumes.ts";

const maxJudges = 20;
const maxAgents = 20;

export function readAgentState(fields: Fields, reading: Reading): Of<AgentState> {
  return {
    kind: "Agent",
    timeout_ms: readTimeout(fields, "timeout"),
    agent: readAgent(fields, "agent", reading),
    input: readInput(fields, reading),
    intent: reading.templates.optional(fields, "intent"),
    isolation: readIsolation(fields, reading),
    temperature: fields.number("temperature", { min: 0, max: 2 }),
    judges: readJudges(fields, "judges", reading),
    judge_threshold: fields.number("judge_threshold", share) ?? 0.8,
    max_iterations: fields.integer("max_iterations", { min: 1, max: 20 }) ?? 10,
    pre_execution_validator: readPreValidator(fields, reading),
    volumes: readMounts(fields, reading, "agent"),
    output_handler: readHandler(fields, reading),
  };
}

function readInput(fields: Fields, { templates }: Reading) {
  if (!fields.has("input")) fields.issue("input", "is required");
  return templates.tree(fields, "input");
}

function readIsolation(fields: Fields, { offer }: Reading): AgentState["isolation"] {
  const isolation = fields.choice("isolation", isolations) ?? "inherit";
  if (isolation !== "inherit" && !offer.isolations.includes(isolation)) {
    fields.issue("isolation", `${isolation} is not offered here`, "unsupported_isolation");
  }
  return isolation;
}

function readPreValidator(state: Fields, { templates }: Reading): AgentState["pre_execution_validator"] {
  const fields = state.has("pre_execution_validator") ? state.requiredSection("pre_execution_validator") : null;
  if (fields === null) return null;
  const agent = readJudgeName(fields);
  const input_template = templates.optional(fields, "input_template");
  fields.closeStrictly("a pre-execution validator");
  return { agent, input_template };
}

function readJudges(state: Fields, key: string, { templates }: Reading): Judge[] {
  return state.sections(key, maxJudges).map((fields) => {
    const agent = readJudgeName(fields);
    const input_template = templates.optional(fields, "input_template");
    const weight = readWeight(fields);
    fields.closeStrictly("a judge");
    return { agent, input_template, weight };
  });
}

export function readParallelAgents(fields: Fields, reading: Reading): Of<ParallelAgentsState> {
  const agents = readAgents(fields, reading);
  const judges = readJudges(fields, "judges_for_parallel", reading);
  // Without judges of its own the agents' verdicts are what counts.
  const givers = judges.length > 0 ? judges.length : agents.length;
  return {
    kind: "ParallelAgents",
    timeout_ms: readTimeout(fields, "timeout"),
    agents,
    consensus: readConsensus(fields, givers),
    judges_for_parallel: judges,
    output_handler: readHandler(fields, reading),
  };
}

function readAgents(state: Fields, reading: Reading): ParallelAgentsState["agents"] {
  requireElements(state, "agents", "must name an agent");
  return state.sections("agents", maxAgents).map((fields) => {
    const agent = readAgent(fields, "agent", reading);
    const input = readInput(fields, reading);
    const weight = readWeight(fields);
    const seconds = fields.integer("timeout_seconds", { min: 1, max: maxTimeoutSeconds }) ?? 600;
    // Results are pushed, so that nothing is polled.
    fields.integer("poll_interval_ms", { min: 0, max: maxTimeoutSeconds * second });
    fields.closeStrictly("an agent of a ParallelAgents state");
    return { agent, input, weight, timeout_ms: seconds * second };
  });
}

const noConsensus: Consensus = {
  strategy: "weighted_average",
  threshold: 0.7,
  agreement: null,
  n: null,
  min_judges_required: 1,
  agreement_factor: 0.7,
  self_confidence_factor: 0.3,
};

/** @param givers how many verdicts there can be */
function readConsensus(state: Fields, givers: number): Consensus {
  const fields = state.requiredSection("consensus");
  if (fields === null) return noConsensus;
  if (!fields.has("strategy")) fields.issue("strategy", "is required");
  const strategies = ["weighted_average", "majority", "unanimous", "best_of_n"] as const;
  const strategy = fields.choice("strategy", strategies) ?? noConsensus.strategy;
  const read = {
    strategy,
    threshold: fields.number("threshold", share) ?? noConsensus.threshold,
    agreement: readAgreement(fields),
    n: fields.integer("n", { min: 1, max: maxJudges }),
    min_judges_required: fields.integer("min_judges_required", { min: 1, max: maxJudges }) ?? 1,
    ...readWeighting(fields),
  };
  for (const key of ["n", "min_judges_required"] as const) {
    if (givers > 0 && (read[key] ?? 0) > givers) fields.issue(key, "is more than there are verdicts to count");
  }
  if (read.n !== null && strategy !== "best_of_n") {
    fields.warn("n", "no_effect", `The strategy ${strategy} counts every verdict`);
  }
  fields.closeStrictly("a consensus");
  return read;
}

function readAgreement(fields: Fields): number | null {
  const agreement = fields.number("agreement", share);
  const alias = fields.number("min_agreement_confidence", share);
  if (agreement !== null && alias !== null && agreement !== alias) {
    fields.issue("min_agreement_confidence", "is another name of agreement, with another value");
  }
  return agreement ?? alias;
}

/** What two decimals written down may be off by. */
const tolerance = 0.01 + 1e-9;

function readWeighting(consensus: Fields): Pick<Consensus, "agreement_factor" | "self_confidence_factor"> {
  const fields = consensus.section("confidence_weighting");
  const agreement_factor = fields.number("agreement_factor", share) ?? noConsensus.agreement_factor;
  const self_confidence_factor = fields.number("self_confidence_factor", share) ?? noConsensus.self_confidence_factor;
  const isOff = Math.abs(agreement_factor + self_confidence_factor - 1) > tolerance;
  if (isOff && !fields.findings.hasIssueAt(fields.path)) {
    consensus.issue("confidence_weighting", "the two factors must add up to 1");
  }
  fields.closeStrictly("a confidence weighting");
  return { agreement_factor, self_confidence_factor };
}
