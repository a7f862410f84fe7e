/** What other features may use of the streams of runs' events. */
import type { CommandOutput, CommandStep } from "./progress.ts";

export type { CommandOutput, CommandStep, Progress } from "./progress.ts";

/** Where the events of runs come from beside their actors: progress of commands. It may be lost; nothing here throws. */
export interface RunProgress {
  /** Output of a run's command, in its order. */
  output(tenant: string, runId: string, output: CommandOutput): void;
  /** A step of a command. */
  step(tenant: string, runId: string, step: CommandStep): void;
  /** No more output of the command comes; call it before its end is told, and wait: its progress stands before its result. */
  ended(tenant: string, runId: string, nodeId: string, commandId: string): Promise<void>;
}
