/** What other features may use of the streams of runs' events. */
export type { CommandOutput, CommandStep, Progress, RunProgress } from "./progress.ts";
export type { RunStreams, ShownPage } from "./streams.ts";
