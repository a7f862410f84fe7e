/** `cmd.run` as a tool of the node: in a loop it is dispatched to the agent's bootstrap, elsewhere it is called here. */
import { toolSchema } from "../../../../actors/kernel/schema.ts";
import { CMD_RUN, CmdRunArguments, cmdRunDescription } from "../../../../actors/tool/catalog.ts";
import type { RegisteredTool, ToolOutcome, ToolProvider, ToolRequest } from "../port.ts";

const tools: readonly RegisteredTool[] = [
  {
    name: CMD_RUN,
    aliases: [],
    description: cmdRunDescription,
    inputSchema: toolSchema(CmdRunArguments),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    source: "builtin",
    executor: "sandbox",
    runs: "instance",
    readOnly: false,
    idempotent: false,
    truncates: true,
  },
];

/** @param exec runs a command in the instance of an execution, on whichever node has it */
export function createCommandTool(exec: (request: ToolRequest) => Promise<ToolOutcome>): ToolProvider {
  return { tools: () => tools, call: exec };
}

/** The answer where nothing leads into the instance. */
export const noWayIn: ToolOutcome = {
  status: "failed",
  code: "sandbox_unavailable",
  message: "No command can be run in the sandbox of this execution now",
};
