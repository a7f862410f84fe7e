/** Installs a release over a program, and dies by `kill -9` at a step that is named. */

import { stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import { Failure } from "../../../src/programs/svc/edge/command/exit.ts";
import { sourceOf } from "../../../src/programs/svc/edge/update/release-source.ts";
import { currentProgram, offeredUpdate } from "../../../src/programs/svc/edge/update/update.ts";
import { trusted } from "./releases.ts";

const [program = "", folder = "", release = "", step = ""] = process.argv.slice(2);
try {
  const { install } = await offeredUpdate({
    current: currentProgram(program, "0.1.0"),
    state: stateAt(folder),
    source: sourceOf(release, false),
    keys: [trusted],
    allowDowngrade: false,
    allowPlaintext: false,
    reached: (reached) => {
      if (reached === step) process.kill(process.pid, "SIGKILL");
    },
  });
  await install?.();
} catch (error) {
  console.error(error instanceof Failure ? `${error.exit} ${error.code}` : error);
  process.exitCode = 1;
}
