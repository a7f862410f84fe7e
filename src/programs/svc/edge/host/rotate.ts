/** `keys rotate`: the host's key is replaced by a new one, which the next connection brings into use. */
import { existsSync } from "node:fs";
import { rotationMessage } from "../../../../../actors/edge/signing.ts";
import { machineClocks } from "../../../edge-daemon/clock.ts";
import type { StateDirectory } from "../../../edge-daemon/state/directory.ts";
import {
  dropNextKey,
  newKey,
  readIdentity,
  readKey,
  readNextKey,
  signedBy,
  writeNextKey,
} from "../../../edge-daemon/state/identity.ts";
import { isLocked, lockHolder } from "../../../edge-daemon/state/lock.ts";
import { serviceAddress } from "../../session/address.ts";
import { Failure, usageFailure } from "../command/exit.ts";
import { chosenState, stateFlags } from "../command/state-flags.ts";
import { seconds } from "../command/values.ts";
import { defineVerb, jsonFlag } from "../command/verb.ts";
import { createService } from "../service/client.ts";
import { programVersion } from "../version.ts";

const inUseWithinMs = 30_000;

interface Rotated {
  readonly node_id: string;
  readonly key_fingerprint: string;
}

export const verb = defineVerb({
  usage: "[--keep-old TIME]",
  flags: {
    ...jsonFlag,
    ...stateFlags,
    "keep-old": { kind: "text", value: "TIME", meaning: "how long the former key stays in the archive (default 24h)" },
    "allow-plaintext": { kind: "switch", meaning: "goes to the service over plain http" },
  },
  positions: [0, 0],
  async run({ flags, environment, output }) {
    const { state } = chosenState(flags, environment);
    const keepOldMs = (seconds("keep-old", flags["keep-old"], 0, 31_536_000) ?? 86_400) * 1000;
    const [identity, key] = [readIdentity(state), readKey(state)];
    if (identity === null || key === null)
      throw new Failure("conflict", `${state.path} is not enrolled`, "not_enrolled");
    const isPlain = flags["allow-plaintext"] || identity.allow_plaintext === true;
    const url = serviceAddress(identity.api_url, "the service", isPlain, usageFailure);
    // A rotation that was begun goes on with its key: the service may know it already.
    const next = readNextKey(state) ?? newKey();
    writeNextKey(state, next, keepOldMs);
    const issued_at = Math.floor(machineClocks.wall() / 1000);
    const message = rotationMessage(identity.node_id, next.publicKey, issued_at);
    let rotated: Rotated;
    try {
      rotated = await createService({ url, token: null, tenant: null, version: programVersion }).call<Rotated>(
        "POST",
        "/v1/edge/daemon/rotate-key",
        {
          body: {
            ...{ node_id: identity.node_id, new_public_key: next.publicKey, issued_at },
            ...{ signature_old: signedBy(key, message), signature_new: signedBy(next, message) },
          },
          isRepeatable: true,
        },
      );
    } catch (error) {
      // Refused for good, the key is none; without an answer it may be the next one.
      if (error instanceof Failure && error.exit !== "unavailable") dropNextKey(state);
      throw error;
    }
    const isInUse = await reconnected(state);
    output.json({ node_id: identity.node_id, key_fingerprint: rotated.key_fingerprint, pending: !isInUse });
    output.line(`the new key is ${rotated.key_fingerprint}${isInUse ? ", and in use" : ""}`);
    if (!isInUse) output.note("it takes over when the daemon connects next; until then the former one holds as well");
    return "ok";
  },
});

/** Makes the daemon connect anew. @returns whether it has taken the new key */
async function reconnected(state: StateDirectory): Promise<boolean> {
  const pid = isLocked(state) ? lockHolder(state) : null;
  if (pid === null) return false;
  try {
    process.kill(pid, "SIGHUP");
  } catch {
    return false;
  }
  for (const end = performance.now() + inUseWithinMs; existsSync(state.nextKey); await Bun.sleep(100))
    if (performance.now() > end) return false;
  return true;
}
