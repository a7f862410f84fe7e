/** `spec.tools`: what the agent may call. */
import { suggestion } from "../../kernel/nearest.ts";
import { object } from "../../manifest/object.ts";
import { either, flag, list, text } from "../../manifest/shape.ts";
import { canonicalName, patternCovers } from "../../tool/catalog.ts";
import type { AgentScope, ToolGrant } from "./spec.ts";
import { toolApproval } from "./tool-approval.ts";

const pattern = /^(?:\*|mcp:[A-Za-z0-9_.-]+|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*(?:\.\*)?)$/;
const name = text({ min: 1, max: 128, pattern, form: "a tool name, prefix.*, * or mcp:<server>" });

const grant = either("must be a tool name, or an object with one", {
  string: name.as((name): ToolGrant => ({ name, skip_judge: false })),
  object: object({ name: name.required(), skip_judge: flag(), approval: toolApproval }).build(
    ({ name, skip_judge, approval }): ToolGrant | null =>
      name === null ? null : { name, skip_judge, ...(approval === null ? {} : { approval }) },
  ),
}).as((grant, { offer }: AgentScope, fields, key): ToolGrant => {
  const tool = canonicalName(grant.name);
  if (!offer.tools.some((known) => patternCovers(tool, known))) {
    const message = `No tool answers to this name now; starts will be refused${suggestion(tool, offer.tools)}`;
    fields.warn(key, "unknown_tool", message);
  }
  return { ...grant, name: tool };
});

export const tools = list(grant.named("Tool"), 128).or([]);
