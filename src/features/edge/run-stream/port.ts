/** What other features may use of the streams of runs' events. */
export type { RunProgress } from "./progress.ts";
export type { RunStreams, ShownPage } from "./streams.ts";
