/** What other features may use of the streams of runs' events. */
export type { CommandOutput, CommandStep, Progress } from "./progress.ts";
export type { RunStreams } from "./streams.ts";
