/**
 * How the verdicts of several judges become one: four strategies (docs/reference/executions.md).
 *
 * Scores, confidences and results lie between 0 and 1. Results are rounded to twelve decimals, so that a
 * threshold met on paper is met here.
 */
import type { MultiJudge } from "../../agent/manifest/execution/results.ts";

export type Strategy = MultiJudge["consensus"];

/** One judge's say. */
export interface Vote {
  readonly score: number;
  readonly confidence: number;
  /** Above 0. */
  readonly weight: number;
}

export interface ConsensusRule {
  readonly strategy: Strategy;
  /** A score from here on is a vote for the output. */
  readonly threshold: number;
  /** Of `best_of_n`: how many of the surest verdicts count; null: all. */
  readonly n: number | null;
}

export interface Consensus {
  readonly score: number;
  readonly confidence: number;
}

/** How much of the confidence comes from agreement, and how much from the judges' own; together 1. */
export interface ConfidenceFactors {
  readonly agreement: number;
  readonly self: number;
}

/** Of validators (docs/reference/executions.md); the states of a workflow name their own. */
const usualFactors: ConfidenceFactors = { agreement: 0.7, self: 0.3 };

/** Largest variance that scores between 0 and 1 can have. */
const maxVariance = 0.25;

/** @param votes at least one, in the order of the judges */
export function consensusOf(
  { strategy, threshold, n }: ConsensusRule,
  votes: readonly Vote[],
  factors: ConfidenceFactors = usualFactors,
): Consensus {
  switch (strategy) {
    case "weighted_average":
      return settled(weightedAverage(votes, factors));
    case "majority":
      return settled(majority(votes, threshold, factors));
    case "unanimous":
      return settled(unanimous(votes, threshold));
    case "best_of_n":
      return settled(bestOf(votes, n ?? votes.length));
  }
}

function weightedAverage(votes: readonly Vote[], factors: ConfidenceFactors): Consensus {
  const score = weighted(votes, (vote) => vote.score);
  const variance = weighted(votes, (vote) => (vote.score - score) ** 2);
  const agreement = 1 - Math.min(1, variance / maxVariance);
  return {
    score,
    confidence: factors.agreement * agreement + factors.self * weighted(votes, (vote) => vote.confidence),
  };
}

function majority(votes: readonly Vote[], threshold: number, factors: ConfidenceFactors): Consensus {
  const passes = votes.filter(({ score }) => score >= threshold).length;
  const fails = votes.length - passes;
  return {
    score: passes > fails ? 1 : passes < fails ? 0 : 0.5,
    confidence:
      (factors.agreement * Math.abs(passes - fails)) / votes.length +
      factors.self * mean(votes.map(({ confidence }) => confidence)),
  };
}

function unanimous(votes: readonly Vote[], threshold: number): Consensus {
  const agreed = votes.every(({ score }) => score >= threshold);
  return {
    score: agreed ? mean(votes.map(({ score }) => score)) : 0,
    confidence: Math.min(...votes.map(({ confidence }) => confidence)),
  };
}

function bestOf(votes: readonly Vote[], count: number): Consensus {
  // The sort is stable: of equals, the earlier judge's verdict counts.
  const best = [...votes]
    .sort((one, other) => other.score * other.confidence - one.score * one.confidence)
    .slice(0, count);
  return {
    score: weighted(best, ({ score }) => score),
    confidence: mean(best.map(({ confidence }) => confidence)),
  };
}

function weighted(votes: readonly Vote[], value: (vote: Vote) => number): number {
  // Against the heaviest, so that no sum of weights overflows.
  const heaviest = Math.max(...votes.map(({ weight }) => weight));
  const shares = votes.map((vote) => ({ share: vote.weight / heaviest, value: value(vote) }));
  const total = shares.reduce((sum, { share }) => sum + share, 0);
  return shares.reduce((sum, one) => sum + one.share * one.value, 0) / total;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function settled({ score, confidence }: Consensus): Consensus {
  return { score: rounded(score), confidence: rounded(confidence) };
}

function rounded(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 1e12) / 1e12;
}
