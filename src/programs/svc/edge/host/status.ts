/** `status`: how the daemon of this machine is, by its own word. */
import { readIdentity, readNextKey } from "../../../edge-daemon/state/identity.ts";
import { isLocked } from "../../../edge-daemon/state/lock.ts";
import { readStatus } from "../../../edge-daemon/state/status.ts";
import { Failure } from "../command/exit.ts";
import { chosenState, stateFlags } from "../command/state-flags.ts";
import { defineVerb, jsonFlag } from "../command/verb.ts";
import { programVersion } from "../version.ts";

export const verb = defineVerb({
  usage: "[--json]",
  flags: { ...jsonFlag, ...stateFlags },
  positions: [0, 0],
  async run({ flags, environment, output }) {
    const { state } = chosenState(flags, environment);
    const identity = readIdentity(state);
    if (identity === null) throw new Failure("conflict", `${state.path} is not enrolled`, "not_enrolled");
    const isRunning = isLocked(state);
    const status = readStatus(state);
    // What a daemon wrote that has ended since is of the past.
    const isConnected = isRunning && status?.connected === true;
    output.json({
      node_id: identity.node_id,
      name: identity.name,
      tenant_id: identity.tenant_id,
      api_url: identity.api_url,
      state_dir: state.path,
      program_version: programVersion,
      daemon_running: isRunning,
      connected: isConnected,
      key_rotation_pending: readNextKey(state) !== null,
      last: status,
    });
    const link = isConnected ? "connected" : isRunning ? "not connected" : "the daemon does not run";
    output.line(`${identity.name} (${identity.node_id}) of ${identity.tenant_id} at ${identity.api_url}: ${link}`);
    if (status !== null) {
      const accepts = status.accepting
        ? "new commands are taken"
        : `no new commands: ${status.not_accepting.join(", ")}`;
      output.line(`version ${status.agent_version}, ${status.running} of ${status.slots} slots in use, ${accepts}`);
      output.line(`sandbox ${status.sandbox}; ${status.unacknowledged} results not acknowledged`);
      if (!isConnected && status.last_error !== null) output.line(`last failure: ${status.last_error}`);
      output.line(`as of ${status.updated_at}`);
    }
    return isConnected ? "ok" : "unavailable";
  },
});
