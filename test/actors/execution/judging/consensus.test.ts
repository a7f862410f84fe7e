/** The consensus formulas: examples, and what holds for all of them (docs/reference/executions.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { consensusOf, type Strategy, type Vote } from "../../../../actors/execution/judging/consensus.ts";

const rule = (strategy: Strategy, n: number | null = null, threshold = 0.7) => ({ strategy, threshold, n });
const votes = (...list: readonly (readonly [score: number, weight?: number, confidence?: number])[]): Vote[] =>
  list.map(([score, weight = 1, confidence = 1]) => ({ score, weight, confidence }));

describe("the formulas", () => {
  test.each([
    ["weighted average", rule("weighted_average"), votes([0.9, 1], [0.5, 3]), 0.6, 0.916],
    ["majority, equal weights, one each way", rule("majority"), votes([0.9], [0.5]), 0.5, 0.3],
    ["unanimous, one against", rule("unanimous"), votes([0.9], [0.5]), 0, 1],
    ["one judge alone", rule("weighted_average"), votes([0.8, 2, 0.5]), 0.8, 0.85],
    ["as far apart as can be", rule("weighted_average"), votes([0], [1]), 0.5, 0.3],
    ["confidence is weighted", rule("weighted_average"), votes([1, 1, 0], [1, 3, 1]), 1, 0.925],
    ["majority for", rule("majority"), votes([0.7], [0.9], [0]), 1, 0.7 / 3 + 0.3],
    ["majority against, whatever the weights", rule("majority"), votes([0.9, 100], [0], [0.1]), 0, 0.7 / 3 + 0.3],
    ["all of one mind", rule("majority"), votes([1, 1, 0.5], [1, 1, 0.5]), 1, 0.85],
    ["unanimous: mean score, least confidence", rule("unanimous"), votes([0.8, 1, 0.6], [1, 5, 0.9]), 0.9, 0.6],
    ["the threshold itself passes", rule("unanimous"), votes([0.7], [0.7]), 0.7, 1],
    ["best one", rule("best_of_n", 1), votes([0.9, 1, 0.5], [0.6, 1, 1]), 0.6, 1],
    ["best two, by weight", rule("best_of_n", 2), votes([0.9], [0.6, 3], [0.1]), 0.675, 1],
    ["best of all by default", rule("best_of_n"), votes([1], [0]), 0.5, 1],
    ["more than there are", rule("best_of_n", 9), votes([1], [0]), 0.5, 1],
    ["ties by list order", rule("best_of_n", 1), votes([0.5, 1, 0.8], [0.8, 1, 0.5]), 0.5, 0.8],
  ])("%s", (_, given, list, score, confidence) => {
    const found = consensusOf(given, list);
    expect(found.score).toBeCloseTo(score, 10);
    expect(found.confidence).toBeCloseTo(confidence, 10);
  });

  test("a threshold met on paper is met", () => {
    expect(consensusOf(rule("weighted_average"), votes([0.9, 1], [0.5, 3]))).toEqual({ score: 0.6, confidence: 0.916 });
  });
});

const share = fc.double({ min: 0, max: 1, noNaN: true });
const weight = fc.double({ min: 0.001, max: 1_000_000, noNaN: true });
const list = fc.array(fc.record({ score: share, confidence: share, weight }), { minLength: 1, maxLength: 9 });
const strategies = fc.constantFrom<Strategy>("weighted_average", "majority", "unanimous", "best_of_n");
const some = { strategy: strategies, threshold: share, n: fc.option(fc.integer({ min: 1, max: 9 })) };

test("results stay between 0 and 1, and a score within what the judges gave", () => {
  fc.assert(
    fc.property(fc.record(some), list, (given, given_votes) => {
      const { score, confidence } = consensusOf(given, given_votes);
      for (const value of [score, confidence]) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
      }
      const scores = given_votes.map((vote) => vote.score);
      if (given.strategy === "weighted_average" || given.strategy === "best_of_n") {
        expect(score).toBeGreaterThanOrEqual(Math.min(...scores) - 1e-9);
        expect(score).toBeLessThanOrEqual(Math.max(...scores) + 1e-9);
      }
    }),
  );
});

test("the order of the judges says nothing, except in ties of best_of_n", () => {
  fc.assert(
    fc.property(
      fc.record({ ...some, strategy: strategies.filter((one) => one !== "best_of_n") }),
      list,
      (given, all) => {
        const found = consensusOf(given, all);
        const turned = consensusOf(given, [...all].reverse());
        expect(turned.score).toBeCloseTo(found.score, 9);
        expect(turned.confidence).toBeCloseTo(found.confidence, 9);
      },
    ),
  );
});

test("only the ratio of the weights counts", () => {
  fc.assert(
    fc.property(fc.record(some), list, fc.double({ min: 0.01, max: 1000, noNaN: true }), (given, all, factor) => {
      const found = consensusOf(given, all);
      const scaled = consensusOf(
        given,
        all.map((vote) => ({ ...vote, weight: vote.weight * factor })),
      );
      expect(scaled.score).toBeCloseTo(found.score, 9);
      expect(scaled.confidence).toBeCloseTo(found.confidence, 9);
    }),
  );
});

test("judges in agreement count: their score, full confidence", () => {
  fc.assert(
    fc.property(share, fc.array(weight, { minLength: 1, maxLength: 9 }), (score, weights) => {
      const all = weights.map((one) => ({ score, confidence: 1, weight: one }));
      const found = consensusOf({ strategy: "weighted_average", threshold: 0.7, n: null }, all);
      expect(found.score).toBeCloseTo(score, 9);
      expect(found.confidence).toBeCloseTo(1, 6);
    }),
  );
});
