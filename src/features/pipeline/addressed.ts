/** Calls that are sent to an edge host: what they say of it, and what hosts take beside what sandboxes take. */
import { type CallTarget, isCallTarget } from "../../../actors/edge/call-target.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { CMD_RUN } from "../../../actors/tool/catalog.ts";
import type { RegisteredTool } from "../tools/port.ts";

type Arguments = { readonly [member: string]: Json };

/** What a call for a host has to be allowed as, before it is allowed as itself. */
export const onFleet = "svc.edge.fleet.invoke";

/** Tools that send calls to hosts say in a target of their own to which. */
const ofFleet = "svc.edge.fleet.";

/** Whether hosts know the tool. */
export const runsOnHosts = ({ source, name }: Pick<RegisteredTool, "source" | "name">): boolean =>
  source === "builtin" && (name === CMD_RUN || name.startsWith("fs."));

/**
 * Takes out where the call is to run. A tool that hosts know has no `target` of its own: any is meant for one, so that a
 * misspelt one runs nowhere. That of another tool is its own, unless it names a host.
 * @param tool undefined: there is none of this name
 */
export function splitTarget(
  tool: RegisteredTool | undefined,
  given: Arguments,
): { readonly target: Json; readonly given: Arguments } {
  const { target = null, ...rest } = given;
  if (target === null) return { target: null, given };
  const isOwn = tool?.name.startsWith(ofFleet) === true;
  const isMeant = !isOwn && (isCallTarget(target) || (tool !== undefined && runsOnHosts(tool)));
  return isMeant ? { target, given: rest } : { target: null, given };
}

/** Whether a call is meant for a host. */
export const isForHost = (tool: RegisteredTool | undefined, given: Arguments): boolean =>
  splitTarget(tool, given).target !== null;

/** A call of one tool on a host as the arguments of the tool that sends it there. */
export function asFleetCall(target: CallTarget, tool: string, args: Arguments): Arguments {
  const aimed: Json = "edge_node_id" in target ? { Node: target.edge_node_id } : { Selector: target.edge_selector };
  return { target: aimed, tool, args };
}

const hostSchemas = new WeakMap<RegisteredTool, Arguments>();

/** JSON Schema of the arguments on a host. */
export function hostSchema(tool: RegisteredTool): Arguments {
  const known = hostSchemas.get(tool);
  if (known !== undefined) return known;
  // Schemas of the service are made as JSON.
  const schema = tool.inputSchema as Arguments;
  const { properties } = schema;
  const more: Arguments = tool.name === CMD_RUN ? { stdin: { type: "string" } } : {};
  const made = { ...schema, properties: { ...(isObject(properties) ? properties : {}), ...more } };
  hostSchemas.set(tool, made);
  return made;
}
