/** `spec.security.network` and `spec.security.filesystem`: what an agent may reach and touch. */

import type { Fields } from "../../manifest/fields.ts";
import { isWithin } from "../../policy/filesystem/mounts.ts";
import { type Pattern, readPattern } from "../../policy/filesystem/pattern.ts";
import { parseHostPattern } from "../../policy/network/pattern.ts";
import type { FilesystemSpec, NetworkSpec, NodeOffer, VolumeSpec } from "./spec.ts";
import { workspace } from "./volumes.ts";

const maxHosts = 1024;

/** @returns null when there is no such section */
export function readNetwork(security: Fields, offer: NodeOffer): NetworkSpec | null {
  if (!security.has("network")) return null;
  const fields = security.section("network");
  const read = {
    mode: fields.choice("mode", ["none", "deny", "allow"]) ?? "allow",
    allowlist: readHosts(fields, "allowlist"),
    denylist: readHosts(fields, "denylist"),
  };
  fields.close();
  const isOpen = read.mode === "allow" && read.allowlist.length === 0;
  if (isOpen && !offer.openEgress && !security.findings.hasIssueAt(fields.path)) {
    const message = "needs an allowlist: this node opens the whole network to nobody";
    fields.issue("allowlist", message, "open_egress_forbidden");
  }
  return read;
}

function readHosts(fields: Fields, key: string): readonly string[] {
  const hosts = fields.texts(key, maxHosts, { min: 1, max: 300 });
  // Elements that are no text are left out of `hosts`: places are those of the document.
  const places = new Map((fields.list(key, maxHosts) ?? []).map((host, index) => [host, index]));
  return hosts.filter((host) => {
    const isPattern = parseHostPattern(host) !== null;
    if (!isPattern) {
      const form = "is not a host, *.host, address or network, with or without a port";
      fields.issue(`${key}.${places.get(host) ?? 0}`, form, "invalid_host_pattern");
    }
    return isPattern;
  });
}

const absolute = { min: 1, max: 4096, pattern: /^\//, form: "an absolute path" };

/** @param volumes the agent's own; every run has one at `/workspace` besides */
export function readFilesystem(security: Fields, volumes: readonly VolumeSpec[]): FilesystemSpec {
  const fields = security.section("filesystem");
  const mounts = [workspace, ...volumes.map((volume) => volume.mount_path)];
  const read = {
    read: readPatterns(fields, "read", mounts),
    write: readPatterns(fields, "write", mounts),
    read_only: fields.flag("read_only"),
  };
  fields.close();
  return read;
}

function readPatterns(fields: Fields, key: string, mounts: readonly string[]): readonly string[] {
  return fields.texts(key, 256, absolute).flatMap((written, index) => {
    const pattern = readPattern(written);
    if (pattern === null) {
      fields.issue(`${key}.${index}`, "is not a pattern: no `..`, and at most 64 segments");
      return [];
    }
    warnAbout(fields, `${key}.${index}`, pattern, mounts);
    return [`/${pattern.segments.join("/")}`];
  });
}

function warnAbout(fields: Fields, key: string, { prefix, wild }: Pattern, mounts: readonly string[]): void {
  if (wild) {
    const message = `Tools apply the whole pattern; inside the instance everything below ${prefix} is meant`;
    fields.warn(key, "pattern_enforced_at_prefix", message);
  }
  if (!mounts.some((mount) => isWithin(prefix, mount) || isWithin(mount, prefix))) {
    fields.warn(key, "pattern_outside_volumes", "No volume is mounted there");
  }
}
