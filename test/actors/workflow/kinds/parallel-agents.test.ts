/** ParallelAgents: all at once, the consensus over their verdicts or their judges', what becomes of failures. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Consensus, ParallelAgentsState } from "../../../../actors/workflow/definition/states.ts";
import { Cast } from "../cast.ts";
import { ways } from "../fixture.ts";

const followed = ways(["on_success", "DONE"], ["on_failure", "SORRY"]);
const rule: Consensus = {
  strategy: "weighted_average",
  threshold: 0.7,
  agreement: null,
  n: null,
  min_judges_required: 1,
  agreement_factor: 0.7,
  self_confidence_factor: 0.3,
};

/** Agents `a`, `b`, … of these weights. */
function parallel(
  weights: readonly number[],
  consensus: Partial<Consensus> = {},
  change: Partial<ParallelAgentsState> = {},
): ParallelAgentsState {
  return {
    kind: "ParallelAgents",
    timeout_ms: null,
    max_state_visits: 5,
    outcome: "completed",
    transitions: followed,
    agents: weights.map((weight, at) => ({
      agent: String.fromCharCode(97 + at),
      input: `{{input.text}} ${at}`,
      weight,
      timeout_ms: 600_000 + at,
    })),
    consensus: { ...rule, ...consensus },
    judges_for_parallel: [],
    output_handler: null,
    ...change,
  };
}

/** Lets every agent at work say its own, in order. */
function allSay(cast: Cast, ...outputs: readonly string[]): Cast {
  const open = cast.open;
  outputs.forEach((output, at) => {
    const child = open[at];
    if (child !== undefined) cast.says(output, child);
  });
  return cast;
}
const says = (score: number, confidence?: number, reasoning?: string) =>
  JSON.stringify({ score, confidence, reasoning });
const consensusIn = (cast: Cast) => cast.result.consensus as Record<string, unknown>;

test("all are started at once, each with its own input and time", () => {
  const cast = Cast.of(parallel([1, 1]), { input: { text: "t" } });
  expect(cast.open.map(({ agent, input, timeout_ms, trigger }) => [agent, input, timeout_ms, trigger])).toEqual([
    ["a", "t 0", 600_000, "workflow"],
    ["b", "t 1", 600_001, "workflow"],
  ]);
});

test("results stand by position in any order of arrival", () => {
  const cast = Cast.of(parallel([1, 3]));
  const [a, b] = cast.open;
  if (a === undefined || b === undefined) throw new Error("two agents were to be started");
  cast.says(says(0.5, 1, "so-so"), b).says(says(0.9, 1, "fine"), a);
  expect(cast.result).toEqual({
    status: "completed",
    consensus: {
      score: 0.6,
      confidence: 0.916,
      binary_valid: false,
      strategy: "weighted_average",
      metadata: {
        individual_outputs: [
          { score: 0.9, confidence: 1, reasoning: "fine" },
          { score: 0.5, confidence: 1, reasoning: "so-so" },
        ],
        individual_results: cast.result.individual_results ?? null,
        reasoning: "a: fine\nb: so-so",
        agents_without_verdict: [],
      },
    },
    agents: [
      {
        agent: "a",
        execution_id: a.child_execution_id,
        status: "completed",
        output: { score: 0.9, confidence: 1, reasoning: "fine" },
      },
      {
        agent: "b",
        execution_id: b.child_execution_id,
        status: "completed",
        output: { score: 0.5, confidence: 1, reasoning: "so-so" },
      },
    ],
    individual_results: [
      { judge: "a", execution_id: a.child_execution_id, score: 0.9, confidence: 1, reasoning: "fine", weight: 1 },
      { judge: "b", execution_id: b.child_execution_id, score: 0.5, confidence: 1, reasoning: "so-so", weight: 3 },
    ],
  });
});

describe("consensus, computed by hand", () => {
  test.each([
    // μ = (0.9 + 3·0.5)/4; V = (1·0.09 + 3·0.01)/4 = 0.03; 0.7·(1 − 0.12) + 0.3
    [
      "weighted_average",
      {},
      [1, 3],
      [
        [0.9, 1],
        [0.5, 1],
      ],
      0.6,
      0.916,
    ],
    // The same with other factors: 0.2·0.88 + 0.8·(0.5 + 3·1)/4
    [
      "weighted_average",
      { agreement_factor: 0.2, self_confidence_factor: 0.8 },
      [1, 3],
      [
        [0.9, 0.5],
        [0.5, 1],
      ],
      0.6,
      0.876,
    ],
    // One vote for, one against: 0.7·0 + 0.3·1
    [
      "majority",
      {},
      [1, 1],
      [
        [0.9, 1],
        [0.5, 1],
      ],
      0.5,
      0.3,
    ],
    // Two of three: 0.5·1/3 + 0.5·(0.6 + 0.9 + 0.3)/3
    [
      "majority",
      { agreement_factor: 0.5, self_confidence_factor: 0.5 },
      [1, 1, 1],
      [
        [0.7, 0.6],
        [1, 0.9],
        [0, 0.3],
      ],
      1,
      0.466666666667,
    ],
    [
      "unanimous",
      {},
      [1, 1],
      [
        [0.9, 1],
        [0.5, 1],
      ],
      0,
      1,
    ],
    [
      "unanimous",
      { threshold: 0.5 },
      [1, 1],
      [
        [0.9, 0.4],
        [0.5, 1],
      ],
      0.7,
      0.4,
    ],
    // The best two by score · confidence are b and c: (2·1 + 1·0.4)/3, (0.5 + 1)/2
    [
      "best_of_n",
      { n: 2 },
      [9, 2, 1],
      [
        [0.9, 0.1],
        [1, 0.5],
        [0.4, 1],
      ],
      0.8,
      0.75,
    ],
    // Without confidence 0.8 is assumed: 0.7 + 0.3·0.8
    ["weighted_average", {}, [1], [[1]], 1, 0.94],
  ] as const)("%s %j", (strategy, change, weights, verdicts, score, confidence) => {
    const cast = Cast.of(parallel(weights, { strategy, ...change }));
    allSay(cast, ...verdicts.map(([one, sure]) => says(one, sure)));
    expect(consensusIn(cast)).toMatchObject({ score, confidence, strategy });
  });

  test.each([
    [{ threshold: 0.6 }, true],
    [{ threshold: 0.6, agreement: 0.916 }, true],
    [{ threshold: 0.6, agreement: 0.92 }, false],
    [{ threshold: 0.61 }, false],
  ])("binary_valid under %j", (change, expected) => {
    const cast = allSay(Cast.of(parallel([1, 3], change)), says(0.9, 1), says(0.5, 1));
    expect(consensusIn(cast).binary_valid).toBe(expected);
    expect(cast.result.status).toBe("completed");
  });
});

describe("judges without a verdict, and failed ones", () => {
  test("an agent without verdict is named and left out", () => {
    const cast = allSay(Cast.of(parallel([1, 1])), "just prose", says(1));
    expect(cast.result).toMatchObject({ status: "completed", consensus: { score: 1 } });
    expect(consensusIn(cast).metadata).toMatchObject({ agents_without_verdict: ["a"] });
  });

  test("a failed one is recorded; the state goes on with the others", () => {
    const cast = Cast.of(parallel([1, 1]));
    const [a, b] = cast.open;
    if (a === undefined || b === undefined) throw new Error("two agents were to be started");
    cast.refused("agent_not_found", a).says(says(0.9), b);
    expect(cast.result).toMatchObject({
      status: "completed",
      agents: [{ agent: "a", status: "failed", output: null, error_code: "agent_not_found" }, { status: "completed" }],
    });
    expect(consensusIn(cast).metadata).toMatchObject({ agents_without_verdict: ["a"] });
  });

  test("too few verdicts", () => {
    const cast = allSay(Cast.of(parallel([1, 1, 1], { min_judges_required: 2 })), says(1), "no", "no");
    expect(cast.result).toMatchObject({ status: "failed", error: "insufficient_judges" });
    expect(consensusIn(cast)).not.toHaveProperty("score");
  });

  test("no verdict at all and no judges: the agents decide, and there is no score", () => {
    const cast = allSay(Cast.of(parallel([1, 1], { min_judges_required: 2 })), "one", "two");
    expect(cast.result).toMatchObject({ status: "completed", individual_results: [] });
    expect(consensusIn(cast)).not.toHaveProperty("score");
    expect(consensusIn(cast)).not.toHaveProperty("binary_valid");
  });

  test("all fail", () => {
    const cast = Cast.of(parallel([1, 1]));
    for (const child of cast.open) cast.refused("agent_paused", child);
    expect(cast.result).toMatchObject({ status: "failed", error: "all_agents_failed" });
    expect(cast.result.message).toStartWith("No agent of WORK completed:\nThe agent a of WORK ");
    expect(cast.way).toEqual(["WORK", "SORRY"]);
  });

  test("outputs that no result could hold end the state at once", () => {
    const cast = Cast.of(parallel([1, 1, 1, 1, 1]));
    for (const child of cast.open.slice(0, 4)) cast.says("x".repeat(1_000_000), child);
    expect(cast.result).toMatchObject({ status: "failed", error: "blackboard_too_large" });
    expect(cast.open).toEqual([]);
  });
});

describe("judges_for_parallel", () => {
  const judged = {
    judges_for_parallel: ["j", "k"].map((agent, at) => ({ agent, input_template: null, weight: 1 + 2 * at })),
  };

  test("outputs are judged as blocks by agent name; agents' own verdicts do not count", () => {
    const cast = Cast.of(parallel([1, 1, 1], {}, judged), { input: { text: "t" } });
    const [a, b, c] = cast.open;
    if (a === undefined || b === undefined || c === undefined) throw new Error("three agents were to be started");
    cast.says(says(0.1), a).refused("agent_paused", b).says("prose", c);
    expect(cast.open.map(({ agent, trigger }) => [agent, trigger])).toEqual([
      ["j", "validator"],
      ["k", "validator"],
    ]);
    expect(cast.open[0]?.input).toMatchObject({
      output: '[a]:\n{"score":0.1}\n\n[c]:\nprose',
      task: '["t 0","t 1","t 2"]',
      validation_context: "multi_judge",
    });
    allSay(cast, says(0.9, 1, "fine"), says(0.5, 1));
    expect(cast.result).toMatchObject({ status: "completed", consensus: { score: 0.6, confidence: 0.916 } });
    expect((cast.result.individual_results as { judge: string }[]).map((one) => one.judge)).toEqual(["j", "k"]);
  });

  test("judges without verdict", () => {
    const cast = allSay(Cast.of(parallel([1], {}, judged)), says(1));
    allSay(cast, "no", "no");
    expect(cast.result).toMatchObject({ status: "failed", error: "insufficient_judges" });
    expect(consensusIn(cast).metadata).toMatchObject({ agents_without_verdict: ["j", "k"] });
  });

  test("nothing is judged when every agent failed", () => {
    const cast = Cast.of(parallel([1], {}, judged)).refused("agent_paused");
    expect(cast.result).toMatchObject({ status: "failed", error: "all_agents_failed" });
    expect(cast.result.message).toStartWith("No agent of WORK completed:\nThe agent a of WORK ");
  });
});

test("a blank name fails the state, and no agent starts", () => {
  const cast = Cast.of(
    parallel([1, 1], {}, { agents: [...parallel([1]).agents, { ...parallel([1]).agents[0], agent: " " } as never] }),
  );
  expect(cast.result).toMatchObject({ status: "failed", error: "template_resolved_empty" });
  expect(cast.asked).toEqual([]);
});

test("the state's timeout cancels running agents and shows finished results", () => {
  const cast = Cast.of(parallel([1, 1], {}, { timeout_ms: 60_000 }));
  const [a, b] = cast.open;
  if (a === undefined || b === undefined) throw new Error("two agents were to be started");
  cast.says("done", a).sim.fireNext();
  cast.settle();
  expect(cast.result).toMatchObject({
    status: "failed",
    error: "state_timeout",
    timed_out: true,
    agents: [
      { status: "completed", output: "done" },
      { agent: "b", status: "cancelled", error_code: "state_timeout", execution_id: b.child_execution_id },
    ],
  });
});

test("any failures and replies: one result, nothing left running, scores from verdicts", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const said = fc.oneof(
    fc.tuple(share, share).map(([score, confidence]) => says(score, confidence)),
    fc.constantFrom(null, "prose", "{}"),
  );
  const strategy = fc.constantFrom(
    "weighted_average" as const,
    "majority" as const,
    "unanimous" as const,
    "best_of_n" as const,
  );
  const weighty = fc.array(fc.tuple(fc.double({ min: 0.01, max: 100, noNaN: true }), said), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(
      strategy,
      weighty,
      fc.nat({ max: 3 }),
      fc.infiniteStream(fc.nat()),
      (chosen, agents, required, order) => {
        const cast = Cast.of(
          parallel(
            agents.map(([weight]) => weight),
            { strategy: chosen, min_judges_required: 1 + required },
          ),
        );
        const ids = cast.open.map(({ child_execution_id: id }) => id);
        while (cast.open.length > 0) {
          const child = cast.open[(order.next().value ?? 0) % cast.open.length];
          if (child === undefined) break;
          const [, output] = agents[ids.indexOf(child.child_execution_id)] ?? [1, null];
          if (output === null) cast.refused("agent_paused", child);
          else cast.says(output, child);
        }
        const verdicts = agents.filter(([, output]) => output?.includes("score")).length;
        const completed = agents.filter(([, output]) => output !== null).length;
        const fails = completed === 0 || (verdicts > 0 && verdicts < 1 + required);
        expect(cast.result.status).toBe(fails ? "failed" : "completed");
        const { score, confidence } = consensusIn(cast);
        expect(score === undefined).toBe(fails || verdicts === 0);
        for (const one of [score, confidence].filter((value) => value !== undefined)) {
          expect(Number(one)).toBeGreaterThanOrEqual(0);
          expect(Number(one)).toBeLessThanOrEqual(1);
        }
      },
    ),
    { numRuns: 200 },
  );
});
