/** `daemon`: connects this machine and runs what its configuration allows. */

import { stateFlags } from "../command/state-flags.ts";
import { defineVerb } from "../command/verb.ts";

export const verb = defineVerb({
  usage: "[--once]",
  flags: { ...stateFlags, once: { kind: "switch", meaning: "one connection, without connecting anew" } },
  positions: [0, 0],
  async run() {
    return "failed";
  },
});
