/** The tools of workflows, by name: `svc.workflow.*`, as well under `aegis.` (docs/reference/workflows.md). */

import type { Json } from "../../../../../actors/kernel/json.ts";
import { canonicalName } from "../../../../../actors/tool/catalog.ts";
import { failureOf, type ManagementTool, requireScope, type ToolCaller } from "../../../management-tools/port.ts";
import type { ToolOutcome } from "../../../tools/port.ts";
import { type DefinitionToolOptions, definitionTools } from "./definition-tools.ts";
import { type RunToolOptions, runTools } from "./run-tools.ts";
import { type WaitOptions, waitTool } from "./wait.ts";

export type WorkflowToolOptions = RunToolOptions & WaitOptions & DefinitionToolOptions;

export interface WorkflowTools {
  readonly tools: readonly ManagementTool[];
  /** By any of its names, under either prefix; undefined for what is none of these tools. */
  find(name: string): ManagementTool | undefined;
  /** Never rejects for what the caller did wrong; rejects when aborted, and for what may pass, as an outage. */
  call(name: string, caller: ToolCaller, given: unknown): Promise<ToolOutcome>;
}

export function workflowTools(options: WorkflowToolOptions): WorkflowTools {
  const tools = [...runTools(options), waitTool(options), ...definitionTools(options)];
  const byName = new Map(tools.flatMap((tool) => [tool.name, ...tool.aliases].map((name) => [name, tool] as const)));
  const find = (name: string) => byName.get(canonicalName(name));
  return {
    tools,
    find,
    async call(name, caller, given) {
      const tool = find(name);
      if (tool === undefined) return { status: "failed", code: "unknown_tool", message: `There is no tool ${name}` };
      try {
        requireScope(caller, tool.scope);
        const result = await tool.call(caller, given);
        // Answers of routes: JSON throughout.
        return { status: "succeeded", result: result as { readonly [member: string]: Json } };
      } catch (error) {
        return failureOf(error);
      }
    },
  };
}
