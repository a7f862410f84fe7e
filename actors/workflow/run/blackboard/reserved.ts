/** Names on the blackboard that are the system's own (docs/reference/workflows.md). */

/** Written by the system at the start and as the run goes on. */
const systemKeys = ["input", "intent", "tenant_id", "attachments", "workflow", "execution", "state", "human"];

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
