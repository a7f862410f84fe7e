/** Volumes as their users have them: made, shown, changed, deleted (docs/reference/volumes.md). */
import type { Json } from "../../../actors/kernel/json.ts";
import { invalidField, Problem } from "../../../actors/kernel/problem.ts";
import { isStorable } from "../../../actors/manifest/storable.ts";
import type { TenantTerms } from "../../../actors/policy/quota.ts";
import { type StorageQuota, storageQuota, volumeAllowance } from "../../../actors/policy/storage-quota.ts";
import type { Page } from "../../http/paging.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { type Audit, type AuditedCall, auditedBy } from "../audit/port.ts";
import { CHAT_ATTACHMENTS } from "./chat-label.ts";
import { type Backend, ownerOf, type VolumeOwner, type VolumeRow, visibilityOf } from "./records.ts";
import type { Volumes } from "./runs/execution-volumes.ts";
import type { ChangeBody, VolumeBody } from "./schema.ts";
import { userVolumeRecords } from "./user-records.ts";

/** Who does it, as the audit log tells. */
export interface Caller extends AuditedCall {
  /** The effective tenant. */
  readonly tenant: string;
}

export type VolumeService = ReturnType<typeof createVolumeService>;

export interface VolumeServiceOptions {
  readonly sql: Sql;
  /** Where the bytes of volumes lie that are made. */
  readonly backend: Backend;
  readonly volumes: Volumes;
  readonly audit: Audit;
  /** What a tenant may have, as it stands now. */
  readonly terms: (tenant: string) => Promise<TenantTerms>;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function createVolumeService({ sql, backend, volumes, audit, terms, newId }: VolumeServiceOptions) {
  const quotaOf = async (tenant: string): Promise<StorageQuota> => storageQuota(await terms(tenant));
  const records = userVolumeRecords(sql, backend);
  const { places } = volumes;

  /** Measures what agents may have written to since it was last measured. */
  async function current(row: VolumeRow, isAttached: boolean): Promise<VolumeRow> {
    if (row.measured) return row;
    // While an agent writes, figures are old at once anyway.
    const { bytes, files } = await (isAttached ? volumes.usageOf(row.volume_id) : volumes.settleUsage(row.volume_id));
    if (isAttached) await volumes.records.noteUsage(row.volume_id, bytes, files, null);
    return { ...row, used_bytes: bytes, file_count: files };
  }

  async function bodies(rows: readonly VolumeRow[]): Promise<VolumeBody[]> {
    const attached = await volumes.attached(rows.map(({ volume_id }) => volume_id));
    return Promise.all(
      rows.map(async (row) => {
        const isAttached = attached.has(row.volume_id);
        return volumeBody(await current(row, isAttached), isAttached);
      }),
    );
  }

  async function bodyOf(row: VolumeRow): Promise<VolumeBody> {
    const [body] = await bodies([row]);
    if (body === undefined) throw volumeNotFound();
    return body;
  }

  /** The caller's own volume for chats, made at its first use even where the quota of volumes is used up. */
  async function chatVolume(caller: Caller): Promise<VolumeRow> {
    const { identity, tenant } = caller;
    const owner = ownerOf(identity, tenant);
    const find = () => volumes.records.byLabel(tenant, owner, CHAT_ATTACHMENTS);
    const known = await find();
    if (known !== null) return known;
    const sizeLimit = volumeAllowance(await quotaOf(tenant));
    const volume = { id: newId(), owner, label: CHAT_ATTACHMENTS, sizeLimit, visibility: "private" };
    await records.exclusively(tenant, async (transaction) => {
      if (await records.create(transaction, tenant, volume)) await recordCreated(transaction, caller, volume);
    });
    const made = await find();
    if (made === null) throw volumeNotFound();
    return made;
  }

  return {
    places,
    records,
    quotaOf,

    /** What agents may have changed is measured again. */
    async refreshed(row: VolumeRow): Promise<VolumeRow> {
      return row.measured ? row : current(row, (await volumes.attached([row.volume_id])).has(row.volume_id));
    },

    /**
     * A volume the caller may see, its directory made.
     * @param id a UUID in any case, or `chat-attachments`
     * @throws Problem 404 `volume_not_found`
     */
    async find(caller: Caller, id: string): Promise<VolumeRow> {
      const { identity, tenant } = caller;
      const [row] =
        id === CHAT_ATTACHMENTS
          ? [await chatVolume(caller)]
          : await volumes.records.readable(tenant, [id.toLowerCase()], visibilityOf(identity, tenant));
      if (row === undefined) throw volumeNotFound();
      await places.prepare(row.volume_id);
      return row;
    },

    bodyOf,

    /** @throws Problem 402 `quota_exceeded`, 409 `volume_label_taken`, 422 for a limit above what the caller may have */
    async create(
      caller: Caller,
      id: string,
      { label, size_limit_bytes, visibility = "private" }: ChangeBody & { readonly label: string },
    ): Promise<VolumeBody> {
      const { identity, tenant } = caller;
      checkLabel(label);
      const quota = await quotaOf(tenant);
      const sizeLimit = checkedLimit(size_limit_bytes, quota) ?? volumeAllowance(quota);
      const owner = ownerOf(identity, tenant);
      const earlier = await volumes.records.byLabel(tenant, owner, label);
      // The same piece of work, repeated after a crash.
      if (earlier?.volume_id === id) return bodyOf(earlier);
      await records.exclusively(tenant, async (transaction) => {
        if (label !== CHAT_ATTACHMENTS) await requireRoomForVolume(transaction, tenant, owner, quota);
        const volume = { id, owner, label, sizeLimit, visibility };
        if (!(await records.create(transaction, tenant, volume))) throw labelTaken();
        await recordCreated(transaction, caller, volume);
      });
      const made = await volumes.records.byLabel(tenant, owner, label);
      if (made === null) throw volumeNotFound();
      return bodyOf(made);
    },

    async list({ identity, tenant }: Caller, label: string | null, page: Page) {
      const who = visibilityOf(identity, tenant);
      const [{ userBytes }, rows, total] = await Promise.all([
        quotaOf(tenant),
        records.list(tenant, who, label, page),
        records.count(tenant, who, label),
      ]);
      const positions = new Map(rows.map(({ volume_id, position }) => [volume_id, position]));
      return { items: await bodies(rows), positions, total, quotaBytes: userBytes };
    },

    async quota({ identity, tenant }: Caller) {
      const { tier, volumes: limit, userBytes, tenantBytes, fileBytes } = await quotaOf(tenant);
      const held = await records.held(tenant, ownerOf(identity, tenant), null);
      const bytes = Math.min(userBytes, tenantBytes);
      return {
        quota_bytes: bytes,
        total_storage_bytes: bytes,
        used_bytes: held.userBytes,
        total_bytes_used: held.userBytes,
        volume_count: held.volumes,
        volume_limit: limit,
        max_volumes: limit,
        max_file_size_bytes: Math.min(fileBytes, bytes),
        tier,
      };
    },

    /** @throws Problem 409 `volume_label_taken`, 422 for a limit below what is held or above the allowance */
    async change(caller: Caller, row: VolumeRow, change: ChangeBody): Promise<VolumeBody> {
      const { tenant } = caller;
      if (change.label !== undefined) checkLabel(change.label);
      checkedLimit(change.size_limit_bytes, await quotaOf(tenant));
      if (change.size_limit_bytes !== undefined) {
        const { used_bytes } = await current(row, true);
        if (change.size_limit_bytes < used_bytes) throw badLimit(`the volume holds ${used_bytes} bytes`);
      }
      const isFree = await records.change(tenant, row.volume_id, change, (tx) =>
        record(tx, caller, "updated", row.volume_id, { ...change }),
      );
      if (!isFree) throw labelTaken();
      const [changed] = await volumes.records.readable(tenant, [row.volume_id], { all: true, owner: null });
      if (changed === undefined) throw volumeNotFound();
      return bodyOf(changed);
    },

    /** @throws Problem 409 `volume_attached` while an execution works with it, or an agent keeps it */
    async remove(caller: Caller, row: VolumeRow): Promise<void> {
      const attached = await volumes.attached([row.volume_id]);
      if (attached.has(row.volume_id)) throw new Problem("volume_attached", "An execution works with this volume");
      if (row.kind === "agent") throw new Problem("volume_attached", "The volume is kept until its agent is deleted");
      await records.markDeleted(caller.tenant, row.volume_id, (tx) =>
        record(tx, caller, "deleted", row.volume_id, { label: row.label, owner_user_id: row.owner_user_id }),
      );
    },
  };

  /** In the transaction of the change it tells of. */
  function record(
    tx: Transaction,
    caller: Caller,
    verb: "created" | "updated" | "deleted",
    id: string,
    details: { readonly [key: string]: Json },
  ): Promise<void> {
    const target = { type: "volume", id };
    return audit.append(tx, auditedBy(caller), { tenant: caller.tenant, action: `volume.${verb}`, target, details });
  }

  function recordCreated(
    tx: Transaction,
    caller: Caller,
    { id, label, visibility, sizeLimit }: { id: string; label: string; visibility: string; sizeLimit: number },
  ): Promise<void> {
    return record(tx, caller, "created", id, { label, visibility, size_limit_bytes: sizeLimit });
  }

  async function requireRoomForVolume(
    transaction: Transaction,
    tenant: string,
    owner: VolumeOwner,
    { volumes: limit, tier }: StorageQuota,
  ): Promise<void> {
    const held = await records.held(tenant, owner, null, transaction);
    if (held.volumes < limit) return;
    throw new Problem("quota_exceeded", `The plan allows ${limit} volumes`, {
      quota: "volumes",
      limit,
      used: held.volumes,
      tier,
    });
  }
}

function volumeBody(row: VolumeRow, attached: boolean): VolumeBody {
  return {
    id: row.volume_id,
    label: row.label,
    name: row.label,
    status: attached ? "attached" : "available",
    visibility: row.visibility,
    size_limit_bytes: row.size_limit_bytes,
    used_bytes: row.used_bytes,
    file_count: row.file_count,
    tenant_id: row.tenant,
    owner_user_id: row.owner_user_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

const volumeNotFound = (): Problem => new Problem("volume_not_found", "Volume not found");
const labelTaken = (): Problem => new Problem("volume_label_taken", "You have a volume of that label");

function badLimit(message: string): Problem {
  return invalidField("size_limit_bytes", message);
}

function checkedLimit(bytes: number | undefined, quota: StorageQuota): number | null {
  if (bytes === undefined) return null;
  if (bytes > quota.userBytes) throw badLimit(`may be at most ${quota.userBytes}`);
  return bytes;
}

function checkLabel(label: string): void {
  if (isStorable(label) && label.trim() !== "") return;
  throw invalidField("label", "must be printable text");
}
