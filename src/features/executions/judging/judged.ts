/** What judges are told of an execution whose output they judge. */
import { executionEvents } from "../../../../actors/execution/events.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import type { JudgedRun } from "../../../../actors/execution/judging/judge-verdict.ts";
import { renderPrompt } from "../../../../actors/execution/prompt.ts";
import { iterationRecords } from "../../../../actors/execution/record/record.ts";
import type { Plan } from "../../../../actors/execution/start/plan.ts";
import type { ExecutionState } from "../../../../actors/execution/state.ts";
import type { Address, Runtime } from "../../../runtime/port.ts";
import { readLog } from "../iteration/loop/loop-activities.ts";
import type { Plans } from "../plans.ts";

export type JudgedFacts = Pick<JudgedRun, "task" | "calls" | "violations"> & { readonly mounts: Plan["mounts"] };

/** What any judge is given of an iteration: a validator's, a tool's or a workflow's. */
export async function judgedRun(
  runtime: Pick<Runtime, "of">,
  actor: Address,
  { header }: Pick<ExecutionState, "header">,
  plan: Plan,
  iteration: number,
): Promise<JudgedFacts> {
  const events = await readLog(runtime, actor, executionEvents, 1, Number.MAX_SAFE_INTEGER);
  const records = iterationRecords(
    events.map(({ entry }) => entry),
    false,
  );
  const current = records.find(({ number }) => number === iteration);
  const facts = { intent: header.intent, iteration, maxIterations: header.max_iterations, context: "", history: [] };
  return {
    task: renderPrompt({ ...plan, prompt_template: null }, facts),
    calls: current?.trajectory ?? [],
    violations: current?.policy_violations ?? [],
    mounts: plan.mounts,
  };
}

/** The same of an execution's last iteration; null when it is gone. @param judged of this tenant */
export function judgedFacts({ runtime, plans }: { readonly runtime: Pick<Runtime, "of">; readonly plans: Plans }) {
  return async (judged: Address): Promise<JudgedFacts | null> => {
    const state = await runtime.of(execution).at(judged.tenant, judged.key).read();
    if (state === null) return null;
    return judgedRun(runtime, judged, state, await plans.of(judged), state.iteration.number);
  };
}
