/** The state directory as what commands may not enter. */
import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Closed } from "../../../lib/tool-files/closed.ts";
import type { ClosedDirectory } from "../../../lib/tool-files/view-spec.ts";
import type { StateDirectory } from "../state/directory.ts";

export const closedState = (state: StateDirectory): ClosedDirectory => ({ host: state.path, except: "work" });

/** Whether a directory is the state directory or lies in it, `work` apart. @param path real and absolute */
export function isClosed(state: StateDirectory, path: string): boolean {
  const closed = new Closed(closedState(state));
  const work = realpathSync(state.work);
  for (let at = path; ; at = dirname(at)) {
    if (at === work) return false;
    if (closed.is(statSync(at, { throwIfNoEntry: false }) ?? null)) return true;
    if (at === dirname(at)) return false;
  }
}
