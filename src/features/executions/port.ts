/** What other features may use of executions. */
export type { ExecutionFiles } from "./files.ts";
export { endInstance } from "./iteration/iteration-run.ts";
export { readLog } from "./iteration/loop/loop-activities.ts";
export { type JudgedFacts, judgedFacts } from "./judging/judged.ts";
export { contentTypeOf, requestHeaders } from "./output/output.ts";
export { callWebhook, mostAttempts } from "./output/webhook-call.ts";
export type { Plans } from "./plans.ts";
export { countEnded, countOpen, type OldRow, type SweepRow } from "./records.ts";
export type { Executions, Found } from "./service.ts";
export type { HeldByRuns } from "./sweep/sweep.ts";
