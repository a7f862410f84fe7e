/** What templates and expressions see of the blackboard, and which of its names are the system's own. */
import type { Json } from "../../../kernel/json.ts";

type Values = { readonly [name: string]: Json };

/** Any key, and all of them under `blackboard` once more. */
export function variablesOf(blackboard: Values, extra: Values): Values {
  return { ...blackboard, ...extra, blackboard };
}

/** Written by the system at the start and as the run goes on. */
export const systemKeys = ["input", "intent", "tenant_id", "attachments", "workflow", "execution", "state", "human"];

/** What can be neither a state's name nor a key that requests and `update_blackboard` write. */
export const reservedKeys: ReadonlySet<string> = new Set([
  ...systemKeys,
  "blackboard",
  "state_output",
  "instruction",
  "iteration_number",
  "previous_error",
  "context",
  // Not a key of the system, but none that plain objects can be trusted with.
  "__proto__",
]);
