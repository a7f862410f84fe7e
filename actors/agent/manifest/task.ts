/** `spec.task`: what the agent is told. */
import type { Fields } from "../../manifest/fields.ts";
import { readTemplate } from "../../manifest/template-field.ts";
import type { TaskSpec } from "./spec.ts";

const maxText = 100_000;

export function readTask(spec: Fields): TaskSpec | null {
  const fields = spec.requiredSection("task");
  if (fields === null) return null;
  const read = {
    instruction: fields.requiredText("instruction", { max: maxText, pattern: /\S/, form: "more than blanks" }) ?? "",
    prompt_template: readTemplate(fields, "prompt_template"),
    input_data: fields.raw("input_data"),
    agentskills: fields.texts("agentskills", 256, { max: 4096 }),
  };
  fields.close();
  return read;
}
