/** The daemon replaces its own program, where its owner allows that and the service asks for a newer one. */
import type { EdgeConfig } from "../../../edge-daemon/config/config.ts";
import type { StateDirectory } from "../../../edge-daemon/state/directory.ts";
import { Failure } from "../command/exit.ts";
import { programFile } from "../program.ts";
import { programVersion } from "../version.ts";
import { builtInKeys } from "./keys.ts";
import { sourceOf } from "./release-source.ts";
import { hasFailed } from "./trial.ts";
import { currentProgram, offeredUpdate } from "./update.ts";

/**
 * Installs the release that `update.url` offers. The daemon then ends with 0, and what started it starts the new program,
 * which is on trial.
 *
 * @returns the version that was installed
 * @throws Failure where nothing newer was installed: there is none, it is not allowed, or it was tried and put away
 */
export async function updateItself(state: StateDirectory, update: EdgeConfig["update"]): Promise<string> {
  if (!update.auto || update.url === null) throw new Failure("unavailable", "update.auto is off", "update_off");
  const { install, latest } = await offeredUpdate({
    ...{ current: currentProgram(programFile(), programVersion), state },
    ...{ source: sourceOf(update.url, false), keys: [...builtInKeys, ...update.keys] },
    ...{ allowDowngrade: false, allowPlaintext: false },
  });
  if (install === null) throw new Failure("unavailable", `there is nothing newer than ${latest}`, "no_update");
  if (hasFailed(state, latest)) throw new Failure("unavailable", `${latest} was tried and put away`, "rolled_back");
  await install();
  return latest;
}
