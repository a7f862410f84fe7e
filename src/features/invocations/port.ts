/** What other features may use of the records of tool calls. */
export type { InvocationReader } from "./records.ts";
export type { InvocationWriter } from "./writer.ts";
