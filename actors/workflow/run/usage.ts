/** What a run has used itself: the sandboxes of its commands (docs/reference/usage.md). */
import { type Effect, fact } from "../../kernel/effect.ts";
import { counted, usageFact } from "../../usage/activity.ts";
import type { CommandEnded } from "./activities.ts";
import type { WorkflowRunMessages } from "./messages.ts";

/** The work of running a command: by the id of its first sandbox. */
export const commandId = (instanceId: string): string => `command:${instanceId}`;
const idPart = /^command:([0-9a-f-]{36})$/;

/** A command has ended, also where its result is not wanted any more. */
export function commandUsed(workflow: string | null, outcome: CommandEnded): Effect<WorkflowRunMessages>[] {
  const id = idPart.exec(outcome.id)?.[1];
  if (id === undefined || !outcome.ok) return [];
  const duration_ms = counted(outcome.value.sandbox_ms ?? outcome.value.duration_ms);
  if (duration_ms === 0) return [];
  return [fact(usageFact, { kind: "instance", id, agent_id: null, model: null, workflow, tool: null, duration_ms })];
}
