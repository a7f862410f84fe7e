/** `logout`: the host is revoked, its service removed, its state wiped. */
import { existsSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { StateDirectory } from "../../../edge-daemon/state/directory.ts";
import { type HostIdentity, readIdentity } from "../../../edge-daemon/state/identity.ts";
import { isLocked } from "../../../edge-daemon/state/lock.ts";
import { confirm, type Environment } from "../command/environment.ts";
import { Failure } from "../command/exit.ts";
import { chosenState, stateFlags } from "../command/state-flags.ts";
import { defineVerb, serviceFlags } from "../command/verb.ts";
import { serviceOf } from "../service/client.ts";
import { serviceFor } from "../unit/service.ts";
import { programVersion } from "../version.ts";

/** A daemon that was revoked, or whose service was removed, ends its commands first. */
const endsWithinMs = 15_000;
/** Of an enrollment whose answer was not seen. */
const pendingKey = "node.key.enrolling";

export const verb = defineVerb({
  usage: "[--no-server] [--no-service] [--force]",
  flags: {
    ...serviceFlags,
    ...stateFlags,
    "no-server": { kind: "switch", meaning: "does not revoke the host at the service" },
    "no-service": { kind: "switch", meaning: "leaves the service that starts the daemon" },
    force: { kind: "switch", meaning: "asks nothing, and wipes also where revoking, removing or reading fails" },
  },
  positions: [0, 0],
  async run({ flags, environment, output }) {
    const { state } = chosenState(flags, environment);
    const identity = identityIn(state, flags.force);
    if (identity === null && !flags.force)
      throw new Failure("conflict", `${state.path} is not enrolled`, "not_enrolled");
    if (!isState(state)) {
      output.json({ node_id: null, state_dir: state.path, wiped: false });
      output.line(`${state.path} holds no host: nothing was wiped`);
      return "ok";
    }
    const name = identity?.name ?? state.path;
    if (!flags.force && !(await confirm(environment, `End the host ${name} for ever, and wipe ${state.path}?`)))
      throw new Failure("failed", "nothing was changed", "declined");
    const attempt = async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (!flags.force) throw error;
        output.note(error instanceof Error ? error.message : String(error));
      }
    };
    const isRevoked = identity !== null && !flags["no-server"];
    if (isRevoked) await attempt(() => revoke(identity, environment, flags["allow-plaintext"]));
    if (!flags["no-service"]) await attempt(() => serviceFor(state, environment).uninstall());
    // A daemon that runs on would go on with what it has read, beside the one that is enrolled here next.
    await ended(state);
    wipe(state);
    output.json({ node_id: identity?.node_id ?? null, state_dir: state.path, wiped: true });
    output.line(`${name} is no host any more${isRevoked ? "" : "; at the service it was not revoked"}`);
    return "ok";
  },
});

/** One that is damaged is none to who wipes in any case. */
function identityIn(state: StateDirectory, isForced: boolean): HostIdentity | null {
  try {
    return readIdentity(state);
  } catch (error) {
    if (!isForced) throw error;
    return null;
  }
}

/** Another directory may have a `work` or an `archive` as well, which are not ours to remove. */
const isState = (state: StateDirectory): boolean =>
  [state.identity, state.key, state.nextKey, join(state.path, pendingKey)].some((path) => existsSync(path));

/** A host that the service does not know is done. */
async function revoke(identity: HostIdentity, environment: Environment, allowPlaintext: boolean): Promise<void> {
  const isPlain = allowPlaintext || identity.allow_plaintext === true;
  const service = serviceOf(environment, programVersion, isPlain, identity.api_url);
  try {
    await service.call("DELETE", `/v1/edge/hosts/${identity.node_id}`);
  } catch (error) {
    if (!(error instanceof Failure && error.code === "host_not_found")) throw error;
  }
}

async function ended(state: StateDirectory): Promise<void> {
  for (const end = performance.now() + endsWithinMs; isLocked(state); await Bun.sleep(100))
    if (performance.now() > end)
      throw new Failure("conflict", `the daemon of ${state.path} still runs: stop it first`, "daemon_runs");
}

/** What the daemon and this program have written; the directory itself where nothing else is in it. */
function wipe(state: StateDirectory): void {
  const own = [state.identity, state.key, state.nextKey, state.config, state.journal, state.status, state.lock];
  const beside = ["update.json", pendingKey, "journal.new"].map((name) => join(state.path, name));
  for (const path of [...own, ...beside, state.archive, state.work]) rmSync(path, { recursive: true, force: true });
  if (!existsSync(state.path)) return;
  try {
    rmdirSync(state.path);
  } catch {
    // Something else is in it.
  }
}
