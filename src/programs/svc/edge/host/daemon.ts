/** `daemon`: connects this machine and runs what its configuration allows. */
import { existsSync } from "node:fs";
import { runDaemon } from "../../../edge-daemon/daemon.ts";
import type { StateDirectory } from "../../../edge-daemon/state/directory.ts";
import { variable } from "../command/environment.ts";
import { exitNamed } from "../command/exit.ts";
import { chosenState, stateFlags } from "../command/state-flags.ts";
import { trialFile } from "../command/trial-file.ts";
import { defineVerb } from "../command/verb.ts";
import { builtProgram, programCommand } from "../program.ts";
import { agentVariable } from "../unit/launchd.ts";
import { programVersion } from "../version.ts";

/** A daemon that ends so is not started again. */
const final: readonly number[] = [2, 3, 5];

const log = (message: string): void => console.error(`svc edge: ${message}`);

export const verb = defineVerb({
  usage: "[--once]",
  flags: { ...stateFlags, once: { kind: "switch", meaning: "one connection, without connecting anew" } },
  positions: [0, 0],
  async run({ flags, environment }) {
    const { state, config } = chosenState(flags, environment);
    await onTrial(state);
    const code = await runDaemon({
      stateDir: state.path,
      config: config ?? undefined,
      once: flags.once,
      fileToolProgram: [...programCommand(), "file-tool"],
      agentVersion: programVersion,
      log,
      update: async ({ update }) => {
        try {
          const { updateItself } = await import("../update/auto.ts");
          log(`${await updateItself(state, update)} is installed`);
          return 0;
        } catch (error) {
          log(`no update: ${error instanceof Error ? error.message : error}`);
          return 5;
        }
      },
    });
    const agent = variable(environment, agentVariable);
    // launchd starts whatever ends; this job it must forget.
    if (agent !== null && final.includes(code))
      Bun.spawnSync(["launchctl", "bootout", `gui/${process.getuid?.() ?? 0}/${agent}`]);
    return exitNamed(code);
  },
});

/** Where this program was just installed, it must be welcomed soon, else the former one comes back. */
async function onTrial(state: StateDirectory): Promise<void> {
  const program = builtProgram();
  if (program === null || !existsSync(trialFile(state))) return;
  const { holdTrial } = await import("../update/trial.ts");
  const trial = { state, program, version: programVersion };
  const { isOver, verdict } = holdTrial(trial, process.pid);
  const giveUp = (reason: string | null) => {
    if (reason === null) return;
    log(`${programVersion} ${reason}: the former program is back`);
    process.exit(1);
  };
  const failed = (error: unknown) => log(`the trial of ${programVersion} cannot be held: ${error}`);
  const end = verdict.then(giveUp).catch(failed);
  if (isOver) await end;
}
