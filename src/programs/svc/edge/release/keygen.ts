/**
 * Makes a key that signs releases of the edge program:
 *
 *   npm run -s edge-release -- keygen --out release.key [--kid NAME]
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { sha256Hex } from "../../../../lib/digest.ts";
import { Failure } from "../command/exit.ts";
import { defineVerb, jsonFlag } from "../command/verb.ts";

export interface SigningKey {
  readonly key: KeyObject;
  readonly kid: string;
  /** Base64 of 32 bytes. */
  readonly publicKey: string;
}

/** @throws Failure `conflict` for a file that is none */
export function readSigningKey(path: string, kid: string | null): SigningKey {
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(path));
  } catch (error) {
    throw new Failure("conflict", `${path} cannot be read as a key: ${error instanceof Error ? error.message : error}`);
  }
  if (key.asymmetricKeyType !== "ed25519") throw new Failure("conflict", `${path} holds no Ed25519 key`);
  const raw = Buffer.from(createPublicKey(key).export({ format: "jwk" }).x ?? "", "base64url");
  return { key, kid: kid ?? `release-${sha256Hex(raw).slice(0, 8)}`, publicKey: raw.toString("base64") };
}

export const verb = defineVerb({
  usage: "--out FILE [--kid NAME]",
  flags: {
    ...jsonFlag,
    out: { kind: "text", value: "FILE", meaning: "where the private key goes; it must not be there yet" },
    kid: { kind: "text", value: "NAME", meaning: "the key's name (default: from the key)" },
  },
  positions: [0, 0],
  async run({ flags, output }) {
    const { out } = flags;
    if (out === null) throw new Failure("usage", "--out says where the private key goes");
    // One that is lost cannot sign for the hosts that trust it.
    if (existsSync(out)) throw new Failure("conflict", `${out} is there already`);
    const { privateKey } = generateKeyPairSync("ed25519");
    writeFileSync(out, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
    const { kid, publicKey } = readSigningKey(out, flags.kid);
    output.json({ kid, public_key: publicKey });
    output.note(`the private key is in ${out}. In the configuration of hosts:`);
    output.line(`update: {url: https://…/release.json, keys: [{kid: ${kid}, public_key: ${publicKey}}]}`);
    return "ok";
  },
});
