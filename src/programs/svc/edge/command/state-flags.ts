/** Which daemon of this machine a verb means. */
import { resolve } from "node:path";
import { type StateDirectory, stateDirectory, withHome } from "../../../edge-daemon/state/directory.ts";
import { type Environment, variable } from "./environment.ts";
import type { FlagTable, FlagValues } from "./flags.ts";

export const stateFlags = {
  "state-dir": { kind: "text", value: "DIR", meaning: "of the daemon (SVC_EDGE_STATE_DIR, else ~/.svc/edge)" },
  config: { kind: "text", value: "FILE", meaning: "of the daemon (SVC_EDGE_CONFIG, else config.yaml in there)" },
} as const satisfies FlagTable;

export interface Chosen {
  readonly state: StateDirectory;
  /** Absolute; null: the one in the state directory. */
  readonly config: string | null;
}

export function chosenState(flags: FlagValues<typeof stateFlags>, environment: Environment): Chosen {
  const config = flags.config ?? variable(environment, "SVC_EDGE_CONFIG");
  return {
    state: stateDirectory(flags["state-dir"] ?? undefined, environment.variables),
    config: config === null ? null : resolve(withHome(config)),
  };
}
