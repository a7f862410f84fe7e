/** The kind of state that runs another workflow. */

import { folded } from "../../../agent/manifest/metadata.ts";
import type { Fields } from "../../../manifest/fields.ts";
import type { SubworkflowState } from "../../definition.ts";
import { readBlackboardKey } from "../blackboard-key.ts";
import { isName } from "../names.ts";
import { readTimeout } from "../quantities.ts";
import type { Of, Reading } from "../reading.ts";
import { isLiteral } from "../templates.ts";

export function readSubworkflow(fields: Fields, reading: Reading): Of<SubworkflowState> {
  const workflow = readWorkflow(fields, reading);
  if (!fields.has("mode")) fields.issue("mode", "is required");
  const mode = fields.choice("mode", ["blocking", "fire_and_forget"]);
  const input = reading.templates.tree(fields, "input");
  return {
    kind: "Subworkflow",
    timeout_ms: readTimeout(fields, "timeout"),
    workflow,
    mode: mode ?? "blocking",
    result_key: readResultKey(fields, mode, reading),
    input: input ?? {},
  };
}

/** A name, an id or a template; it need not be there yet. */
function readWorkflow(fields: Fields, { templates }: Reading): string {
  const workflow = templates.required(fields, "workflow_id") ?? "";
  if (workflow !== "" && isLiteral(workflow) && !isName(workflow)) {
    fields.warn("workflow_id", "workflow_not_found", "No workflow can have this name");
  }
  return folded(workflow);
}

/** Required exactly when the result is waited for. */
function readResultKey(fields: Fields, mode: SubworkflowState["mode"] | null, reading: Reading): string | null {
  if (mode === "fire_and_forget" && fields.has("result_key")) {
    return fields.issue("result_key", "has no place where no result is waited for");
  }
  if (mode === "blocking" && !fields.has("result_key")) {
    return fields.issue("result_key", "is required when mode is blocking");
  }
  return readBlackboardKey(fields, "result_key", reading.states);
}
