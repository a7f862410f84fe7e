/** The volumes of an execution, stored when its start was decided. */
import type { VolumeSpec } from "../../../../actors/agent/manifest/spec.ts";
import { implicitWorkspace, type SourceVolume } from "../../../../actors/execution/start/mounts.ts";
import type { MountPlan } from "../../../../actors/execution/start/plan.ts";
import type { VolumeReader, VolumeRecords } from "../records.ts";

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

/** Storing the volumes of executions at their start. */
export function settling(records: Pick<VolumeRecords, "ofAgent" | "addOfRun" | "mount">, newId: () => string) {
  /** The mount of a volume that the agent declares; one that it brings is stored. */
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
      const volume = { id: newId(), agentId, name, sizeLimit: size_limit_bytes, owner: reader };
      return { ...plan, volume_id: await records.ofAgent(tenant, volume), storage_class };
    }
    const id = newId();
    await records.addOfRun(tenant, { id, executionId, name, sizeLimit: size_limit_bytes, ttlMs: ttl_ms });
    return { ...plan, volume_id: id, storage_class };
  }

  return {
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
  };
}
