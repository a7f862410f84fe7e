/** All tools of a node under one roof: what models are shown of them, and who runs a call. */
import { toolSchema } from "../../../actors/kernel/schema.ts";
import { CMD_RUN, CmdRunArguments, cmdRunDescription } from "../../../actors/tool/catalog.ts";
import type { ToolOutcome, ToolProvider, ToolRequest } from "./port.ts";

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
}

export interface Toolbox {
  /** What a model is shown of the named tools; names that no provider offers any more are left out. */
  describe(names: readonly string[]): readonly ToolDescription[];
  /** Runs a tool of the service. `cmd.run` is not one: it is dispatched to the agent. */
  call(request: ToolRequest): Promise<ToolOutcome>;
}

const cmdRun: ToolDescription = {
  name: CMD_RUN,
  description: cmdRunDescription,
  inputSchema: toolSchema(CmdRunArguments),
};

/** Providers are asked in order; the first that offers a name has it. */
export function createToolbox(providers: readonly ToolProvider[]): Toolbox {
  const find = (name: string) => providers.find((provider) => provider.tools().some((tool) => tool.name === name));
  return {
    describe: (names) => {
      const offered = [cmdRun, ...providers.flatMap((provider) => provider.tools())];
      return names.flatMap((name) => {
        const tool = offered.find((candidate) => candidate.name === name);
        return tool ? [{ name, description: tool.description, inputSchema: tool.inputSchema }] : [];
      });
    },
    call: async (request) => {
      const provider = find(request.name);
      if (provider) return provider.call(request);
      return { status: "failed", code: "not_found", message: `There is no tool ${request.name}` };
    },
  };
}
