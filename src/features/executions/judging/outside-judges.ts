/**
 * The tool judges of an agent, asked about calls that do not come from its loop: signed ones. Its execution opens the
 * panel and keeps it; here the verdict is waited for.
 */
import { execution } from "../../../../actors/execution/execution.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Masker } from "../../../lib/masking/masker.ts";
import { type Address, AskTimeout, type Runtime } from "../../../runtime/port.ts";
import type { JudgeCall } from "../../pipeline/port.ts";
import type { Plans } from "../plans.ts";

export interface OutsideJudgesOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Pick<Plans, "of">;
  /** What an execution was given that is secret; null: nothing. */
  readonly maskerOf: (execution: Address) => Promise<Masker | null>;
}

/**
 * The longest that a request waits for judges, ms: some of what a connection lives is left to the tool. Judges that take
 * longer go on; the call that is repeated under its Idempotency-Key joins them.
 */
const verdictWithinMs = 150_000;

const stillJudged = (tool: string) =>
  new Problem(
    "service_unavailable",
    `The judges of ${tool} have not decided yet: ask again under the same Idempotency-Key`,
    {},
    { "Retry-After": "5" },
  );

export const judgesOutside =
  ({ runtime, plans, maskerOf }: OutsideJudgesOptions): JudgeCall =>
  async ({ tenant, entry, who, idempotencyKey, signal }, { tool, arguments: given }) => {
    if (entry === "dispatch" || who.execution === null || tool.always === true) return { is: "unasked" };
    const { id: key } = who.execution;
    const address = { kind: execution.kind, key, tenant };
    const { tool_judges } = await plans.of(address);
    if (tool_judges.length === 0) return { is: "unasked" };
    const masker = await maskerOf(address);
    const body = { call_id: idempotencyKey, tool: tool.name, arguments: { ...(masker?.maskJson(given) ?? given) } };
    const asked = runtime.of(execution).at(tenant, key).ask("judge_call", body, {
      repeatable: true,
      deadlineMs: verdictWithinMs,
      signal,
    });
    const said = await asked.catch((error: unknown) => {
      throw error instanceof AskTimeout ? stillJudged(tool.name) : error;
    });
    switch (said.status) {
      case "cleared":
        return { is: "cleared" };
      case "rejected": {
        const { judge, score, reason } = said;
        return { is: "rejected", judge, score, reason };
      }
      case "full":
        return { is: "full", most: said.most };
      case "over":
        return { is: "over" };
    }
  };
