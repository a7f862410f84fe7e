/** Releases as a publisher would make them, good ones and bad ones. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { releaseMessage } from "../../../actors/edge/signing.ts";
import { keyOfSeed, publicHalf, signed } from "../../actors/edge/vectors.ts";

export const releaseKey = keyOfSeed(new Uint8Array(32).fill(0x60));
export const trusted = { kid: "release-1", public_key: publicHalf(releaseKey) };
export const here = {
  os: process.platform === "darwin" ? "macos" : "linux",
  arch: process.arch === "arm64" ? "aarch64" : "x86_64",
};

export const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export interface Written {
  readonly version: string;
  readonly bytes: string | Uint8Array;
  readonly file?: object;
  readonly release?: object;
  /** Of the key that signs. */
  readonly kid?: string;
  readonly key?: typeof releaseKey;
}

/** Writes a release and its program into a folder. @returns the name of the release file */
export function writeRelease(folder: string, { version, bytes, file = {}, release = {}, kid, key }: Written): string {
  const url = `program-${version}`;
  writeFileSync(join(folder, url), bytes, { mode: 0o755 });
  const b = JSON.stringify({
    version,
    published_at: "2026-01-01T00:00:00.000Z",
    expires_at: "2099-01-01T00:00:00.000Z",
    files: [{ ...here, url, size: Buffer.byteLength(bytes), sha256: sha256(bytes), ...file }],
    ...release,
  });
  const sig = signed(key ?? releaseKey, releaseMessage(sha256(b)));
  writeFileSync(join(folder, "release.json"), JSON.stringify({ b, kid: kid ?? trusted.kid, sig }));
  return join(folder, "release.json");
}
