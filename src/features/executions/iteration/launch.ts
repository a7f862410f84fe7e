/** What the instance of an iteration is launched with: settled at the start of the execution, or only now. */

import type { IterationRun } from "../../../../actors/execution/activities.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import { renderPrompt } from "../../../../actors/execution/prompt.ts";
import { historyLog } from "../../../../actors/execution/record/history.ts";
import type { Header, Plan } from "../../../../actors/execution/start/plan.ts";
import {
  type HostPathRules,
  type InstanceEgress,
  type InstanceMount,
  type InstanceSpec,
  LaunchFailure,
  type LaunchNews,
  type SandboxDescription,
} from "../../../adapters/sandbox/port.ts";
import type { ActivityContext, Runtime } from "../../../runtime/port.ts";
import { type ExecutionClaims, egressUser } from "../../execution-tokens/port.ts";
import type { Plans } from "../plans.ts";
import type { ExecutionReferences } from "../references/references.ts";
import { instanceEnvironment } from "./environment.ts";
import { hostMounts, withHostMounts } from "./host-mounts.ts";

export interface LaunchParts {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Plans;
  /** Address of the internal listener, without a path. */
  readonly gatewayUrl: string;
  /** Signs the token that the instance identifies itself with at the gateway. */
  readonly mintToken: (claims: ExecutionClaims) => Promise<string>;
  /** How long both tokens live: as long as an execution may take, with every call of it that waits for a person. */
  readonly tokenSeconds: number;
  /** Likewise at the egress proxy: its password there. */
  readonly mintEgressToken: (claims: ExecutionClaims) => Promise<string>;
  /** Makes the directories of a run, with what its volumes hold, and says what goes where, the shortest targets first. */
  readonly instanceMounts: (
    tenant: string,
    of: { readonly executionId: string; readonly instanceId: string; readonly signal: AbortSignal },
    plan: Plan,
  ) => Promise<readonly InstanceMount[]>;
  /** What of the host may be mounted. */
  readonly hostPaths: HostPathRules;
  /** What it refers to means now, in its environment and for its image; see `createExecutionReferences`. */
  readonly references: Pick<ExecutionReferences, "environmentOf" | "registryLoginOf">;
  /** `{{context}}`: loaded when the first iteration begins and its volumes are there, the same text for all of them. */
  readonly contextText: (context: ActivityContext, plan: Plan) => Promise<string>;
}

const historyPage = 100;
/**
 * @param description of the sandbox that will launch it
 * @throws LaunchFailure when its volumes cannot be mounted, or what its image is pulled with is no login
 */
export async function instanceSpec(
  parts: LaunchParts,
  work: IterationRun,
  context: ActivityContext,
  header: Header,
  description: SandboxDescription,
): Promise<InstanceSpec> {
  const { actor } = context;
  const plan = await parts.plans.of(actor);
  // Before the first iteration there is none.
  const entries =
    work.iteration === 1
      ? []
      : await parts.runtime.of(execution).at(actor.tenant, actor.key).log(historyLog, 0, historyPage);
  const history = entries.map(({ entry }) => entry);
  const claims: ExecutionClaims = {
    executionId: work.execution_id,
    agentId: header.agent_id,
    tenant: actor.tenant,
    instanceId: work.instance_id,
    livesSeconds: parts.tokenSeconds,
  };
  const token = await parts.mintToken(claims);
  const isInline = header.inline === true;
  // Nothing that an agent brings is run in the node: no value is needed there.
  const env = isInline ? plan.env : await parts.references.environmentOf(actor, plan, header);
  const of = { executionId: work.execution_id, instanceId: work.instance_id, signal: context.signal };
  const mounts = isInline
    ? []
    : withHostMounts(await parts.instanceMounts(actor.tenant, of, plan), openedOfHost(parts, plan, description));
  return {
    instanceId: work.instance_id,
    executionId: work.execution_id,
    tenant: actor.tenant,
    environment: instanceEnvironment(
      header,
      { ...plan, env },
      {
        executionId: work.execution_id,
        tenant: actor.tenant,
        iteration: work.iteration,
        history,
        token,
        gatewayUrl: parts.gatewayUrl,
      },
    ),
    prompt: renderPrompt(plan, {
      intent: header.intent,
      iteration: work.iteration,
      maxIterations: header.max_iterations,
      context: await parts.contextText(context, plan),
      history,
    }),
    limits: {
      cpuMillicores: plan.resources.cpu_millicores,
      memoryBytes: plan.resources.memory_bytes,
      diskBytes: plan.resources.disk_bytes,
      processes: plan.resources.processes,
    },
    image: await imageOf(parts, actor, header, plan, description),
    mounts,
    readOnlyRoot: plan.filesystem.read_only,
    // Who may go nowhere meets the proxy as well: each refusal is an event, which tells the author what to list.
    egress: description.egressEnforced && !isInline ? await egressOf(parts, claims) : null,
    startupScript: plan.startup_script,
    command: null,
    bootstrapPath: plan.bootstrap_path,
    pool: poolOf(actor.tenant, header, plan),
  };
}

function openedOfHost({ hostPaths }: LaunchParts, plan: Plan, { sandbox }: SandboxDescription): InstanceMount[] {
  const opened = hostMounts(plan, hostPaths);
  if (opened.length === 0 || sandbox !== "none") return opened;
  throw new LaunchFailure("volume_error", "Without a sandbox nothing of the host is mounted");
}

async function imageOf(
  { references }: LaunchParts,
  actor: ActivityContext["actor"],
  header: Header,
  plan: Plan,
  { isolation }: SandboxDescription,
): Promise<InstanceSpec["image"]> {
  const { image: reference } = header.runtime;
  if (isolation === "process" || reference === null) return null;
  const login = await references.registryLoginOf(actor, plan, header);
  return { reference, pullPolicy: plan.image_pull_policy, ...(login === null ? {} : { login }) };
}

async function egressOf({ mintEgressToken }: LaunchParts, claims: ExecutionClaims): Promise<InstanceEgress> {
  return { username: egressUser, password: await mintEgressToken(claims) };
}

/** Instances kept ready are bound to one tenant and to one revision of one agent. */
function poolOf(tenant: string, header: Header, plan: Plan): InstanceSpec["pool"] {
  if (plan.warm_pool_size === 0) return null;
  const { agent_id, agent_version, agent_revision } = header;
  return { key: JSON.stringify([tenant, agent_id, agent_version, agent_revision]), size: plan.warm_pool_size };
}

/** The body of `image_pull`. */
export function pullMessage(news: LaunchNews) {
  switch (news.stage) {
    case "image_pull_started":
      return { stage: news.stage, image: news.image };
    case "image_pull_completed":
      return { stage: news.stage, image: news.image, duration_ms: Math.round(news.durationMs) };
    case "image_pull_failed":
      return { stage: news.stage, image: news.image, error: news.error };
  }
}
