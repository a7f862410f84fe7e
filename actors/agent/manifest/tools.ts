/** `spec.tools`: what the agent may call. */

import { isObject, type Json } from "../../kernel/json.ts";
import { Fields, textFault } from "../../manifest/fields.ts";
import { canonicalName, patternCovers } from "../../tool/catalog.ts";
import type { NodeOffer, ToolGrant } from "./spec.ts";

const maxTools = 128;
const grant = /^(?:\*|mcp:[A-Za-z0-9_.-]+|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*(?:\.\*)?)$/;
const bounds = { min: 1, max: 128, pattern: grant, form: "a tool name, prefix.*, * or mcp:<server>" };

export function readTools(spec: Fields, offer: NodeOffer): readonly ToolGrant[] {
  return (spec.list("tools", maxTools) ?? []).flatMap((element, index) => readGrant(spec, element, index, offer));
}

function readGrant(spec: Fields, element: Json, index: number, offer: NodeOffer): readonly ToolGrant[] {
  const path = `tools.${index}`;
  const read = typeof element === "string" ? readName(spec, path, element) : readObject(spec, path, element);
  if (read === null) return [];
  const tool = canonicalName(read.name);
  if (!tool.startsWith("mcp:") && !offer.tools.some((known) => patternCovers(tool, known))) {
    spec.warn(path, "unknown_tool", "No tool answers to this name now; starts will be refused");
  }
  return [{ ...read, name: tool }];
}

function readName(spec: Fields, path: string, name: string): ToolGrant | null {
  const fault = textFault(name, bounds);
  return fault === null ? { name, skip_judge: false } : spec.issue(path, fault);
}

function readObject(spec: Fields, path: string, element: Json): ToolGrant | null {
  if (!isObject(element)) return spec.issue(path, "must be a tool name, or an object with one");
  const fields = Fields.of(element, spec.at(path), spec.findings);
  const name = fields.requiredText("name", bounds);
  // Without judges there is nothing to skip; the flag is kept for when there are.
  const skip_judge = fields.flag("skip_judge");
  fields.close();
  return name === null ? null : { name, skip_judge };
}
