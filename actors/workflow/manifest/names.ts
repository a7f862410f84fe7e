/** Agents and workflows that a manifest names: by name, by UUID, or by a template that will say which. */
import { agentKey, folded } from "../../agent/manifest/metadata.ts";
import { type Fields, textFault } from "../../manifest/fields.ts";
import type { Reading } from "./reading.ts";
import { isLiteral } from "./templates.ts";

/** Whether an agent or a workflow can be called so at all. */
export const isName = (text: string): boolean => textFault(text, agentKey) === null;

/** A name, an id or a template; "" only after an issue. */
export function readAgent(fields: Fields, key: string, { templates }: Reading): string {
  const source = templates.required(fields, key);
  if (source === null) return "";
  if (!isLiteral(source) || isName(source)) return folded(source);
  return fields.issue(key, `must be ${agentKey.form}, or a template`) ?? "";
}

/** A name or an id; "" only after an issue. */
export function readJudgeName(fields: Fields): string {
  const name = fields.requiredText("agent_id", agentKey);
  return name === null ? "" : folded(name);
}
