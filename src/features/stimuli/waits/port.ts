/** What other features may use of stimuli/waits. */
import type { Stimulus } from "../../../../actors/stimulus/stimulus.ts";

export { waitRows } from "./projection.ts";

export interface Waits {
  /**
   * Tells the Waits of runs that a stored stimulus fits. Repeatable. @returns how many took it now
   * @throws what says that a store or the runtime is away
   */
  tell(stimulus: Stimulus): Promise<number>;
  /** Ids of the runs that took a stimulus, the first 100. */
  takersOf(stimulus: Pick<Stimulus, "tenant" | "id">): Promise<readonly string[]>;
}
