/** The call by which a host enrolls, and what it leaves in the state directory. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ServiceKey } from "../../../../../actors/edge/frames.ts";
import { enrollmentMessage } from "../../../../../actors/edge/signing.ts";
import { Text } from "../../../../../actors/kernel/schema.ts";
import { sha256Hex } from "../../../../lib/digest.ts";
import { machineClocks } from "../../../edge-daemon/clock.ts";
import { type StateDirectory, stateAt, syncDirectory } from "../../../edge-daemon/state/directory.ts";
import {
  type HostIdentity,
  type HostKey,
  newKey,
  readKey,
  signedBy,
  writeIdentity,
  writeKey,
} from "../../../edge-daemon/state/identity.ts";
import { serviceAddress } from "../../session/address.ts";
import { Failure, usageFailure } from "../command/exit.ts";
import { createService } from "../service/client.ts";
import { type ReadToken, requireService } from "./token.ts";

const Enrolled = Type.Object({
  node_id: Text,
  tenant_id: Text,
  name: Text,
  tags: Type.Array(Text),
  key_fingerprint: Text,
  connect_url: Text,
  service_keys: Type.Array(ServiceKey, { minItems: 1, maxItems: 64 }),
  enrolled_at: Text,
});
export type Enrolled = Static<typeof Enrolled>;

export interface EnrollingOptions {
  readonly state: StateDirectory;
  readonly token: ReadToken;
  /** Of the service, from the token. */
  readonly url: string;
  readonly name: string | null;
  readonly version: string;
  readonly allowPlaintext: boolean;
  /** Called between the service's word and the identity: what a host must have before it is one. */
  readonly prepared: () => void;
}

/** Holds the key of an enrollment whose answer was not seen: the same one again gets the same host. */
const pendingOf = ({ path }: StateDirectory): StateDirectory => ({
  ...stateAt(path),
  key: join(path, "node.key.enrolling"),
});

/**
 * Enrolls the host. A former identity is archived once the service has taken the new one.
 * @throws Failure by the service's answer, `authentication` when it is not the service that the token names
 */
export async function enrollHost(options: EnrollingOptions): Promise<Enrolled> {
  const { state, token, url, name, version, allowPlaintext, prepared } = options;
  const pending = pendingOf(state);
  const key = readKey(pending) ?? newKey();
  writeKey(pending, key);
  let enrolled: Enrolled;
  try {
    enrolled = await ask(key, token, url, name, version);
    requireService(token, enrolled.service_keys);
    serviceAddress(
      enrolled.connect_url.replace(/^ws/, "http"),
      "the address of the link",
      allowPlaintext,
      usageFailure,
    );
  } catch (error) {
    // Where the service gave no answer it may have enrolled the host: the same key asks again.
    if (error instanceof Failure && error.exit !== "unavailable") rmSync(pending.key, { force: true });
    throw error;
  }
  prepared();
  archiveIdentity(state);
  writeKey(state, key);
  writeIdentity(state, identityOf(enrolled, url, allowPlaintext));
  rmSync(pending.key, { force: true });
  return enrolled;
}

async function ask(key: HostKey, { text }: ReadToken, url: string, name: string | null, version: string) {
  const signature = signedBy(key, enrollmentMessage(key.publicKey, sha256Hex(text)));
  const proof = { token: text, public_key: key.publicKey, signature };
  const service = createService({ url, token: null, tenant: null, version });
  const answer = await service.call<unknown>("POST", "/v1/edge/daemon/enroll", {
    body: { ...proof, agent_version: version, ...(name === null ? {} : { name }) },
    isRepeatable: true,
  });
  if (Value.Check(Enrolled, answer)) return answer;
  throw new Failure("failed", `${url} gave an answer that is none of the service's`, "unreadable_answer");
}

const identityOf = (enrolled: Enrolled, url: string, allowPlaintext: boolean): HostIdentity => ({
  node_id: enrolled.node_id,
  tenant_id: enrolled.tenant_id,
  name: enrolled.name,
  connect_url: enrolled.connect_url,
  api_url: url,
  enrolled_at: enrolled.enrolled_at,
  service_keys: enrolled.service_keys.map(({ kid, public_key }) => ({ kid, public_key })),
  ...(allowPlaintext ? { allow_plaintext: true } : {}),
});

/** What belongs to a former identity; another host's journal says nothing of this one's commands. */
function archiveIdentity(state: StateDirectory): void {
  const former = [
    [state.identity, "node.json"],
    [state.key, "node.key"],
    [state.nextKey, "node.key.next"],
    [state.journal, "journal"],
    [state.status, "status.json"],
  ] as const;
  const there = former.filter(([path]) => existsSync(path));
  if (there.length === 0) return;
  const folder = join(state.archive, String(machineClocks.wall()));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [path, name] of there) renameSync(path, join(folder, name));
  syncDirectory(state.path);
}
