/** `update`: replaces this program by a released one. */
import { loadConfig } from "../../../edge-daemon/config/config.ts";
import { usageFailure } from "../command/exit.ts";
import { chosenState, stateFlags } from "../command/state-flags.ts";
import { defineVerb, jsonFlag } from "../command/verb.ts";
import { programFile } from "../program.ts";
import { serviceFor } from "../unit/service.ts";
import { programVersion } from "../version.ts";
import { releaseKeys } from "./keys.ts";
import { sourceOf } from "./release-source.ts";
import { currentProgram, offeredUpdate, restartOnTrial } from "./update.ts";

export const verb = defineVerb({
  usage: "[--from URL|FILE] [--check]",
  flags: {
    ...jsonFlag,
    ...stateFlags,
    from: { kind: "text", value: "URL|FILE", meaning: "the release file (default: update.url of the configuration)" },
    check: { kind: "switch", meaning: "tells whether there is a newer one, and changes nothing" },
    "allow-downgrade": { kind: "switch", meaning: "installs an older one as well" },
    "no-restart": { kind: "switch", meaning: "leaves the daemon as it runs" },
    "allow-plaintext": { kind: "switch", meaning: "reads over plain http from another machine" },
  },
  positions: [0, 0],
  async run({ flags, environment, output }) {
    const { state, config } = chosenState(flags, environment);
    const configFile = config ?? state.config;
    const { update } = loadConfig(state, configFile);
    const from = flags.from ?? update.url;
    if (from === null) throw usageFailure("where from? --from, or update.url in the configuration");
    const keys = releaseKeys(update.keys, configFile);
    const source = sourceOf(from, flags["allow-plaintext"]);
    const current = currentProgram(flags.check ? process.execPath : programFile(), programVersion);
    const { install, ...offer } = await offeredUpdate({
      ...{ current, state, source, keys },
      allowDowngrade: flags["allow-downgrade"],
      allowPlaintext: flags["allow-plaintext"],
    });
    if (install === null || flags.check) {
      output.json(offer);
      output.line(
        offer.update_available ? `${offer.current} → ${offer.latest} is there` : `${offer.current} is current`,
      );
      return "ok";
    }
    await install();
    const service = serviceFor(state, environment);
    const restarts = !flags["no-restart"] && service.isInstalled();
    if (restarts)
      await restartOnTrial({
        ...{ state, program: current.program, version: offer.latest },
        restart: service.restart,
        note: output.note,
      });
    output.json({ ...offer, restarted: restarts });
    output.line(`${offer.current} → ${offer.latest} is installed${restarts ? ", and the daemon is connected" : ""}`);
    if (!restarts && !flags["no-restart"]) output.note("no service is installed here: restart the daemon yourself");
    return "ok";
  },
});
