/** The part of the configuration that is about egress. */
import { type HostPattern, parseHostPattern } from "../../../actors/policy/network/pattern.ts";
import { flag, json } from "../../config/setting.ts";

export const egressSettings = {
  openEgress: flag("SVC_OPEN_EGRESS", {
    meaning: "manifests may open every public host at once, without an allowlist; egress.open in the file",
    default: true,
    filePath: ["egress", "open"],
  }),
  egressAllowPrivate: json("SVC_EGRESS_ALLOW_PRIVATE", {
    meaning: "addresses off the open internet that manifests may list; egress.allow_private in the file",
    shape: "array",
    defaultText: "none",
    filePath: ["egress", "allow_private"],
  }),
};

export interface EgressSettings {
  readonly allowPrivate: readonly HostPattern[];
}

const known: readonly string[] = ["allow_private", "open"];

/**
 * Reads what the table of settings only has as JSON.
 * @param allowPrivate `egress.allow_private`: addresses and networks, each with or without a port
 * @param section      `egress` of the configuration file
 * @returns the settings, and everything that is wrong with them
 */
export function readEgress(
  allowPrivate: unknown,
  section: Readonly<Record<string, unknown>> | undefined,
): { readonly settings: EgressSettings; readonly problems: readonly string[] } {
  const problems = Object.keys(section ?? {})
    .filter((name) => !known.includes(name))
    .map((name) => `egress.${name} is not known; known: ${known.join(", ")}`);
  const patterns: HostPattern[] = [];
  for (const entry of Array.isArray(allowPrivate) ? allowPrivate : []) {
    const pattern = typeof entry === "string" ? parseHostPattern(entry) : null;
    if (pattern?.kind === "network") patterns.push(pattern);
    else problems.push(`egress.allow_private: ${JSON.stringify(entry)} is no address and no network`);
  }
  return { settings: { allowPrivate: patterns }, problems };
}
