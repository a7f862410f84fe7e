/** What an execution keeps of a question to judges: the rule it is decided by, and who has said what. */

import { type Static, Type } from "@sinclair/typebox";
import type { JudgeValidator } from "../../agent/manifest/execution/results.ts";
import { Nullable } from "../../kernel/schema.ts";
import { ChildInput } from "../child.ts";
import { JudgeVerdict } from "./judge-verdict.ts";

/** The part of a judge validator that stays in the state. */
export const PanelRule = Type.Object({
  judges: Type.Array(Type.Object({ agent: Type.String(), weight: Type.Number() })),
  /** Null: a single judge, whose verdict is the finding. */
  consensus: Nullable(
    Type.Object({
      strategy: Type.Union([
        Type.Literal("weighted_average"),
        Type.Literal("majority"),
        Type.Literal("unanimous"),
        Type.Literal("best_of_n"),
      ]),
      threshold: Type.Number(),
      n: Nullable(Type.Integer()),
      min_judges_required: Type.Integer(),
    }),
  ),
  timeout_ms: Type.Integer(),
});
export type PanelRule = Static<typeof PanelRule>;

const Seat = Type.Object({
  agent: Type.String(),
  weight: Type.Number(),
  execution_id: Type.String(),
  open: Type.Boolean(),
  verdict: Nullable(JudgeVerdict),
  /** Why there is no verdict. */
  failure: Nullable(Type.String()),
});

export const Panel = Type.Object({
  id: Type.String(),
  /** Times the question was asked. */
  attempt: Type.Integer(),
  input: ChildInput,
  seats: Type.Array(Seat),
});
export type Panel = Static<typeof Panel>;

export function panelRuleOf(validator: JudgeValidator): PanelRule {
  if (validator.type === "semantic") {
    const { judge_agent, timeout_ms } = validator;
    return { judges: [{ agent: judge_agent, weight: 1 }], consensus: null, timeout_ms };
  }
  const { judges, consensus: strategy, threshold, n, min_judges_required, timeout_ms } = validator;
  return { judges: [...judges], consensus: { strategy, threshold, n, min_judges_required }, timeout_ms };
}
