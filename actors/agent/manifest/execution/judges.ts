/** Validators that ask other agents: `semantic` and `multi_judge`, and the judges of tool calls. */

import { second, weight } from "../../../manifest/members.ts";
import { object } from "../../../manifest/object.ts";
import { choice, integer, list, share, text } from "../../../manifest/shape.ts";
import { agentName } from "../metadata.ts";
import type { JudgeValidator } from "./results.ts";

type Semantic = Extract<JudgeValidator, { type: "semantic" }>;
type MultiJudge = Extract<JudgeValidator, { type: "multi_judge" }>;

const maxJudges = 9;
const filled = text({ max: 100_000, pattern: /\S/, form: "more than blanks" });
const timeout_seconds = integer(1, 3600)
  .or(300)
  .as((seconds) => seconds * second);

/** What the result of a validator must reach. */
export const passing = (minScore: number) => ({ min_score: share.or(minScore), min_confidence: share.or(0) });

/** Who it is, is found out where agents are stored. */
const judgeName = text(agentName).check((name, _scope, fields, key) => {
  fields.findings.judge(fields.at(key), name);
  return null;
});

const semanticMembers = {
  judge_agent: judgeName.required(),
  criteria: filled.required(),
  timeout_seconds,
  ...passing(0.7),
};
export const semantic = object(semanticMembers).build(semanticOf);

function semanticOf({
  judge_agent,
  criteria,
  timeout_seconds: timeout_ms,
  min_score,
  min_confidence,
}: {
  readonly judge_agent: string | null;
  readonly criteria: string | null;
  readonly timeout_seconds: number;
  readonly min_score: number;
  readonly min_confidence: number;
}): Semantic | null {
  if (judge_agent === null || criteria === null) return null;
  return { type: "semantic", judge_agent, criteria, timeout_ms, min_score, min_confidence };
}

/** The spelling of the object form: `prompt` for `criteria`, `threshold` for `min_score`. */
export const olderSemantic = object({
  judge_agent: judgeName.required(),
  criteria: filled,
  prompt: filled.when(({ criteria }) => criteria === null),
  threshold: share,
  min_score: share,
  min_confidence: share.or(0),
  timeout_seconds,
}).build(({ prompt, threshold, ...read }, fields) => {
  if (!fields.has("criteria") && !fields.has("prompt")) fields.issue("prompt", "is required");
  return semanticOf({ ...read, criteria: read.criteria ?? prompt, min_score: read.min_score ?? threshold ?? 0.7 });
});

const judge = object({
  agent: text(agentName).required(),
  weight,
}).build(({ agent, weight }, fields) => {
  if (agent === null) return null;
  fields.findings.judge(fields.isShorthand ? fields.path : fields.at("agent"), agent);
  return { agent, weight };
});

export const multiJudge = object({
  judges: list(judge.orOnly("agent"), maxJudges, "must name a judge").required(),
  criteria: filled.required(),
  consensus: choice("weighted_average", "majority", "unanimous", "best_of_n").or("weighted_average"),
  threshold: share.or(0.7),
  n: integer(1, maxJudges).when(({ consensus }) => consensus === "best_of_n"),
  min_judges_required: integer(1, maxJudges).or(1),
  timeout_seconds,
  ...passing(0.7),
}).build(({ judges, criteria, timeout_seconds: timeout_ms, ...rest }, fields): MultiJudge | null => {
  const count = judges?.length ?? 0;
  if (count > 0 && rest.min_judges_required > count) {
    fields.issue("min_judges_required", "is more than there are judges");
  }
  if (judges === null || criteria === null) return null;
  return { type: "multi_judge", judges: [...judges], criteria, timeout_ms, ...rest };
});

/** `spec.execution.tool_validation`: asked in order before a tool runs. */
export const toolJudges = list(object({ type: choice("semantic"), ...semanticMembers }).build(semanticOf), 16).or([]);
