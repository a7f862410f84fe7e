/** Tools as lists show them: JSON text that is made once for each tool and used in every list. */
import { LRUCache } from "lru-cache";
import { runsOnHosts } from "../../../../actors/edge/host-calls.ts";
import type { RegisteredTool } from "../../tools/port.ts";

/** Characters of what is remembered. */
const maxRemembered = 32 * 1024 * 1024;

const remembered = new LRUCache<RegisteredTool, string>({
  maxSize: maxRemembered,
  sizeCalculation: ({ length }) => length,
});

/** The JSON of a tool. Tools never change: one that does is another object. */
export function listedText(tool: RegisteredTool): string {
  const known = remembered.get(tool);
  if (known !== undefined) return known;
  const text = textOf(tool);
  remembered.set(tool, text);
  return text;
}

function textOf(tool: RegisteredTool): string {
  const { name, aliases, description, inputSchema, outputSchema, annotations, source, server, executor } = tool;
  return JSON.stringify({
    name,
    aliases,
    description,
    inputSchema,
    input_schema: inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations,
    source,
    ...(server === undefined ? {} : { server }),
    executor,
    ...(runsOnHosts(tool) ? { fleetCapable: true } : {}),
  });
}
