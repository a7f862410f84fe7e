/** What other features may use of commands. */
export { commandId } from "./ids.ts";
export type { CommandRow, Commands, RecentCommand, RunArgsRow } from "./records.ts";
