/** Validators that ask other agents: `semantic` and `multi_judge`, and the judges of tool calls. */

import type { JudgeValidator } from "../../execution/start/plan.ts";
import { isObject, type Json } from "../../kernel/json.ts";
import { Fields } from "../../manifest/fields.ts";
import { agentName } from "./metadata.ts";
import { readPassing } from "./passing.ts";

type Semantic = Extract<JudgeValidator, { type: "semantic" }>;
type MultiJudge = Extract<JudgeValidator, { type: "multi_judge" }>;
type Judge = MultiJudge["judges"][number];

const second = 1000;
const maxToolJudges = 16;
const maxJudges = 9;
const share = { min: 0, max: 1 };
const text = { max: 100_000, pattern: /\S/, form: "more than blanks" };

/** @returns null only after an issue */
export function readSemantic(fields: Fields): Semantic | null {
  const judge = readName(fields, "judge_agent");
  const criteria = fields.requiredText("criteria", text);
  const rest = { timeout_ms: readTimeout(fields), ...readPassing(fields, 0.7) };
  return judge === null || criteria === null ? null : { type: "semantic", judge_agent: judge, criteria, ...rest };
}

/**
 * The spelling of the object form: `prompt` for `criteria`, `threshold` for `min_score`.
 * @returns null only after an issue
 */
export function readOlderSemantic(fields: Fields): Semantic | null {
  const judge = readName(fields, "judge_agent");
  const criteria = fields.has("criteria") ? fields.text("criteria", text) : fields.requiredText("prompt", text);
  const threshold = fields.number("threshold", share);
  const passing = readPassing(fields, threshold ?? 0.7);
  const timeout_ms = readTimeout(fields);
  if (judge === null || criteria === null) return null;
  return { type: "semantic", judge_agent: judge, criteria, timeout_ms, ...passing };
}

/** @returns null only after an issue */
export function readMultiJudge(fields: Fields): MultiJudge | null {
  const judges = readJudges(fields);
  const criteria = fields.requiredText("criteria", text);
  const consensus = fields.choice("consensus", ["weighted_average", "majority", "unanimous", "best_of_n"]);
  const rest = {
    consensus: consensus ?? "weighted_average",
    threshold: fields.number("threshold", share) ?? 0.7,
    n: consensus === "best_of_n" ? fields.integer("n", { min: 1, max: maxJudges }) : null,
    min_judges_required: fields.integer("min_judges_required", { min: 1, max: maxJudges }) ?? 1,
    timeout_ms: readTimeout(fields),
    ...readPassing(fields, 0.7),
  };
  if (judges.length > 0 && rest.min_judges_required > judges.length) {
    fields.issue("min_judges_required", "is more than there are judges");
  }
  return judges.length === 0 || criteria === null ? null : { type: "multi_judge", judges, criteria, ...rest };
}

/** `spec.execution.tool_validation`: asked in order before a tool runs. */
export function readToolJudges(execution: Fields): readonly JudgeValidator[] {
  return execution.sections("tool_validation", maxToolJudges).flatMap((fields) => {
    fields.choice("type", ["semantic"]);
    const judge = readSemantic(fields);
    fields.close();
    return judge === null ? [] : [judge];
  });
}

function readJudges(fields: Fields): Judge[] {
  const elements = fields.list("judges", maxJudges);
  if (elements === null && !fields.has("judges")) fields.issue("judges", "is required");
  if (elements?.length === 0) fields.issue("judges", "must name a judge");
  return (elements ?? []).flatMap((element, index) => readJudge(fields, element, `judges.${index}`) ?? []);
}

function readJudge(fields: Fields, element: Json, key: string): Judge | null {
  const named = isObject(element) ? element : { agent: element };
  const judge = Fields.of(named, fields.at(key), fields.findings);
  const agent = readName(judge, "agent", isObject(element) ? judge.at("agent") : judge.path);
  const weight = judge.number("weight", { min: 0, max: 1_000_000 });
  if (weight === 0) judge.issue("weight", "must be above 0");
  judge.close();
  return agent === null ? null : { agent, weight: weight ?? 1 };
}

/** @param path where the name is written */
function readName(fields: Fields, key: string, path = fields.at(key)): string | null {
  const name = fields.requiredText(key, agentName);
  if (name !== null) fields.findings.judge(path, name);
  return name;
}

function readTimeout(fields: Fields): number {
  return (fields.integer("timeout_seconds", { min: 1, max: 3600 }) ?? 300) * second;
}
