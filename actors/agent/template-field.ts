/** Members of a manifest that hold a template. */
import { compile, TemplateError } from "../template/template.ts";
import type { Fields } from "./fields.ts";

const maxCharacters = 100_000;

/** The template's text; issue `invalid_template` when it cannot be read. Nothing is rendered here. */
export function readTemplate(fields: Fields, key: string): string | null {
  const source = fields.text(key, { max: maxCharacters });
  if (source === null) return null;
  try {
    compile(source);
    return source;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return fields.issue(key, error.message.slice(0, 300), "invalid_template");
  }
}
