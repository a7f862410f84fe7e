/** How an execution's results are judged and where its output goes: the manifest says it, plans store it in this shape. */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../../kernel/json.ts";
import { Nullable } from "../../../kernel/schema.ts";

const Passing = { min_score: Type.Number(), min_confidence: Type.Number() };

const Semantic = Type.Object({
  type: Type.Literal("semantic"),
  /** Name of an agent. */
  judge_agent: Type.String(),
  criteria: Type.String(),
  timeout_ms: Type.Integer({ minimum: 1 }),
  ...Passing,
});
const MultiJudge = Type.Object({
  type: Type.Literal("multi_judge"),
  judges: Type.Array(Type.Object({ agent: Type.String(), weight: Type.Number({ exclusiveMinimum: 0 }) }), {
    minItems: 1,
    maxItems: 9,
  }),
  criteria: Type.String(),
  consensus: Type.Union([
    Type.Literal("weighted_average"),
    Type.Literal("majority"),
    Type.Literal("unanimous"),
    Type.Literal("best_of_n"),
  ]),
  threshold: Type.Number(),
  /** Of `best_of_n`; null: all. */
  n: Nullable(Type.Integer({ minimum: 1 })),
  min_judges_required: Type.Integer({ minimum: 1 }),
  timeout_ms: Type.Integer({ minimum: 1 }),
  ...Passing,
});
export type MultiJudge = Static<typeof MultiJudge>;
/** A validator whose measurement is another agent's verdict. */
export const JudgeValidator = Type.Union([Semantic, MultiJudge]);
export type JudgeValidator = Static<typeof JudgeValidator>;

export const Validator = Type.Union([
  Type.Object({ type: Type.Literal("exit_code"), expected: Type.Integer(), ...Passing }),
  Type.Object({
    type: Type.Literal("json_schema"),
    schema: AnyJson,
    target_path: Nullable(Type.String()),
    ...Passing,
  }),
  Type.Object({
    type: Type.Literal("regex"),
    pattern: Type.String(),
    target: Type.Union([Type.Literal("stdout"), Type.Literal("stderr")]),
    flags: Type.String(),
    ...Passing,
  }),
  Semantic,
  MultiJudge,
]);
export type Validator = Static<typeof Validator>;

/** What an accepted output goes through before it is the execution's. */
export const OutputHandler = Type.Union([
  Type.Object({
    type: Type.Literal("agent"),
    /** UUID or name. */
    agent: Type.String(),
    input_template: Type.String(),
    timeout_ms: Type.Integer({ minimum: 1 }),
    required: Type.Boolean(),
  }),
  Type.Object({
    type: Type.Literal("webhook"),
    url: Type.String(),
    method: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
    /** Null: the output as it is. */
    body_template: Nullable(Type.String()),
    timeout_ms: Type.Integer({ minimum: 1 }),
    max_attempts: Type.Integer({ minimum: 1 }),
    required: Type.Boolean(),
  }),
]);
export type OutputHandler = Static<typeof OutputHandler>;

/** Who is told of the end; never alters the execution. */
export const Delivery = Type.Object({
  name: Type.String(),
  condition: Type.Union([Type.Literal("on_success"), Type.Literal("on_failure"), Type.Literal("always")]),
  url: Type.String(),
  method: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  /** Signs the body; null: unsigned. */
  secret: Nullable(Type.String()),
});
export type Delivery = Static<typeof Delivery>;
