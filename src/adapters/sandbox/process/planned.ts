/** What goes into the planning of a launch, and what comes out. */
import type { LaunchPlan } from "./layout.ts";

/** Host paths of what instances run. */
export interface ProgramFiles {
  readonly bun: string;
  readonly bootstrap: string;
  readonly init: string;
  /** Run instead of the bootstrap. */
  readonly program?: readonly string[];
}

export interface PlannedLaunch {
  readonly plan: LaunchPlan;
  /** Files to write beside the plan: name → content. */
  readonly files: Readonly<Record<string, string>>;
  /** Variables that could not be handed over. */
  readonly leftOut: readonly string[];
}
