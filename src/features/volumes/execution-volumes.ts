/** Volumes as executions use them: settled at the start, mounted, measured, taken away. */
import type { VolumeSpec } from "../../../actors/agent/manifest/spec.ts";
import { implicitWorkspace, type SourceVolume, workspaceTtlMs } from "../../../actors/execution/start/mounts.ts";
import type { MountPlan, Plan } from "../../../actors/execution/start/plan.ts";
import type { InstanceMount } from "../../adapters/sandbox/port.ts";
import { isUuid } from "../../http/route.ts";
import { removeDirectory } from "../../lib/files/remove-directory.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { ViewSpec } from "../tools/fs/port.ts";
import { makeVolumes, mountRun } from "./instance-mounts.ts";
import { idsIn, isDirectory, measure, type Usage, VolumeLayout } from "./layout.ts";
import { type VolumeReader, visibilityOf, volumeRecords } from "./records.ts";
import { requireCompatible } from "./shared-mounts.ts";
import { watchLimits } from "./size-watch.ts";

export interface VolumesOptions {
  readonly sql: Sql;
  /** Absolute path. */
  readonly dataDir: string;
  /** Of the given executions, of agents and of workflows, those that exist, of any tenant. */
  readonly executions: (
    executionIds: readonly string[],
  ) => Promise<readonly { readonly id: string; readonly ended_at: Date | null }[]>;
  readonly newId: () => string;
  readonly now: () => number;
}

/** The volumes that a start was decided with. */
export interface WantedVolumes {
  readonly tenant: string;
  readonly agentId: string;
  readonly executionId: string;
  /** The starter; owns what is made. */
  readonly reader: VolumeReader;
  /** Of the agent. */
  readonly declared: readonly VolumeSpec[];
  /** The existing ones among them. */
  readonly sources: ReadonlyMap<string, SourceVolume>;
  /** Files that the execution is given; their volumes count as attached to it. */
  readonly attachments: readonly { readonly volume_id: string }[];
  /** Volumes of a workflow run, mounted beside; one at `/workspace` is the workspace. */
  readonly ofRun: readonly MountPlan[];
}

/** Directories of this host that go with a run. */
export interface HeldForRun {
  /** Of the execution's own workspace: the execution's id. */
  readonly volumeId: string;
  readonly executionId: string;
  /** How long it outlives the run. */
  readonly ttlMs: number;
}

export type Volumes = ReturnType<typeof createVolumes>;

/** Measurements of what agents write to at this moment hold this long. */
const freshMs = 1000;

export function createVolumes({ sql, dataDir, executions, newId, now }: VolumesOptions) {
  const layout = new VolumeLayout(dataDir);
  const records = volumeRecords(sql);
  const measured = new Map<string, { readonly at: number; readonly usage: Promise<Usage> }>();

  /** What a directory holds, measured now or a moment ago. */
  function usageOf(directory: string): Promise<Usage> {
    const known = measured.get(directory);
    if (known !== undefined && now() - known.at < freshMs) return known.usage;
    for (const [path, { at }] of measured) if (now() - at >= freshMs) measured.delete(path);
    const usage = measure(directory);
    measured.set(directory, { at: now(), usage });
    return usage;
  }

  /** Of the given volumes, those that an execution works with. */
  async function attached(volumeIds: readonly string[]): Promise<ReadonlySet<string>> {
    const mounts = await records.mountsOf(volumeIds);
    const rows = await executions([...new Set(mounts.map(({ execution_id }) => execution_id))]);
    const isRunning = new Map(rows.map(({ id, ended_at }) => [id, ended_at === null]));
    // A start settles its volumes a moment before it is stored.
    const busy = mounts.filter(({ execution_id, fresh }) => isRunning.get(execution_id) ?? fresh);
    return new Set(busy.map(({ volume_id }) => volume_id));
  }

  async function running(executionIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await executions(executionIds);
    return new Set(rows.filter(({ ended_at }) => ended_at === null).map(({ id }) => id));
  }

  /** Erases, on this host, what belongs to deleted volumes that nothing works with. @returns how many */
  async function eraseDeleted(): Promise<number> {
    const held = await idsIn(layout.volumes);
    const kept = await records.kept(held);
    const gone = held.filter((id) => !kept.has(id));
    const busy = await attached(gone);
    const erased = gone.filter((id) => !busy.has(id));
    for (const id of erased) await removeDirectory(layout.volume(id));
    await layout.removeOldUploads(now());
    await records.forgetOldDeleted();
    return erased.length;
  }

  async function settleDeclared(
    { tenant, agentId, executionId, reader, sources }: WantedVolumes,
    spec: VolumeSpec,
  ): Promise<MountPlan> {
    const { name, mount_path, access_mode, storage_class, size_limit_bytes, ttl_ms, source_volume_id } = spec;
    const plan = { name, mount_path, access_mode, size_limit_bytes, ttl_ms };
    if (source_volume_id !== null) {
      const limit = sources.get(source_volume_id.toLowerCase())?.size_limit_bytes ?? size_limit_bytes;
      const volume_id = source_volume_id.toLowerCase();
      return { ...plan, volume_id, storage_class: "persistent", size_limit_bytes: limit };
    }
    if (storage_class === "persistent") {
      const userId = reader?.userId ?? null;
      const volume = { id: newId(), agentId, name, sizeLimit: size_limit_bytes, userId };
      return { ...plan, volume_id: await records.ofAgent(tenant, volume), storage_class };
    }
    const id = newId();
    await records.addOfRun(tenant, { id, executionId, name, sizeLimit: size_limit_bytes, ttlMs: ttl_ms });
    return { ...plan, volume_id: id, storage_class };
  }

  return {
    layout,
    records,
    usageOf,
    attached,

    /** Of the given volumes, those that the starter may read, by id. @param volumeIds in lower case; others than UUIDs are none */
    async readable(
      tenant: string,
      reader: VolumeReader,
      volumeIds: readonly string[],
    ): Promise<ReadonlyMap<string, SourceVolume>> {
      const wanted = volumeIds.filter(isUuid);
      if (wanted.length === 0) return new Map();
      const rows = await records.readable(tenant, wanted, visibilityOf(reader));
      return new Map(rows.map((row) => [row.volume_id, row]));
    },

    /** Bytes in all volumes of the tenant. */
    usedBytes: (tenant: string): Promise<number> => records.usedBytes(tenant),

    /**
     * Stores the volumes of an execution whose start was decided. Nothing is stored for one that declares none.
     * @returns all of them, `/workspace` among them, shortest paths first
     */
    async settle(wanted: WantedVolumes): Promise<MountPlan[]> {
      const { tenant, executionId, declared, attachments, ofRun } = wanted;
      const mounts = await Promise.all([
        ...declared.map((spec) => settleDeclared(wanted, spec)),
        ...ofRun.map((mount): MountPlan => ({ ...mount, shared: true })),
      ]);
      const lasting = mounts.filter(({ storage_class, shared }) => storage_class === "persistent" || shared === true);
      const written = lasting.filter(({ access_mode }) => access_mode === "read-write");
      await records.mount(
        tenant,
        executionId,
        [...new Set([...lasting, ...attachments].map(({ volume_id }) => volume_id))],
        written.map(({ volume_id }) => volume_id),
      );
      if (!mounts.some(({ mount_path }) => mount_path === "/workspace")) mounts.push(implicitWorkspace(executionId));
      return mounts.sort((a, b) => a.mount_path.length - b.mount_path.length);
    },

    /**
     * Makes the directories of a run on this host and says what is mounted where, the policy applied.
     * @throws LaunchFailure `volume_error`
     */
    async instanceMounts(
      _tenant: string,
      executionId: string,
      plan: Pick<Plan, "mounts" | "filesystem">,
    ): Promise<InstanceMount[]> {
      const run = { executionId, mounts: plan.mounts, rules: plan.filesystem };
      await requireCompatible(records, run, running);
      return mountRun(layout, run);
    },

    /** Calls `exceeded` once a volume of the execution is larger than its limit (`size-watch.ts`). */
    watchLimits(
      executionId: string,
      plan: Pick<Plan, "mounts" | "filesystem" | "resources">,
      exceeded: () => void,
    ): () => void {
      return watchLimits(layout, executionId, plan, exceeded);
    },

    /**
     * What the `fs.*` tools of a run may reach, its directories made.
     * @param growing whether more may be written: then the room that is left is measured
     */
    async view(plan: Pick<Plan, "mounts" | "filesystem">, growing: boolean): Promise<ViewSpec> {
      const { mounts, filesystem } = plan;
      await makeVolumes(layout, mounts);
      const bound = filesystem.read_only || filesystem.read.length > 0 || filesystem.write.length > 0;
      return {
        mounts: await Promise.all(
          mounts.map(async (mount) => {
            const host = layout.directoryOf(mount);
            const used = growing ? await measure(host) : null;
            return {
              host,
              target: mount.mount_path,
              readOnly: mount.access_mode === "read-only",
              freeBytes: used === null ? null : Math.max(0, mount.size_limit_bytes - used.bytes),
            };
          }),
        ),
        rules: bound ? filesystem : null,
      };
    },

    /** What people may read of a run: all its volumes, nothing made. Null: this host does not hold them (any more). */
    readingView(mounts: readonly MountPlan[]): ViewSpec | null {
      const held = mounts
        .map((mount) => ({ host: layout.directoryOf(mount), target: mount.mount_path }))
        .filter(({ host }) => isDirectory(host));
      if (!held.some(({ target }) => target === "/workspace")) return null;
      return { mounts: held.map((mount) => ({ ...mount, readOnly: true, freeBytes: null })), rules: null };
    },

    /** The execution was erased: takes away what goes with it. Repeatable. */
    async removeOfExecution(executionId: string): Promise<void> {
      const declared = await records.volumesOfRun(executionId);
      await Promise.all([executionId, ...declared].map((id) => removeDirectory(layout.workspace(id))));
      await removeDirectory(layout.hiddenOf(executionId));
      await records.forget(declared);
      await records.forgetMounts([executionId]);
    },

    /**
     * These executions or runs ended long ago and are erased: takes away what this host still has of them. Their instances
     * are gone, and directories on other hosts go with the sweeps of those. A directory that cannot be removed keeps no
     * record: this host's sweep takes it up again and says why it fails. Repeatable.
     */
    async removeOfErased(executionIds: readonly string[]): Promise<void> {
      const declared = await records.forgetRuns(executionIds);
      const directories = [
        ...[...executionIds, ...declared].map((id) => layout.workspace(id)),
        ...executionIds.map((id) => layout.hiddenOf(id)),
      ];
      for (const directory of directories) await removeDirectory(directory).catch(() => {});
    },

    /** A workflow's run ended: its ephemeral volumes go, and it works with no others any more. Repeatable. */
    async removeOfRun(executionId: string, ephemeral: readonly string[]): Promise<void> {
      for (const id of ephemeral) await removeDirectory(layout.workspace(id));
      await records.forget(ephemeral);
      await records.forgetMounts([executionId]);
    },

    /** The agent was deleted: its persistent volumes go, in every tenant, once nothing works with them. */
    async removeOfAgent(agentId: string): Promise<void> {
      if (await records.markDeletedOfAgent(agentId)) void eraseDeleted().catch(() => {});
    },

    /** Everything this host holds for runs, and rows of runs that never came to be. */
    async heldForRuns(): Promise<HeldForRun[]> {
      const [directories, hidden] = await Promise.all([idsIn(layout.workspaces), idsIn(layout.hidden)]);
      const declared = await records.ofRuns(directories);
      const own = new Set(declared.map(({ volume_id }) => volume_id));
      const workspaces = new Set([...directories, ...hidden].filter((id) => !own.has(id)));
      return [
        ...declared.map((row) => ({ volumeId: row.volume_id, executionId: row.execution_id, ttlMs: row.ttl_ms })),
        ...[...workspaces].map((id) => ({ volumeId: id, executionId: id, ttlMs: workspaceTtlMs })),
      ];
    },

    /** Takes one of those away. Repeatable. */
    async removeHeld({ volumeId }: HeldForRun): Promise<void> {
      await removeDirectory(layout.workspace(volumeId));
      await removeDirectory(layout.hiddenOf(volumeId));
      await records.forget([volumeId]);
    },

    eraseDeleted,

    /** Counts what executions wrote on this host, so that it counts in the tenants' quotas. */
    async measureWritten(): Promise<void> {
      const lasting = await idsIn(layout.volumes);
      const doubtful = await records.doubtful([...lasting, ...(await idsIn(layout.workspaces))]);
      const busy = await attached(doubtful);
      for (const id of doubtful) {
        const { bytes, files } = await measure(lasting.includes(id) ? layout.volume(id) : layout.workspace(id));
        await records.noteUsage(id, bytes, files, !busy.has(id));
      }
    },
  };
}
