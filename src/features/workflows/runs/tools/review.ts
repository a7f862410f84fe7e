/** A manifest before the judges: deployed agents that say whether it should be registered. */

import { consensusOf } from "../../../../../actors/execution/judging/consensus.ts";
import { type JudgeVerdict, judgeInput, readVerdict } from "../../../../../actors/execution/judging/judge-verdict.ts";
import { starterOf } from "../../../../../actors/identity/starter.ts";
import type { Json } from "../../../../../actors/kernel/json.ts";
import { rateUserOf } from "../../../../../actors/policy/rates/limits.ts";
import { isUuid } from "../../../../http/route.ts";
import type { Executions } from "../../../executions/port.ts";
import type { ToolCaller } from "../../../management-tools/port.ts";
import { ToolFailure } from "../../../tools/port.ts";

/** Runs an agent on an input until its end; null: it did not complete. */
export type Reviewers = (caller: ToolCaller, agent: string, input: Json) => Promise<string | null>;

export interface ReviewRequirements {
  /** Names or UUIDs. */
  readonly agents: readonly string[];
  readonly min_score: number;
  readonly min_confidence: number;
}

/** Seconds that a judge may take. */
const timeoutSeconds = 240;
const task = "Review a workflow manifest before it is registered.";
const criteria =
  "The manifest does what its description says, every state has a way on, failures are handled, and nothing in it " +
  "is unsafe to run.";

/**
 * The judges' verdicts, averaged; a judge without verdict is left out.
 * @throws ToolFailure `judge_rejected` when score or confidence are below the required minimum, or no judge has a verdict;
 *   Problem for an agent that cannot be started
 */
export async function requireApproval(
  review: Reviewers,
  caller: ToolCaller,
  manifest: string,
  { agents, min_score, min_confidence }: ReviewRequirements,
): Promise<void> {
  const run = { task, output: manifest, criteria, iteration: 1, context: "multi_judge" as const };
  const input = judgeInput({ ...run, calls: [], violations: [], mounts: [] });
  const outputs = await Promise.all(agents.map((agent) => review(caller, agent, input)));
  const verdicts = outputs
    .map((output) => (output === null ? null : readVerdict(output)))
    .filter((one) => one !== null);
  const votes = verdicts.map(({ score, confidence }) => ({ score, confidence, weight: 1 }));
  const rule = { strategy: "weighted_average", threshold: min_score, n: null } as const;
  const { score, confidence } = votes.length === 0 ? { score: 0, confidence: 0 } : consensusOf(rule, votes);
  if (score >= min_score && confidence >= min_confidence) return;
  throw new ToolFailure("judge_rejected", "The judges are against this manifest", {
    score,
    confidence,
    min_score,
    min_confidence,
    reasoning: verdicts.map(({ reasoning }: JudgeVerdict) => reasoning),
  });
}

/** Judges as executions of their own, started by the caller. */
export function reviewByExecutions(executions: Pick<Executions, "startAs" | "settled" | "newId">): Reviewers {
  return async ({ tenant, identity, ceilings, signal }, agent, input) => {
    const started = await executions.startAs(executions.newId(), true, {
      ...(isUuid(agent) ? { agentId: agent } : { agentName: agent }),
      tenant,
      starter: identity,
      startedBy: starterOf(identity),
      ceilings,
      countedFor: rateUserOf(identity),
      origin: {
        trigger: "validator",
        parent: null,
        workflow: null,
        initiatingUserSub: identity.userId,
        exempt: true,
      },
      input,
    });
    const { status, output } = await executions.settled(started, tenant, timeoutSeconds, signal);
    return status === "completed" ? output : null;
  };
}
