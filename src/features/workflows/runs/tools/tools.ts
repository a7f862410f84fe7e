/** The tools of workflows: `svc.workflow.*`, as well under `aegis.` (docs/reference/workflows.md). */

import { collected, type ManagementTools } from "../../../management-tools/port.ts";
import { type DefinitionToolOptions, definitionTools } from "./definition-tools.ts";
import { type RunToolOptions, runTools } from "./run-tools.ts";
import { type WaitOptions, waitTool } from "./wait.ts";

export type WorkflowToolOptions = RunToolOptions & WaitOptions & DefinitionToolOptions;

export const workflowTools = (options: WorkflowToolOptions): ManagementTools =>
  collected([...runTools(options), waitTool(options), ...definitionTools(options)]);
