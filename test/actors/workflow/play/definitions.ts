/** Definitions of any kinds of states, in any order, with branches, waits and retries. */
import fc from "fast-check";
import type { Retry, Transition } from "../../../../actors/workflow/definition/parts.ts";
import type { Definition, State } from "../../../../actors/workflow/definition.ts";
import {
  agent,
  branches,
  containerRun,
  definitionOf,
  human,
  noop,
  parallelAgents,
  parallelContainers,
  subworkflow,
  system,
  wait,
  ways,
  writes,
} from "../fixture.ts";

const conditions = [
  "always",
  "on_success",
  "on_failure",
  "on_timeout",
  "approved",
  "rejected",
  "exit_code_zero",
  "exit_code_non_zero",
] as const;

const transitionsTo = (names: readonly string[]): fc.Arbitrary<Transition[]> =>
  fc
    .array(
      fc.record({
        condition: fc.constantFrom(...conditions),
        target: fc.constantFrom(...names),
        feedback: fc.constantFrom(undefined, "from {{state.name}}", "{{state.feedback}}!"),
      }),
      { maxLength: 3 },
    )
    .map((list) =>
      list.flatMap(({ condition, target, feedback }) =>
        ways(feedback === undefined ? [condition, target] : [condition, target, feedback]),
      ),
    );

const retry: fc.Arbitrary<Retry | undefined> = fc.option(
  fc.record({
    attempts: fc.integer({ min: 1, max: 3 }),
    delay_ms: fc.constantFrom(0, 1_000),
    backoff: fc.constantFrom(1, 2, 1e300),
    max_delay_ms: fc.constantFrom(1_500, 300_000),
    on: fc.constantFrom(["all"], ["command_failed"], ["state_timeout", "iteration_failed"]),
  }),
  { nil: undefined, freq: 3 },
);

const kinds = [
  "noop",
  "write",
  "refused",
  "human",
  "blank",
  "command",
  "agent",
  "agents",
  "container",
  "containers",
  "sub",
  "free",
  "pause",
  "over",
  "never",
  "signal",
  "signal",
  "stimulus",
] as const;

const stateTo = (names: readonly string[]): fc.Arbitrary<State> =>
  fc
    .tuple(
      fc.constantFrom(...kinds),
      transitionsTo(names),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom("completed" as const, "failed" as const),
      fc.constantFrom(null, 1_000, 60_000),
      retry,
    )
    .map(([kind, list, max_state_visits, outcome, timeout_ms, again]) => {
      const change = { max_state_visits, outcome, transitions: list };
      const state = { ...made(kind, list), ...change } as State;
      const timed = ["agent", "agents", "sub", "signal", "stimulus"].includes(kind) ? { ...state, timeout_ms } : state;
      const mayRetry = !["Human", "Wait", "ContainerRun"].includes(state.kind);
      return (again === undefined || !mayRetry ? timed : { ...timed, retry: again }) as State;
    });

function made(kind: (typeof kinds)[number], list: Transition[]): State {
  switch (kind) {
    case "noop":
      return noop();
    case "write":
      return writes({ counter: "{{state.visit}}{{counter}}" });
    case "refused":
      return writes({ execution: "x" });
    case "human":
      return human(list);
    case "blank":
      return human(list, { prompt: "{{nothing}}" });
    case "agents":
      return parallelAgents(list);
    case "container":
      return containerRun(list);
    case "containers":
      return parallelContainers(list);
    case "sub":
      return subworkflow(list);
    case "free":
      return subworkflow(list, { mode: "fire_and_forget", result_key: null });
    case "command":
      return system("true {{input.x}}", list);
    case "pause":
      return wait({ what: "seconds", seconds: "30" }, list);
    case "over":
      return wait({ what: "until", until: "2031-01-01" }, list);
    case "never":
      return wait({ what: "seconds", seconds: "{{state.name}}" }, list);
    case "signal":
      return wait("go", list);
    case "stimulus":
      return wait({ what: "stimulus", source: "shop", key: "id", equals: "{{execution.id}}", match: null }, list);
    default:
      return agent(list);
  }
}

const main = ["A", "B", "C", "constructor", "S"] as const;
const lines = { left: ["L1", "L2"], toString: ["R1", "R2"], third: ["T1"] } as const;

/** Of states of random kinds, a Branch among them. */
export const definition: fc.Arbitrary<Definition> = fc
  .record({
    main: fc.tuple(...main.map(() => stateTo(main))),
    left: fc.tuple(...lines.left.map(() => stateTo(lines.left))),
    right: fc.tuple(...lines.toString.map(() => stateTo(lines.toString))),
    third: fc.tuple(...lines.third.map(() => stateTo(lines.third))),
    isWide: fc.boolean(),
    isFirst: fc.boolean(),
    join: fc.integer({ min: 1, max: 3 }),
    ways: transitionsTo(main),
    timeout_ms: fc.constantFrom(null, 20_000),
    retry,
    max_total_transitions: fc.integer({ min: 1, max: 20 }),
  })
  .map((made) => {
    const side = {
      left: named(lines.left, made.left),
      toString: named(lines.toString, made.right),
      ...(made.isWide ? { third: named(lines.third, made.third) } : {}),
    };
    const join = Math.min(made.join, Object.keys(side).length);
    const { timeout_ms, retry } = made;
    const split = branches("S", join, side, made.ways, { timeout_ms, ...(retry === undefined ? {} : { retry }) });
    const states = { ...named(main, made.main), ...split };
    const { max_total_transitions } = made;
    return definitionOf(states, { max_total_transitions, initial_state: made.isFirst ? "S" : "A" });
  });

const named = (names: readonly string[], states: readonly State[]): Record<string, State> =>
  Object.fromEntries(names.map((name, at) => [name, states[at] as State]));
