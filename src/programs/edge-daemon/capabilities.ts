/** What the daemon says of its machine. It only advertises; what runs is for the policy to say. */
import { availableParallelism, totalmem } from "node:os";
import type { Capabilities } from "../../../actors/edge/frames.ts";
import { machineOf, systemOf } from "../../../actors/edge/words.ts";
import type { EdgeConfig } from "./config/config.ts";
import type { LocalPolicy } from "./policy/local-policy.ts";

const lookedFor = [
  ...["bash", "zsh", "sh", "docker", "podman", "kubectl"],
  ...["helm", "git", "curl", "jq", "terraform", "ansible"],
];

export function capabilities({ labels }: Pick<EdgeConfig, "labels">, policy: LocalPolicy): Capabilities {
  return {
    os: systemOf(process.platform) ?? process.platform,
    arch: machineOf(process.arch) ?? process.arch,
    local_tools: ["shell", ...lookedFor.filter((name) => Bun.which(name) !== null)],
    tools: policy.possibleTools(),
    mount_points: policy.mountPoints(),
    labels: { ...labels },
    cpu_cores: availableParallelism(),
    memory_mb: Math.floor(totalmem() / 1_048_576),
  };
}
