/** The SQL of volumes, tenant first. */
import type { Identity } from "../../../actors/identity/identity.ts";
import { isImpliedSubject } from "../../../actors/identity/tenant.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

export interface VolumeRow {
  readonly volume_id: string;
  readonly tenant: string;
  readonly kind: "user" | "agent" | "run" | "workflow";
  readonly label: string;
  readonly owner_realm: string | null;
  readonly owner_user_id: string | null;
  readonly visibility: "private" | "tenant";
  readonly size_limit_bytes: number;
  readonly used_bytes: number;
  readonly file_count: number;
  readonly measured: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Whose a volume is. */
export interface VolumeOwner {
  /** Null: of a run that was started before realms were kept. */
  readonly realm: string | null;
  readonly userId: string;
  /** Whether a volume may be this owner's whose realm was not stored. */
  readonly isImplied: boolean;
}

/** Whose volumes a caller sees: all of the tenant, or the caller's own and those visible to all. */
export interface Visibility {
  readonly all: boolean;
  /** Null: no one in particular. */
  readonly owner: VolumeOwner | null;
}

/** Of the rows of volumes, those of an owner. */
export const ownedBy = (sql: Query, owner: VolumeOwner | null) =>
  owner === null
    ? sql`false`
    : sql`(owner_user_id = ${owner.userId} and (${owner.realm}::text is null or owner_realm = ${owner.realm}
        or (owner_realm is null and ${owner.isImplied})))`;

type Query = Sql | Transaction;

/** Where the bytes of a volume lie. */
export type Backend = "local" | "s3";

export type VolumeRecords = ReturnType<typeof volumeRecords>;

/** @param backend where the bytes of volumes lie that are made */
export function volumeRecords(sql: Sql, backend: Backend) {
  const columns = sql`volume_id, tenant, kind, label, owner_realm, owner_user_id, visibility,
    size_limit_bytes::double precision as size_limit_bytes, used_bytes::double precision as used_bytes,
    file_count::double precision as file_count,
    measured, created_at, updated_at`;
  const holdsObjects = sql`(v.root_id is not null
    or exists (select from volume_detached d where d.volume_id = v.volume_id)
    or exists (select from volume_drafts d where d.volume_id = v.volume_id))`;
  const seen = ({ all, owner }: Visibility) => sql`(${all} or visibility = 'tenant' or ${ownedBy(sql, owner)})`;
  return {
    /** Of the given volumes, those the tenant has and the reader may see; volumes of runs cannot be named. */
    readable(tenant: string, volumeIds: readonly string[], who: Visibility): Promise<VolumeRow[]> {
      return sql<VolumeRow[]>`
        select ${columns} from volumes
        where tenant = ${tenant} and volume_id = any(${[...volumeIds]}::uuid[]) and kind <> 'run'
          and deleted_at is null and ${seen(who)}`;
    },

    /** Whether a volume that a reader of the tenant does not see is there for others of the tenant. */
    async isHidden(tenant: string, volumeId: string): Promise<boolean> {
      const rows = await sql`
        select 1 from volumes
        where tenant = ${tenant} and volume_id = ${volumeId} and kind <> 'run' and deleted_at is null`;
      return rows.length > 0;
    },

    /** A user's volume by its label. */
    async byLabel(tenant: string, owner: VolumeOwner, label: string, query: Query = sql): Promise<VolumeRow | null> {
      const [row] = await query<VolumeRow[]>`
        select ${columns} from volumes
        where tenant = ${tenant} and ${ownedBy(sql, owner)} and label = ${label} and kind = 'user'
          and deleted_at is null
        order by owner_realm nulls last limit 1`;
      return row ?? null;
    },

    /** An agent's persistent volume, made when there is none; a later manifest's size limit is taken over. */
    async ofAgent(
      tenant: string,
      volume: {
        id: string;
        agentId: string;
        name: string;
        sizeLimit: number;
        owner: Pick<VolumeOwner, "realm" | "userId"> | null;
      },
    ): Promise<string> {
      const [row] = await sql<{ volume_id: string }[]>`
        insert into volumes (volume_id, root_id, indexed, tenant, kind, label, owner_realm, owner_user_id, agent_id,
          size_limit_bytes, backend)
        values (${volume.id}, ${volume.id}, true, ${tenant}, 'agent', ${volume.name}, ${volume.owner?.realm ?? null},
          ${volume.owner?.userId ?? null}, ${volume.agentId}, ${volume.sizeLimit}, ${backend})
        on conflict (agent_id, tenant, label) where kind = 'agent' and deleted_at is null
        do update set size_limit_bytes = excluded.size_limit_bytes
        returning volume_id`;
      return row?.volume_id ?? volume.id;
    },

    /** A workflow's persistent volume, made when there is none; a later manifest's size limit is taken over. */
    async ofWorkflow(
      tenant: string,
      volume: {
        id: string;
        workflow: string;
        name: string;
        sizeLimit: number;
        owner: Pick<VolumeOwner, "realm" | "userId"> | null;
      },
    ): Promise<string> {
      const [row] = await sql<{ volume_id: string }[]>`
        insert into volumes (volume_id, root_id, indexed, tenant, kind, label, owner_realm, owner_user_id, workflow,
          size_limit_bytes, backend)
        values (${volume.id}, ${volume.id}, true, ${tenant}, 'workflow', ${volume.name}, ${volume.owner?.realm ?? null},
          ${volume.owner?.userId ?? null}, ${volume.workflow}, ${volume.sizeLimit}, ${backend})
        on conflict (tenant, workflow, label) where kind = 'workflow' and deleted_at is null
        do update set size_limit_bytes = excluded.size_limit_bytes
        returning volume_id`;
      return row?.volume_id ?? volume.id;
    },

    /**
     * An ephemeral volume that a run declares. The same id again is the same volume.
     * @param volume of a workflow's run it names the workflow: then what it holds counts in the tenant's quota
     */
    async addOfRun(
      tenant: string,
      volume: { id: string; executionId: string; name: string; sizeLimit: number; ttlMs: number; workflow?: string },
    ): Promise<void> {
      await sql`
        insert into volumes (volume_id, tenant, kind, label, execution_id, size_limit_bytes, ttl_ms, workflow)
        values (${volume.id}, ${tenant}, 'run', ${volume.name}, ${volume.executionId}, ${volume.sizeLimit},
          ${volume.ttlMs}, ${volume.workflow ?? null})
        on conflict (volume_id) do nothing`;
    },

    /** What the tenant's volumes hold, as last measured, those of workflow runs among them. */
    async usedBytes(tenant: string): Promise<number> {
      const [row] = await sql<{ used: number }[]>`
        select coalesce(sum(used_bytes), 0)::double precision as used from volumes
        where tenant = ${tenant} and (kind <> 'run' or workflow is not null) and deleted_at is null`;
      return row?.used ?? 0;
    },

    /** @param written those of the volumes that the execution may change */
    async mount(
      tenant: string,
      executionId: string,
      volumeIds: readonly string[],
      written: readonly string[],
    ): Promise<void> {
      if (volumeIds.length === 0) return;
      await sql`
        insert into volume_mounts (volume_id, execution_id, tenant)
        select volume_id, ${executionId}, tenant from volumes
        where tenant = ${tenant} and volume_id = any(${[...volumeIds]}::uuid[])
        on conflict (volume_id, execution_id) do nothing`;
      if (written.length === 0) return;
      await sql`
        update volumes set measured = false
        where tenant = ${tenant} and volume_id = any(${[...written]}::uuid[]) and backend = 'local'`;
    },

    /** Executions that mount the volumes, ended or not. */
    mountsOf(volumeIds: readonly string[]): Promise<{ volume_id: string; execution_id: string; fresh: boolean }[]> {
      return sql<{ volume_id: string; execution_id: string; fresh: boolean }[]>`
        select volume_id, execution_id, created_at > now() - interval '1 minute' as fresh
        from volume_mounts where volume_id = any(${[...volumeIds]}::uuid[])`;
    },

    /** Says how a volume shows in an execution. @returns how it shows in others, ended or not */
    async shape(
      volumeId: string,
      executionId: string,
      shape: string,
    ): Promise<{ execution_id: string; shape: string }[]> {
      await sql`
        update volume_mounts set shape = ${shape} where volume_id = ${volumeId} and execution_id = ${executionId}`;
      return sql<{ execution_id: string; shape: string }[]>`
        select execution_id, shape from volume_mounts
        where volume_id = ${volumeId} and execution_id <> ${executionId} and shape is not null and shape <> ${shape}`;
    },

    async forgetMounts(executionIds: readonly string[]): Promise<void> {
      await sql`delete from volume_mounts where execution_id = any(${[...executionIds]}::uuid[])`;
    },

    /** Where the changes of a volume's files stand, to be told with what is measured after. Null: one is under way. */
    async changesOf(volumeId: string): Promise<string | null> {
      const [row] = await sql<{ changes: string }[]>`
        select file_changes::text as changes from volumes v
        where volume_id = ${volumeId} and not exists (select from volume_changes c where c.volume_id = v.volume_id)`;
      return row?.changes ?? null;
    },

    /**
     * What the directory of a volume holds, as measured. Of a volume in the object store the rows count, never its copies.
     * @param since where its changes stood before, if nothing writes to it any more: the figures hold until it is mounted
     *   again. Null: they hold for the moment
     * @returns false where it was changed since: nothing is noted then
     */
    async noteUsage(volumeId: string, bytes: number, files: number, since: string | null): Promise<boolean> {
      const isUnchanged = sql`v.file_changes = ${since}::bigint
        and not exists (select from volume_changes c where c.volume_id = v.volume_id)`;
      // What was deleted and is still to be taken away is in these figures no more.
      const noted = await sql`
        with noted as (
          update volumes v set used_bytes = ${bytes}, file_count = ${files}, measured = ${since !== null}
          where volume_id = ${volumeId} and backend = 'local' and ${since === null ? sql`true` : isUnchanged}
          returning volume_id
        ), settled as (
          update volume_detached set counted = false where counted and volume_id in (select volume_id from noted)
        )
        select from noted`;
      return noted.count > 0;
    },

    /** Of the given volumes, those that were written to since they were measured. */
    async doubtful(volumeIds: readonly string[]): Promise<string[]> {
      const rows = await sql<{ volume_id: string }[]>`
        select volume_id from volumes
        where volume_id = any(${[...volumeIds]}::uuid[]) and not measured and deleted_at is null limit 500`;
      return rows.map((row) => row.volume_id);
    },

    /** Ephemeral volumes of runs by id, or all of them that are older than an hour. */
    ofRuns(ids: readonly string[]): Promise<{ volume_id: string; execution_id: string; ttl_ms: number }[]> {
      return sql<{ volume_id: string; execution_id: string; ttl_ms: number }[]>`
        select volume_id, execution_id, ttl_ms::double precision as ttl_ms from volumes
        where kind = 'run' and (volume_id = any(${[...ids]}::uuid[]) or created_at < now() - interval '1 hour')
        limit 10000`;
    },

    async volumesOfRun(executionId: string): Promise<string[]> {
      const rows = await sql<{ volume_id: string }[]>`
        select volume_id from volumes where kind = 'run' and execution_id = ${executionId}`;
      return rows.map((row) => row.volume_id);
    },

    /**
     * What runs or executions that are erased have here: their ephemeral volumes, and what they mounted.
     * @returns the ids of those volumes
     */
    async forgetRuns(executionIds: readonly string[]): Promise<string[]> {
      const ids = [...executionIds];
      // The mounts of these volumes go with them; the two parts may not delete the same row.
      const rows = await sql<{ volume_id: string }[]>`
        with own as (
          delete from volumes where kind = 'run' and execution_id = any(${ids}::uuid[]) returning volume_id
        ), mounted as (
          delete from volume_mounts m where execution_id = any(${ids}::uuid[])
            and not exists (select from volumes v
              where v.volume_id = m.volume_id and v.kind = 'run' and v.execution_id = any(${ids}::uuid[]))
        )
        select volume_id from own`;
      return rows.map((row) => row.volume_id);
    },

    async forget(volumeIds: readonly string[]): Promise<void> {
      if (volumeIds.length === 0) return;
      await sql`delete from volumes where volume_id = any(${[...volumeIds]}::uuid[])`;
    },

    /** Of every tenant: a global agent has volumes wherever it ran. @returns whether there were any */
    async markDeletedOfAgent(agentId: string): Promise<boolean> {
      const marked = await sql`
        update volumes set deleted_at = now() where kind = 'agent' and agent_id = ${agentId} and deleted_at is null`;
      return marked.count > 0;
    },

    async markDeletedOfTenant(tenant: string): Promise<void> {
      await sql`update volumes set deleted_at = now() where tenant = ${tenant} and deleted_at is null`;
    },

    /** Of the given ids: those that are kept, so that all others may be erased. */
    async kept(volumeIds: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await sql<{ volume_id: string }[]>`
        select volume_id from volumes where volume_id = any(${[...volumeIds]}::uuid[]) and deleted_at is null`;
      return new Set(rows.map((row) => row.volume_id));
    },

    /** Rows of volumes that every host has had its time to erase, and of which no object is left. */
    async forgetOldDeleted(): Promise<void> {
      await sql`
        delete from volumes v where deleted_at < now() - interval '7 days' and not (v.backend = 's3' and ${holdsObjects})`;
    },

    /** Whether objects are left of the tenant's volumes. */
    async hasObjects(tenant: string): Promise<boolean> {
      const rows = await sql`
        select from volumes v where tenant = ${tenant} and v.backend = 's3' and ${holdsObjects} limit 1`;
      return rows.length > 0;
    },
  };
}

/** What permission over volumes is decided by. Null: no particular user; sees what the whole tenant sees. */
export type VolumeReader =
  | (Pick<Identity, "kind" | "userId" | "membership" | "tier"> & { readonly realm: string | null })
  | null;

/** A caller as the owner of volumes. */
export const ownerOf = (
  { kind, realm, userId }: Pick<NonNullable<VolumeReader>, "kind" | "realm" | "userId">,
  tenant: string,
): VolumeOwner => ({ realm, userId, isImplied: isImpliedSubject(kind, tenant) });

/** Whose room a volume takes: its owner's; of a volume without one, the caller's. */
export function ownerOfRow(
  { owner_realm, owner_user_id }: Pick<VolumeRow, "owner_realm" | "owner_user_id">,
  { identity, tenant }: { readonly identity: Identity; readonly tenant: string },
): VolumeOwner {
  const isCallers = owner_user_id === identity.userId && (owner_realm ?? identity.realm) === identity.realm;
  if (owner_user_id === null || isCallers) return ownerOf(identity, tenant);
  return { realm: owner_realm, userId: owner_user_id, isImplied: false };
}

/** Owners see theirs; owners and admins of the tenant, service accounts and operators see all; others what is shared. */
export function visibilityOf(reader: VolumeReader, tenant: string): Visibility {
  if (reader === null) return { all: false, owner: null };
  const { kind, membership } = reader;
  const decides = membership === "owner" || membership === "admin";
  return { all: kind === "service_account" || kind === "operator" || decides, owner: ownerOf(reader, tenant) };
}
