/** Paths of secrets as URLs and queries carry them. */
import { Problem } from "../../../actors/kernel/problem.ts";
import { pathFault } from "../../../actors/manifest/references.ts";
import type { WriteCondition } from "./store.ts";

/**
 * @param raw the rest of the URL as it was sent; every segment is decoded once
 * @throws Problem 422 `invalid_path`
 */
export function readPath(raw: string): string {
  const parts = raw.split("/").map(decodedSegment);
  // What is decoded to a `/` is none that separates.
  const fault = parts.some((part) => part.includes("/")) ? "may not have an encoded /" : pathFault(parts.join("/"));
  if (fault !== null) throw new Problem("invalid_path", `The path ${fault}`);
  return parts.join("/");
}

function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Problem("invalid_path", "The path is not well encoded");
  }
}

/** @param prefix whole segments, with or without a `/` behind them @throws Problem 422 `invalid_path` */
export function readPrefix(prefix: string): string | null {
  if (prefix === "" || prefix === "/") return null;
  const path = prefix.replace(/\/$/, "");
  const fault = pathFault(path);
  if (fault !== null) throw new Problem("invalid_path", `path_prefix ${fault}`);
  return path;
}

/** What must hold before a write. @throws Problem 412 for a condition that can never hold */
export function readCondition(headers: Headers): WriteCondition {
  const [match, noneMatch] = [headers.get("if-match"), headers.get("if-none-match")];
  if (noneMatch !== null) {
    if (noneMatch.trim() !== "*" || match !== null) throw versionConflict();
    return "new";
  }
  if (match === null) return null;
  const [, version] = /^"?(\d{1,15})"?$/.exec(match.trim()) ?? [];
  if (version === undefined || Number(version) === 0) throw versionConflict();
  return Number(version);
}

export const versionConflict = (): Problem =>
  new Problem("version_conflict", "The secret is not as the request's condition says");
