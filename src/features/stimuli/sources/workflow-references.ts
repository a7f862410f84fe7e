/** Whether the workflows a configuration names are there for its tenant. */
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import type { Definitions } from "../../workflows/definitions/port.ts";

/**
 * @param ref a name or a UUID
 * @throws Problem 422 `unknown_workflow` {workflow}; `validation_failed` for a UUID of another version
 */
export async function checkVisible(
  definitions: Definitions,
  tenant: string,
  ref: string,
  version: string | null,
): Promise<void> {
  try {
    await definitions.resolve({ tenant, ref, version });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === "workflow_not_found") {
      throw new Problem("unknown_workflow", "There is no such workflow", { workflow: ref });
    }
    if (error.code === "validation_failed") throw invalidField("workflow_version", "this id is another version");
    throw error;
  }
}
