/** The activity `workflow.command` over real sandboxes, without a runtime around it. */
import { join } from "node:path";
import type { MountPlan } from "../../../../../actors/execution/start/plan.ts";
import type { CommandEnd, CommandRun } from "../../../../../actors/workflow/run/activities.ts";
import type { Sandbox } from "../../../../../src/adapters/sandbox/port.ts";
import { Sandboxes } from "../../../../../src/adapters/sandbox/sandboxes.ts";
import { VolumeLayout } from "../../../../../src/features/volumes/layout.ts";
import { mountRun } from "../../../../../src/features/volumes/runs/instance-mounts.ts";
import { watchLimits } from "../../../../../src/features/volumes/runs/size-watch.ts";
import { commandActivity } from "../../../../../src/features/workflows/runs/commands/commands.ts";
import type { CommandOptions } from "../../../../../src/features/workflows/runs/commands/spec.ts";
import type { AbortReason, ActivityContext } from "../../../../../src/runtime/port.ts";

const mebibyte = 2 ** 20;

export function commandOptions(
  dataDir: string,
  sandboxes: readonly Sandbox[],
  changes: Partial<CommandOptions> = {},
): CommandOptions {
  const layout = new VolumeLayout(dataDir);
  const offered = new Sandboxes(sandboxes);
  return {
    sandboxes: offered,
    defaultIsolation: offered.offered[0] ?? null,
    systemImage: "localhost/none:1",
    imageRegistries: ["localhost"],
    openEgress: true,
    rootAllowed: false,
    instanceMounts: (_, executionId, { mounts, filesystem }) =>
      mountRun(layout, { executionId, mounts, rules: filesystem }),
    registryLogin: async () => null,
    mintEgressToken: async ({ instanceId }) => `egress-of-${instanceId}`,
    dataDir,
    maxCommands: 4,
    watchVolumes: (watched) => watchLimits({ layout, bounds: async () => [], noteUsage: async () => {} }, watched),
    recordViolation: () => {},
    secrets: { take: async ({ env }) => ({ env, masker: null }), look: async () => null },
    now: Date.now,
    ...changes,
  };
}

export function commandRun(argv: readonly string[], changes: Partial<CommandRun> = {}): CommandRun {
  return {
    instance_id: crypto.randomUUID(),
    workflow_name: "build",
    state_name: "COMPILE",
    kind: "system",
    argv: [...argv],
    env: {},
    workdir: "/workspace",
    image: null,
    image_pull_policy: "IfNotPresent",
    network: "none",
    resources: { cpu_millicores: 500, memory_bytes: 256 * mebibyte },
    timeout_ms: 60_000,
    mounts: [],
    read_only_root: true,
    run_as_user: null,
    retry: { max_attempts: 1, backoff_ms: null },
    ...changes,
  };
}

export const script = (text: string, changes: Partial<CommandRun> = {}) => commandRun(["/bin/sh", "-c", text], changes);

/** An ephemeral volume at a place. */
export function volumeAt(mount_path: string, changes: Partial<MountPlan> = {}): MountPlan {
  return {
    name: "v",
    volume_id: crypto.randomUUID(),
    mount_path,
    storage_class: "ephemeral",
    access_mode: "read-write",
    size_limit_bytes: 64 * mebibyte,
    ttl_ms: 3_600_000,
    ...changes,
  };
}

export const directoryOf = (dataDir: string, volume: MountPlan) => join(dataDir, "workspaces", volume.volume_id);

export interface UnderWay {
  readonly end: Promise<CommandEnd>;
  abort(reason: AbortReason): void;
}

/** Runs a command as the runtime would. */
export function begin(options: CommandOptions, work: CommandRun, context: Partial<ActivityContext> = {}): UnderWay {
  const controller = new AbortController();
  const activity = commandActivity(options);
  const end = activity.run(work, {
    id: `command:${work.instance_id}`,
    actor: { kind: "workflow_run", key: crypto.randomUUID(), tenant: "acme" },
    attempt: 1,
    resumed: false,
    moved: false,
    signal: controller.signal,
    slot: { giveBack() {}, takeAgain: async () => {} },
    onceTaken() {},
    of: () => {
      throw new Error("a command says nothing to its run");
    },
    ...context,
  }) as unknown as Promise<CommandEnd>;
  return { end, abort: (reason) => controller.abort(reason) };
}

export const run = (options: CommandOptions, work: CommandRun, context: Partial<ActivityContext> = {}) =>
  begin(options, work, context).end;
