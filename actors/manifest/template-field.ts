/** Members of a manifest that hold a template. */
import { compile, TemplateError } from "../template/template.ts";
import type { Fields } from "./fields.ts";

/** Of one template. */
export const maxTemplateCharacters = 100_000;

/** The template's text; issue `invalid_template` when it cannot be read. Nothing is rendered here. */
export function readTemplate(fields: Fields, key: string): string | null {
  const source = fields.text(key, { max: maxTemplateCharacters });
  if (source === null) return null;
  const fault = templateFault(source);
  return fault === null ? source : fields.issue(key, fault, "invalid_template");
}

/** Why a text cannot be read as a template; null when it can. */
export function templateFault(source: string): string | null {
  try {
    compile(source);
    return null;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return error.message.slice(0, 300);
  }
}
