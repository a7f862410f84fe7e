/** `spec.security`: what an agent may use, reach and touch. */
import { cpu, duration, Gi, Mi, memory, quantity, second, Ti } from "../../../manifest/members.ts";
import { object } from "../../../manifest/object.ts";
import { choice, flag, list, text } from "../../../manifest/shape.ts";
import { isWithin } from "../../../policy/filesystem/mounts.ts";
import { readPattern } from "../../../policy/filesystem/pattern.ts";
import { parseHostPattern } from "../../../policy/network/pattern.ts";
import type { AgentScope, FilesystemSpec, NetworkSpec, ResourceSpec } from "../spec.ts";
import { workspace } from "./volumes.ts";

const resources = object({
  cpu: cpu.or(1000),
  memory: memory.or(512 * Mi),
  disk: quantity(16 * Mi, Ti, "16Mi to 1Ti").or(Gi),
  timeout: duration(({ offer: { maxExecutionSeconds } }: AgentScope) => ({
    min: second,
    max: maxExecutionSeconds * second,
    said: `1 s to this node's ceiling of ${maxExecutionSeconds} s`,
  })),
}).build(
  (read, _fields, { offer }: AgentScope): ResourceSpec => ({
    cpu_millicores: read.cpu,
    memory_bytes: read.memory,
    disk_bytes: read.disk,
    timeout_ms: read.timeout ?? Math.min(1800, offer.maxExecutionSeconds) * second,
  }),
);

const hosts = list(
  text({ min: 1, max: 300 }).check((host) =>
    parseHostPattern(host) === null
      ? ["is not a host, *.host, address or network, with or without a port", "invalid_host_pattern"]
      : null,
  ),
  1024,
).or([]);

const network = object({
  mode: choice("none", "deny", "allow").or("allow"),
  allowlist: hosts,
  denylist: hosts,
}).build((read, fields, { offer }: AgentScope): NetworkSpec => {
  const isOpen = read.mode === "allow" && read.allowlist.length === 0;
  if (isOpen && !offer.openEgress && !fields.findings.hasIssueAt(fields.path)) {
    fields.issue(
      "allowlist",
      "needs an allowlist: this node opens no public hosts as a whole",
      "open_egress_forbidden",
    );
  }
  return read;
});

const patterns = list(
  text({ min: 1, max: 4096, pattern: /^\//, form: "an absolute path" })
    .check((written, { volumes }: AgentScope, fields, key) => {
      const pattern = readPattern(written);
      if (pattern === null) return "is not a pattern: no `..`, and at most 64 segments";
      const { prefix, wild } = pattern;
      if (wild) {
        const message = `Tools apply the whole pattern; inside the instance everything below ${prefix} is meant`;
        fields.warn(key, "pattern_enforced_at_prefix", message);
      }
      const mounts = [workspace, ...volumes.map((volume) => volume.mount_path)];
      if (!mounts.some((mount) => isWithin(prefix, mount) || isWithin(mount, prefix))) {
        fields.warn(key, "pattern_outside_volumes", "No volume is mounted there");
      }
      return null;
    })
    .as((written) => `/${readPattern(written)?.segments.join("/")}`),
  256,
).or([]);

const filesystem = object({ read: patterns, write: patterns, read_only: flag() }).build((read): FilesystemSpec => read);

export const security = object({
  resources: resources.section(),
  network,
  filesystem: filesystem.section(),
});
