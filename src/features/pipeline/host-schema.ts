/** What a tool takes on an edge host, and how a model is told that it may be sent to one. */

import { runsOnHosts } from "../../../actors/edge/host-calls.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { CMD_RUN } from "../../../actors/tool/catalog.ts";
import type { RegisteredTool } from "../tools/port.ts";

type Schema = { readonly [member: string]: Json };

/** Tools never change: one that does is another object. */
const onHosts = new WeakMap<RegisteredTool, Schema>();
const addressed = new WeakMap<RegisteredTool, RegisteredTool>();

/** With more properties. Schemas of the service are made as JSON. */
function withMore({ inputSchema }: RegisteredTool, more: Schema): Schema {
  const schema = inputSchema as Schema;
  const { properties } = schema;
  return { ...schema, properties: { ...(isObject(properties) ? properties : {}), ...more } };
}

function remembered<T>(known: WeakMap<RegisteredTool, T>, tool: RegisteredTool, make: () => T): T {
  const found = known.get(tool) ?? make();
  known.set(tool, found);
  return found;
}

/** JSON Schema of the arguments on a host. */
export const hostSchema = (tool: RegisteredTool): Schema =>
  remembered(onHosts, tool, () => withMore(tool, tool.name === CMD_RUN ? { stdin: { type: "string" } } : {}));

const target: Schema = {
  type: "object",
  description:
    "The edge host to run on instead of here: edge_node_id, or edge_selector {os, arch, tools, labels, tags} that means exactly one",
  properties: { edge_node_id: { type: "string", format: "uuid" }, edge_selector: { type: "object" } },
};

/** The tool as a caller is told of it that may send calls to hosts. */
export const withTarget = (tool: RegisteredTool): RegisteredTool =>
  runsOnHosts(tool) ? remembered(addressed, tool, () => ({ ...tool, inputSchema: withMore(tool, { target }) })) : tool;
