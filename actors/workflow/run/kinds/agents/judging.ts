/** How the judges of a state are asked, and how what they found is kept. */

import { judgeInput } from "../../../../execution/judging/judge-verdict.ts";
import type { MountPlan } from "../../../../execution/start/plan.ts";
import type { Json } from "../../../../kernel/json.ts";
import { print } from "../../../../template/helpers.ts";
import type { Judge } from "../../../definition/parts.ts";
import { judgeTimeoutMs, startChild, verdictOf } from "../../children/children.ts";
import type { RunTurn } from "../../turn.ts";
import type { AgentChild, AgentEnd, JudgeResult } from "../../work.ts";

/** What judges are shown. */
export interface Question {
  /** What the judged agent was asked. */
  readonly input: Json;
  readonly intent: string | null;
  /** "" before there is one. */
  readonly output: Json;
  readonly iteration: number;
  /** Whose output it is; null: of no single agent. */
  readonly execution_id: string | null;
  /** What the judged agent works in. */
  readonly mounts: readonly MountPlan[];
}

/** Asks one agent for its verdict. @throws TemplateError */
export function askJudge(
  run: RunTurn,
  role: "judge" | "pre_validator",
  { agent, input_template }: Pick<Judge, "agent" | "input_template">,
  index: number,
  of: number,
  question: Question,
): AgentChild {
  const { input, output, iteration, execution_id, mounts } = question;
  const usual = input_template === null;
  return startChild(run, {
    role,
    index,
    agent,
    input: usual
      ? usualInput(question, of)
      : run.renderValue(input_template, { output, input, iteration_number: iteration }),
    timeout_ms: judgeTimeoutMs,
    judged: { execution_id, mounts: [...mounts], usual },
  });
}

/** Asks all judges of a state at once. @throws TemplateError */
export function askJudges(run: RunTurn, judges: readonly Judge[], question: Question): AgentChild[] {
  return judges.map((judge, index) => askJudge(run, "judge", judge, index, judges.length, question));
}

/** As an agent's own judges are asked; a state has no criteria beyond what it asks its agents. */
function usualInput({ input, intent, output, iteration, mounts }: Question, judges: number): Json {
  const asked = print(input);
  return judgeInput({
    task: intent === null ? asked : `Intent: ${intent}\n\n${asked}`,
    output: print(output),
    criteria: intent ?? "",
    iteration,
    context: judges === 1 ? "semantic_judge" : "multi_judge",
    calls: [],
    violations: [],
    mounts,
  });
}

/** Null: no verdict. */
export function judgeResult(end: AgentEnd, weight: number): JudgeResult | null {
  const verdict = verdictOf(end);
  if (verdict === null) return null;
  const { score, confidence, reasoning } = verdict;
  return { judge: end.agent, execution_id: end.execution_id, score, confidence, reasoning, weight };
}

/** The verdicts that there are, of those of all judges. */
export function resultsOf(verdicts: readonly (JudgeResult | null)[]): JudgeResult[] {
  return verdicts.filter((one) => one !== null);
}

/** The judges' words, each after its name; one judge's own alone. */
export function reasoningOf(results: readonly JudgeResult[]): string {
  if (results.length === 1) return results[0]?.reasoning ?? "";
  return results
    .filter(({ reasoning }) => reasoning !== "")
    .map(({ judge, reasoning }) => `${judge}: ${reasoning}`)
    .join("\n");
}
