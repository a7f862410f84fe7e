/** Who the host is to the service: its ids, its keys, and the keys of the service that it trusts. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ServiceKey } from "../../../../actors/edge/frames.ts";
import { Text } from "../../../../actors/kernel/schema.ts";
import { readText, replaceFile, type StateDirectory, syncDirectory } from "./directory.ts";
import { EdgeFailure, exits } from "./failure.ts";

/** `node.json`. */
export const HostIdentity = Type.Object({
  node_id: Text,
  tenant_id: Text,
  name: Text,
  /** `ws://` or `wss://`, of the link. */
  connect_url: Text,
  /** Of the service's API. */
  api_url: Text,
  enrolled_at: Text,
  /** Keys by which the service may sign; a verified welcome replaces them. */
  service_keys: Type.Array(ServiceKey, { minItems: 1 }),
  /** The link may be plain beyond this machine. */
  allow_plaintext: Type.Optional(Type.Boolean()),
});
export type HostIdentity = Static<typeof HostIdentity>;

/** Null: the host is not enrolled. @throws EdgeFailure for a file that is none */
export function readIdentity(state: StateDirectory): HostIdentity | null {
  const text = readText(state.identity);
  if (text === null) return null;
  const value = parsed(text);
  if (Value.Check(HostIdentity, value)) return value;
  throw new EdgeFailure(exits.conflict, `${state.identity} is damaged; enroll the host anew with --force`);
}

export const writeIdentity = (state: StateDirectory, identity: HostIdentity): void =>
  replaceFile(state.identity, `${JSON.stringify(identity, null, 2)}\n`);

/** The keys of a verified welcome take the place of the former ones. */
export function replacePins(
  state: StateDirectory,
  identity: HostIdentity,
  service_keys: readonly ServiceKey[],
): HostIdentity {
  const next = { ...identity, service_keys: service_keys.map(({ kid, public_key }) => ({ kid, public_key })) };
  if (JSON.stringify(next.service_keys) === JSON.stringify(identity.service_keys)) return identity;
  writeIdentity(state, next);
  return next;
}

/** A private key of the host. */
export interface HostKey {
  readonly privateKey: KeyObject;
  /** Base64 of its 32 bytes. */
  readonly publicKey: string;
}

export const newKey = (): HostKey => hostKeyOf(generateKeyPairSync("ed25519").privateKey);

/** Base64 of the signature over the text. */
export const signedBy = ({ privateKey }: HostKey, text: string): string =>
  sign(null, Buffer.from(text), privateKey).toString("base64");

const hostKeyOf = (privateKey: KeyObject): HostKey => ({
  privateKey,
  publicKey: Buffer.from(createPublicKey(privateKey).export({ format: "jwk" }).x ?? "", "base64url").toString("base64"),
});

/** Null: there is none. @throws EdgeFailure for a file that is none */
export const readKey = (state: StateDirectory): HostKey | null => keyIn(state.key);
/** The key that is to take over; null: none is. @throws EdgeFailure for a file that is none */
export const readNextKey = (state: StateDirectory): HostKey | null => keyIn(state.nextKey);

export const writeKey = (state: StateDirectory, key: HostKey): void => replaceFile(state.key, pemOf(key));

/** @param keepOldMs how long the former key stays in the archive once this one has taken over */
export const writeNextKey = (state: StateDirectory, key: HostKey, keepOldMs = dayMs): void =>
  replaceFile(state.nextKey, `keep-old-ms: ${Math.floor(keepOldMs)}\n${pemOf(key)}`);

/** The next key is given up. */
export function dropNextKey(state: StateDirectory): void {
  rmSync(state.nextKey, { force: true });
  syncDirectory(state.path);
}

/** The next key has been welcomed: it is the key, and the former one is archived. @param now Unix ms */
export function promoteNextKey(state: StateDirectory, now: number): void {
  const keep = /^keep-old-ms: (\d{1,15})$/m.exec(readText(state.nextKey) ?? "")?.[1];
  const former = readText(state.key);
  if (former !== null) replaceFile(join(state.archive, `node.key.${now + Number(keep ?? dayMs)}`), former);
  renameSync(state.nextKey, state.key);
  syncDirectory(state.path);
}

/** Removes archived keys whose time is over. @param now Unix ms */
export function pruneArchive(state: StateDirectory, now: number): void {
  for (const name of readdirSync(state.archive)) {
    const until = /^node\.key\.(\d+)$/.exec(name)?.[1];
    if (until !== undefined && Number(until) <= now) rmSync(join(state.archive, name), { force: true });
  }
}

const dayMs = 86_400_000;

const pemOf = ({ privateKey }: HostKey): string => privateKey.export({ type: "pkcs8", format: "pem" }).toString();

function keyIn(path: string): HostKey | null {
  const text = readText(path);
  if (text === null) return null;
  try {
    const key = createPrivateKey(text.slice(text.indexOf("-----BEGIN")));
    if (key.asymmetricKeyType === "ed25519") return hostKeyOf(key);
  } catch {
    // Told below, without the file's content.
  }
  throw new EdgeFailure(exits.conflict, `${path} holds no Ed25519 key`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
