/** What a verb of the command line is. */

import type { Exit } from "../../process/exits.ts";
import type { Environment } from "./environment.ts";
import type { FlagTable, Words } from "./flags.ts";
import type { Output } from "./output.ts";

export interface Invocation<T extends FlagTable> extends Words<T> {
  readonly environment: Environment;
  readonly output: Output;
}

export interface Verb<T extends FlagTable = FlagTable> {
  /** What follows the verb, for the help: `<token>`. */
  readonly usage: string;
  readonly flags: T;
  /** How many positions it takes, least and most. */
  readonly positions: readonly [least: number, most: number];
  /** Whether words may stand after `--`. */
  readonly takesRest?: boolean;
  readonly run: (invocation: Invocation<T>) => Promise<Exit>;
}

/** A verb of any table of flags: it is run only with values read by its own table. */
export type AnyVerb = Omit<Verb, "run"> & { readonly run: (invocation: Invocation<FlagTable>) => Promise<Exit> };

/** Types the values by the table. */
export function defineVerb<const T extends FlagTable>(verb: Verb<T>): AnyVerb {
  // The values are read by this very table (see run-command.ts).
  return verb as unknown as AnyVerb;
}

export const jsonFlag = {
  json: { kind: "switch", meaning: "prints JSON; so does SVC_OUTPUT=json" },
} as const satisfies FlagTable;

/** Of every verb that calls the service. */
export const serviceFlags = {
  ...jsonFlag,
  "allow-plaintext": { kind: "switch", meaning: "calls a service over plain http that is not on this machine" },
} as const satisfies FlagTable;
