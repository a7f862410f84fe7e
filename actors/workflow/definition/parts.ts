/** What states of all kinds are made of: rules, retries, templates, mounts, judges. */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../kernel/json.ts";
import { Milliseconds, Nullable } from "../../kernel/schema.ts";

/** Handlebars source; see `actors/template/template.ts`. */
export const Template = Type.String();

export const oneOf = <T extends string>(...names: readonly T[]) => Type.Union(names.map((name) => Type.Literal(name)));

/** Names of conditions, aliases folded (`input_equals_yes` → approved, `input_equals_no` → rejected). */
export const Condition = Type.Union([
  Type.Object({
    on: oneOf(
      "always",
      "on_success",
      "on_failure",
      "on_timeout",
      "exit_code_zero",
      "exit_code_non_zero",
      "all_approved",
      "any_rejected",
      "approved",
      "rejected",
    ),
  }),
  Type.Object({ on: Type.Literal("exit_code"), value: Type.Integer() }),
  Type.Object({
    on: oneOf("score_above", "score_below", "confidence_above", "score_and_confidence_above"),
    threshold: Type.Number(),
    /** Of `score_and_confidence_above`: what the confidence must be above. */
    confidence: Type.Optional(Type.Number()),
  }),
  Type.Object({ on: Type.Literal("score_between"), min: Type.Number(), max: Type.Number() }),
  Type.Object({ on: Type.Literal("consensus"), threshold: Type.Number(), agreement: Type.Number() }),
  Type.Object({ on: Type.Literal("input_equals"), value: Type.String() }),
  Type.Object({ on: Type.Literal("custom"), expression: Type.String() }),
]);
export type Condition = Static<typeof Condition>;

/** Rules that ask for a score: a result without one matches none of them. */
export const scoreRules: ReadonlySet<Condition["on"]> = new Set([
  "score_above",
  "score_below",
  "score_between",
  "confidence_above",
  "score_and_confidence_above",
  "consensus",
  "all_approved",
  "any_rejected",
]);

export const Transition = Type.Object({
  /** As the manifest spells it, for events and graphs. */
  condition: Type.String(),
  rule: Condition,
  target: Type.String(),
  /** Null: the next state's `state.feedback` is cleared. */
  feedback: Nullable(Template),
});
export type Transition = Static<typeof Transition>;

/** Attempts at a state within one visit; those after the first wait longer each time. */
export const Retry = Type.Object({
  /** The first included. */
  attempts: Type.Integer({ minimum: 1, maximum: 10 }),
  delay_ms: Milliseconds,
  /** Each delay is so many times the one before. */
  backoff: Type.Number({ minimum: 1 }),
  max_delay_ms: Milliseconds,
  /** Codes of failures that are tried again; `all`: every one. */
  on: Type.Array(Type.String(), { minItems: 1 }),
});
export type Retry = Static<typeof Retry>;

/** What states of all kinds have. */
export const common = {
  /** Empty: terminal. */
  transitions: Type.Array(Transition),
  /** Null: none of its own (an Agent: the agent's). Commands and Human states always have one. */
  timeout_ms: Nullable(Milliseconds),
  max_state_visits: Type.Integer({ minimum: 1, maximum: 20 }),
  outcome: oneOf("completed", "failed"),
  /** Of any kind but Human, Wait and ContainerRun, which keeps its own. Absent: one attempt. */
  retry: Type.Optional(Retry),
  /** The state that undoes this one. Absent: none. */
  compensate: Type.Optional(Type.String()),
  /** Of a terminal state: the input of the run that follows one that completes here. Absent: none follows. */
  continue_as: Type.Optional(Type.Object({ input: AnyJson })),
  /** Where it stands: in this branch of this Branch state. Absent: in no branch. */
  branch: Type.Optional(Type.Object({ state: Type.String(), name: Type.String() })),
};

/** A declared volume inside a state's sandbox. */
export const StateMount = Type.Object({ name: Type.String(), mount_path: Type.String(), read_only: Type.Boolean() });
export type StateMount = Static<typeof StateMount>;

export const Judge = Type.Object({
  /** Name or UUID. */
  agent: Type.String(),
  /** Null: the judge's usual input. */
  input_template: Nullable(Template),
  weight: Type.Number({ exclusiveMinimum: 0 }),
});
export type Judge = Static<typeof Judge>;
