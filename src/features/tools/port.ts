/**
 * The port to tools: everything a call can reach, by whichever way it comes.
 *
 * A provider offers a family of tools (`fs.*`, those of a tool server, management tools); features bring theirs with
 * `Opened.toolProviders`. Outcomes are values, because every one of them is told to the caller: a failure is something to
 * read and react to, a refusal is something not to try again.
 */

export { outcomeOf, ToolFailure, type ToolOutcome, ToolRefusal } from "../../lib/tool-files/outcome.ts";
export type { Call, CallBounds, CallEntry, CallPolicy, CallWho } from "./call.ts";
export type { ToolRegistry, ToolSet } from "./registry.ts";
export { executionRequired, type RegisteredTool, type ToolProvider, type ToolRequest } from "./tool.ts";
