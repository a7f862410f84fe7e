/** What running commands needs of the node. */
import type { Volumes } from "../../../volumes/port.ts";
import type { CommandOffer } from "./place.ts";
import type { CommandSpecParts } from "./spec.ts";

export interface CommandOptions extends CommandOffer, CommandSpecParts {
  /** Absolute path. */
  readonly dataDir: string;
  /** SVC_MAX_COMMANDS */
  readonly maxCommands: number;
  /** Watches how large volumes grow. @returns a function that ends it */
  readonly watchVolumes: Volumes["watchLimits"];
  /** Unix milliseconds. */
  readonly now: () => number;
}
