/** Which messages concern the entry at work. Those of an earlier entry, or of work given up, are dropped. */
import type { Outcome } from "../../kernel/activity.ts";
import type { RunState } from "./state.ts";
import { type AgentChild, type Current, linesOf, type Work } from "./work.ts";

type Concerns = (current: Current) => boolean;

/** Of activity `workflow.command`. */
export function concernsCommand({ id }: Pick<Outcome, "id">): Concerns {
  return ({ work }) => {
    if (work.of === "command") return work.activity === id && work.result === null;
    return work.of === "commands" && work.steps.some(({ activity, result }) => activity === id && result === null);
  };
}

/** Of activity `workflow.webhook`. */
export function concernsWebhook(runId: string, { id }: Pick<Outcome, "id">): Concerns {
  return (current) => id === webhookId(runId, current);
}

/** Of a call of a tool, by its id in the record of calls. */
export function concernsCall(invocation: string): Concerns {
  return ({ work }) => (work.of === "tool" || work.of === "fleet") && work.invocation === invocation;
}

/** Whether a state of a run waits for this call of a tool. */
export function isCalling({ current }: Pick<RunState, "current">, invocation: string): boolean {
  const isOf = concernsCall(invocation);
  return [current, ...linesOf(current).map((line) => line.current)].some((one) => one !== null && isOf(one));
}

/** Of activity `workflow.http`. */
export function concernsHttp({ id }: Pick<Outcome, "id">): Concerns {
  return ({ work }) => work.of === "http" && work.activity === id;
}

/** @param id of an agent execution */
export function concernsChild(id: string): Concerns {
  return ({ work }) => childrenOf(work).some((child) => child.id === id);
}

/** @param id of a sub-workflow's run */
export function concernsRun(id: string): Concerns {
  return ({ work }) => work.of === "subworkflow" && work.child === id;
}

/** @param id of a child record of items */
export function concernsBatch(id: string): Concerns {
  return ({ work }) => work.of === "map" && work.batches.some((batch) => batch.id === id);
}

/** The agent executions that a state's work has under way. */
function childrenOf(work: Work): readonly AgentChild[] {
  return "children" in work ? work.children : [];
}

/** Ids of pieces of work. */
export const webhookId = (runId: string, { entry, attempt = 1 }: Pick<Current, "entry" | "attempt">): string =>
  attempt === 1 ? `webhook:${runId}:${entry}` : `webhook:${runId}:${entry}:${attempt}`;
export const httpId = (runId: string, entry: number, attempt: number): string => `http:${runId}:${entry}:${attempt}`;
export const toolCallId = (invocation: string): string => `tool:${invocation}`;
export const fleetResultsId = (invocation: string): string => `fleet:${invocation}`;
/** The call that an outcome of `workflow.tool` or `workflow.fleet_results` speaks of. */
export const callOf = ({ id }: Pick<Outcome, "id">): string => id.slice(id.indexOf(":") + 1);
export const agentStartId = (childId: string): string => `agent:${childId}`;
export const runStartId = (childId: string): string => `run:${childId}`;
/** The child that an outcome of `workflow.agent` speaks of. */
export const agentOf = ({ id }: Pick<Outcome, "id">): string => id.slice(agentStartId("").length);
/** The child that an outcome of `workflow.start` speaks of. */
export const subrunOf = ({ id }: Pick<Outcome, "id">): string => id.slice(runStartId("").length);
