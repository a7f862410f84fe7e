/** What the sandbox of a command is launched with. */
import type { CommandRun } from "../../../../../actors/workflow/run/activities.ts";
import type { InstanceEgress, InstanceMount, InstanceSpec } from "../../../../adapters/sandbox/port.ts";
import type { Address } from "../../../../runtime/port.ts";
import { type ExecutionClaims, egressUser } from "../../../execution-tokens/port.ts";
import type { StorageViolations } from "../../../storage-violations/port.ts";
import type { Volumes } from "../../../volumes/port.ts";
import type { CommandOffer, CommandPlace } from "./place.ts";
import type { RegistryLogins } from "./registry-logins.ts";
import type { CommandSecrets } from "./secrets.ts";

export interface CommandSpecParts {
  readonly instanceMounts: Volumes["instanceMounts"];
  /** Signs what the command identifies itself with at the egress proxy. */
  readonly mintEgressToken: (claims: ExecutionClaims) => Promise<string>;
  readonly registryLogin: RegistryLogins;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface AttemptPlace {
  readonly instanceId: string;
  /** Makes the `/workspace` of a command that mounts none. */
  readonly makeWorkspace: () => string;
  /** Unix ms; by then it is over. */
  readonly deadlineAt: number;
  /** Gives up what is made for it. */
  readonly signal: AbortSignal;
}

/** The run that a command is of: of an item of a Map, not its child record, which asks for it. */
export const runIdOf = ({ env }: CommandRun, { key }: Address): string => env.SVC_WORKFLOW_EXECUTION_ID ?? key;

const MiB = 2 ** 20;
/** A command's own disk: that of a workspace which no manifest sizes, or of an agent, whose image can be written to. */
export const diskBytes = { system: 256 * MiB, container: 1_024 * MiB } as const;
const processes = 512;

/** Volumes show as they are mounted: no policy of an agent is in the way. */
export const openFilesystem = { read: [], write: [], read_only: false };

/** @throws LaunchFailure when its volumes cannot be mounted; what `registryLogin` throws */
export async function commandSpec(
  parts: CommandSpecParts,
  work: CommandRun,
  env: CommandRun["env"],
  actor: Address,
  { image, open }: Extract<CommandPlace, { ok: true }>,
  attempt: AttemptPlace,
): Promise<InstanceSpec> {
  const { instanceId, deadlineAt, makeWorkspace, signal } = attempt;
  const of = { executionId: runIdOf(work, actor), instanceId, signal };
  const mounts = await parts.instanceMounts(actor.tenant, of, { mounts: work.mounts, filesystem: openFilesystem });
  const login = image === null ? null : await parts.registryLogin(actor, work);
  return {
    instanceId,
    executionId: actor.key,
    tenant: actor.tenant,
    environment: env,
    prompt: "",
    limits: {
      cpuMillicores: work.resources.cpu_millicores,
      memoryBytes: work.resources.memory_bytes,
      diskBytes: diskBytes[work.kind],
      processes,
    },
    image: image === null || login === null ? image : { ...image, login },
    mounts: withWorkspace(mounts, makeWorkspace),
    readOnlyRoot: work.read_only_root,
    egress: open ? await egressOf(parts, work, actor, deadlineAt) : null,
    startupScript: null,
    command: { argv: work.argv, workdir: work.workdir, user: work.run_as_user },
    bootstrapPath: null,
    pool: null,
  };
}

function withWorkspace(mounts: readonly InstanceMount[], make: () => string): InstanceMount[] {
  if (mounts.some(({ target }) => target === "/workspace")) return [...mounts];
  const own = { source: make(), target: "/workspace", readOnly: false };
  return [...mounts, own].sort((a, b) => a.target.length - b.target.length);
}

/** A token outlives the command's deadline, s: its clean-up may take a while. */
const marginSeconds = 300;

/** The proxy asks the run whether the command is still the one it works with: by the command's id, on every attempt. */
async function egressOf(
  { mintEgressToken, now }: CommandSpecParts,
  work: CommandRun,
  actor: Address,
  deadlineAt: number,
): Promise<InstanceEgress> {
  const livesSeconds = Math.max(0, Math.ceil((deadlineAt - now()) / 1000)) + marginSeconds;
  const claims = {
    executionId: runIdOf(work, actor),
    agentId: work.workflow_name,
    tenant: actor.tenant,
    instanceId: work.instance_id,
    livesSeconds,
  };
  return { username: egressUser, password: await mintEgressToken(claims) };
}

/** What running commands needs of the node. */
export interface CommandOptions extends CommandOffer, CommandSpecParts {
  /** Absolute path. */
  readonly dataDir: string;
  /** SVC_MAX_COMMANDS */
  readonly maxCommands: number;
  /** Watches how large volumes grow. @returns a function that ends it */
  readonly watchVolumes: Volumes["watchLimits"];
  /** An instance ended: what it left is put into the volumes that it mounted. */
  readonly instanceEnded: Volumes["instanceEnded"];
  readonly recordViolation: StorageViolations["recordViolation"];
  readonly secrets: CommandSecrets;
  /** Puts on record what a command has used that was given up. Repeatable. @throws what the store throws */
  readonly used: (
    tenant: string,
    used: { readonly instanceId: string; readonly workflow: string; readonly ranMs: number },
  ) => Promise<void>;
}
