/** The kind of state that runs another workflow. */
import { folded } from "../../../agent/manifest/metadata.ts";
import { maxTemplateCharacters } from "../../../manifest/members.ts";
import { object } from "../../../manifest/object.ts";
import { choice, text } from "../../../manifest/shape.ts";
import type { SubworkflowState } from "../../definition/states.ts";
import { blackboardKey, isName, type Of, type Reading, templateTree, timeout } from "../members.ts";
import { isLiteral } from "../templates.ts";

/** A workflow by name, by id, or by a template that will say which; it need not be there yet. */
export const subworkflowTarget = text({ max: maxTemplateCharacters, pattern: /\S/, form: "more than blanks" })
  .check((source, { templates }: Reading, fields, key) => (templates.check(fields, key, source) ? null : false))
  .as((workflow, _scope, fields, key) => {
    if (isLiteral(workflow) && !isName(workflow)) {
      fields.warn(key, "workflow_not_found", "No workflow can have this name");
    }
    return folded(workflow);
  });

export const subworkflowState = object({
  workflow_id: subworkflowTarget.required().or(""),
  mode: choice("blocking", "fire_and_forget").required(),
  input: templateTree,
  timeout,
  result_key: blackboardKey.when(({ mode }) => mode !== "fire_and_forget"),
})
  .strict("a Subworkflow state")
  .build(({ workflow_id, mode, input, timeout, result_key }, fields): Of<SubworkflowState> => {
    const hasKey = fields.has("result_key");
    if (mode === "fire_and_forget" && hasKey) {
      fields.issue("result_key", "has no place where no result is waited for");
    }
    if (mode === "blocking" && !hasKey) fields.issue("result_key", "is required when mode is blocking");
    return {
      kind: "Subworkflow",
      timeout_ms: timeout,
      workflow: workflow_id,
      mode: mode ?? "blocking",
      result_key,
      input: input ?? {},
    };
  });
