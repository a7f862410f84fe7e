/** What other features may use of the records of tool calls. */

export type { StoredInvocation } from "./records.ts";
export type { InvocationRecord } from "./schema.ts";
export type { CallOnRecord, InvocationWriter, RefusedOnRecord } from "./writer.ts";
