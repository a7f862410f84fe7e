/** How a failed startup script is told from other ends of an instance, whichever sandbox it ran in. */
import { startupFailure as failureIn } from "../../programs/init/startup.ts";
import type { InstanceExit } from "./port.ts";

/** One sentence with the last of what the script wrote to its standard error; null when no script failed. */
export function startupFailure({ exitCode, stderr }: Pick<InstanceExit, "exitCode" | "stderr">): string | null {
  return failureIn(exitCode, stderr);
}
