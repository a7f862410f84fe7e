/** Where the trial of a program that was just installed is written. */
import { join } from "node:path";
import type { StateDirectory } from "../../../edge-daemon/state/directory.ts";

export const trialFile = ({ path }: StateDirectory): string => join(path, "update.json");
