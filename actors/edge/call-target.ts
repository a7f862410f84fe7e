/** The edge host that a tool call is sent to: by its id, or by a selector that means it alone. */
import { isObject, type Json } from "../kernel/json.ts";
import { invalidField } from "../kernel/problem.ts";
import { readSelector } from "./selector.ts";

export type CallTarget = { readonly edge_node_id: string } | { readonly edge_selector: Json };

const members = ["edge_node_id", "edge_selector"];
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a `target` says where a call is to run, rather than something of the tool's own. */
export const isCallTarget = (target: Json): boolean =>
  isObject(target) && members.some((name) => Object.hasOwn(target, name));

/** @throws Problem 422 */
export function readCallTarget(value: Json): CallTarget {
  if (!isObject(value)) throw invalidField("target", "must be an object");
  const unknown = Object.keys(value).find((name) => !members.includes(name));
  if (unknown !== undefined) throw invalidField(`target.${unknown.slice(0, 64)}`, "is unknown here", "unknown");
  const { edge_node_id: node = null, edge_selector: selector = null } = value;
  if (node !== null && selector !== null) throw invalidField("target", "names a host and a selector");
  if (selector !== null) {
    readSelector(selector, "target.edge_selector");
    return { edge_selector: selector };
  }
  if (typeof node !== "string" || !uuid.test(node)) throw invalidField("target.edge_node_id", "must be a UUID");
  return { edge_node_id: node.toLowerCase() };
}
