/** What a workflow's run lays over the manifest of an agent it starts. */

import { type Isolation, isolations } from "../../../../actors/agent/manifest/spec.ts";
import { overlap } from "../../../../actors/agent/manifest/volumes.ts";
import type { AgentRuntimeOverrides } from "../../../../actors/execution/child.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { ResolvedAgent } from "../../agents/service.ts";
import { type Attachment, takesAttachments } from "../../volumes/attachments/attachments.ts";
import { refused } from "./request.ts";

/**
 * The agent as this start has it. Volumes of the run take the place of the agent's at the same path, above or below
 * it; `/workspace` itself may have others below. Instances kept ready know nothing of such volumes: none is used.
 * @throws Problem 422 `runtime_unavailable` for an isolation nobody knows
 */
export function overlaid(agent: ResolvedAgent, overrides: AgentRuntimeOverrides | undefined): ResolvedAgent {
  if (overrides === undefined) return agent;
  const { spec } = agent;
  const { mounts, temperature } = overrides;
  return {
    ...agent,
    spec: {
      ...spec,
      runtime: {
        ...spec.runtime,
        isolation: overrides.isolation === null ? spec.runtime.isolation : isolationOf(overrides.isolation),
        temperature: temperature ?? spec.runtime.temperature,
      },
      volumes: spec.volumes.filter((own) => !mounts.some((run) => overlap(own.mount_path, run.mount_path))),
      warm_pool_size: mounts.length === 0 ? spec.warm_pool_size : 0,
    },
  };
}

function isolationOf(name: string): Isolation {
  const known = isolations.find((isolation) => isolation === name);
  if (known === undefined) throw refused("runtime_unavailable", "runtime.isolation", `${name} is not offered here`);
  return known;
}

/** The run's attachments, as they were checked when it started, for an agent that declares them; none for others. */
export function attachmentsOf(
  overrides: AgentRuntimeOverrides | undefined,
  inputSchema: Json,
  tools: readonly { readonly name: string }[],
): readonly Attachment[] {
  if (overrides === undefined || !takesAttachments(inputSchema, tools)) return [];
  // Kept by the run as `checkFiles` gave them.
  return overrides.attachments as unknown as readonly Attachment[];
}
