/** What other features may use of tool calls that wait for people. */
export { outcomeOf } from "./outcome.ts";
export type { WaitingCalls } from "./service.ts";
export { invocationGet } from "./tool.ts";
