/** Releases of the edge program: what a release file says, and what it means to the program that reads it. */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { nestsDeeper } from "../kernel/json.ts";
import { readBase64 } from "./base64.ts";
import { compareVersions, isVersion } from "./version.ts";

export const maxReleaseFileBytes = 1_048_576;
/** Of a program. */
export const maxProgramBytes = 1_073_741_824;

const Instant = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$" });

const ProgramFile = Type.Object({
  os: Type.String({ pattern: "^(linux|macos)$" }),
  arch: Type.String({ pattern: "^(x86_64|aarch64)$" }),
  /** May be relative to the release file. */
  url: Type.String({ minLength: 1, maxLength: 4096 }),
  size: Type.Integer({ minimum: 1, maximum: maxProgramBytes }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});
export type ProgramFile = Static<typeof ProgramFile>;

export const Release = Type.Object({
  version: Type.String({ maxLength: 64 }),
  published_at: Instant,
  expires_at: Instant,
  files: Type.Array(ProgramFile, { minItems: 1, maxItems: 64 }),
});
export type Release = Static<typeof Release>;

/** A release file as it is written: the text `b`, and a signature of it. */
export interface SignedRelease {
  readonly b: string;
  readonly kid: string;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

/** @returns null for what is no release file */
export function readReleaseFile(text: string): SignedRelease | null {
  const outer = parsed(text);
  if (typeof outer !== "object" || outer === null) return null;
  const { b, kid, sig } = outer as { readonly b?: unknown; readonly kid?: unknown; readonly sig?: unknown };
  if (typeof b !== "string" || !b.isWellFormed() || typeof kid !== "string" || kid === "") return null;
  const signature = typeof sig === "string" ? readBase64(sig, 64) : null;
  return signature === null ? null : { b, kid, signature };
}

/** What a release says, once its signature holds. @returns null where it does not fit */
export function readRelease(b: string): Release | null {
  const release = parsed(b);
  if (!Value.Check(Release, release) || !isVersion(release.version)) return null;
  return [release.published_at, release.expires_at].every((time) => Number.isFinite(Date.parse(time))) ? release : null;
}

export interface Running {
  readonly version: string;
  readonly os: string;
  readonly arch: string;
  /** By the host's clock, Unix ms. */
  readonly now: number;
  readonly allowDowngrade: boolean;
}

export type Verdict =
  | { readonly kind: "newer" | "downgrade"; readonly file: ProgramFile }
  | { readonly kind: "current" }
  | { readonly kind: "expired" | "older" | "no_file" };

/** What the release means to a program that runs. */
export function judgeRelease({ version, expires_at, files }: Release, running: Running): Verdict {
  if (running.now >= Date.parse(expires_at)) return { kind: "expired" };
  const order = compareVersions(version, running.version);
  if (order === 0) return { kind: "current" };
  if (order < 0 && !running.allowDowngrade) return { kind: "older" };
  const file = files.find(({ os, arch }) => os === running.os && arch === running.arch);
  if (file === undefined) return { kind: "no_file" };
  return { kind: order > 0 ? "newer" : "downgrade", file };
}

function parsed(text: string): unknown {
  if (nestsDeeper(text, 8)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
