/**
 * Tool judges and calls that come another way than by the agent's loop: the judges of an agent are asked in its loop. A
 * call that is signed, and would have to pass them, is not made: else an agent could go round its judges.
 */
import { execution } from "../../../../actors/execution/execution.ts";
import type { JudgeCall } from "../../pipeline/port.ts";
import type { Plans } from "../plans.ts";

export const judgesOutside =
  (plans: Pick<Plans, "of">): JudgeCall =>
  async ({ tenant, entry, who }, { tool }) => {
    if (entry === "dispatch" || who.execution === null || tool.always === true) return null;
    const { tool_judges } = await plans.of({ kind: execution.kind, key: who.execution.id, tenant });
    const names = tool_judges.flatMap((judge) =>
      judge.type === "semantic" ? [judge.judge_agent] : judge.judges.map(({ agent }) => agent),
    );
    if (names.length === 0) return null;
    const reason = "tool judges are asked about calls of the agent's loop only; this call did not come from it";
    return { judge: [...new Set(names)].join(", "), score: 0, reason };
  };
