/** The SQL of copies of volumes on hosts: which there are, who is at them, and what is not written back yet. */
import type { Sql, Transaction } from "../../../../../store/postgres/pool.ts";
import { maxPathBytes, maxSegments } from "../../../paths.ts";
import type { MountUse, VolumeAt } from "../../port.ts";

/** More files and directories of a volume are not copied. */
export const maxStaged = 50_000;
/** A process that does not say so again is not at it any more. */
const busyFor = "30 seconds";

export interface StoredEntry {
  readonly id: string;
  readonly directory: boolean;
  readonly path: string;
  readonly size: number;
  readonly modifiedUs: number;
  readonly sha256: string | null;
}

/** What an instance may have changed in the copy of a volume. */
export interface Staging extends VolumeAt {
  readonly execution_id: string;
  readonly instance_id: string;
}

/** @param host this one, as the runtime names it */
export function stagingRecords(sql: Sql, host: string) {
  return {
    /** Everything in a volume, directories and files; one more than may be copied where there are more. */
    async stored({ tenant, volume_id }: VolumeAt): Promise<StoredEntry[]> {
      return sql<StoredEntry[]>`
        with recursive tree as (
          select 1 as depth, e.entry_id, e.is_file, e.name::text as path, e.size, e.modified_us, e.sha256
          from volumes v join volume_entries e on e.volume_id = v.volume_id and e.parent_id = v.root_id
          where v.tenant = ${tenant} and v.volume_id = ${volume_id} and v.deleted_at is null
          union all
          select t.depth + 1, e.entry_id, e.is_file, t.path || '/' || e.name, e.size, e.modified_us, e.sha256
          from tree t join volume_entries e on e.volume_id = ${volume_id} and e.parent_id = t.entry_id
          -- What moves made deeper has no path that the routes take, and is not copied.
          where not t.is_file and t.depth < ${maxSegments} and octet_length(t.path) + octet_length(e.name) + 2 <= ${maxPathBytes}
        )
        select entry_id as id, not is_file as directory, path, size::double precision as size,
          modified_us::double precision as "modifiedUs", sha256
        from tree limit ${maxStaged + 1}`;
    },

    /** @returns false while another process is at the copy */
    async enter(volumeId: string, token: string): Promise<boolean> {
      const rows = await sql`
        insert into volume_copies as c (volume_id, host, busy_until, busy_by)
        values (${volumeId}, ${host}, now() + ${busyFor}::interval, ${token})
        on conflict (volume_id, host) do update set busy_until = excluded.busy_until, busy_by = excluded.busy_by,
          used_at = now()
        where c.busy_until is null or c.busy_until < now() or c.busy_by = ${token}
        returning 1`;
      return rows.length > 0;
    },

    async leave(volumeId: string, token: string): Promise<void> {
      await sql`
        update volume_copies set busy_until = null, busy_by = null, used_at = now()
        where volume_id = ${volumeId} and host = ${host} and busy_by = ${token}`;
    },

    /** Says that an instance may write to the copy from now on. */
    async mark({ tenant, volume_id }: VolumeAt, { executionId, instanceId }: MountUse): Promise<void> {
      await sql`
        insert into volume_stagings (volume_id, instance_id, execution_id, tenant, host)
        values (${volume_id}, ${instanceId}, ${executionId}, ${tenant}, ${host}) on conflict do nothing`;
    },

    async unmark(volumeId: string, instanceId: string, query: Sql | Transaction = sql): Promise<void> {
      await query`
        delete from volume_stagings
        where volume_id = ${volumeId} and host = ${host} and instance_id = ${instanceId}`;
    },

    /** Instances that may have written to the copy and are not written back. */
    async writers(volumeId: string): Promise<string[]> {
      const rows = await sql<{ instance_id: string }[]>`
        select instance_id from volume_stagings where volume_id = ${volumeId} and host = ${host}`;
      return rows.map(({ instance_id }) => instance_id);
    },

    async ofInstance(instanceId: string): Promise<Staging[]> {
      return sql<Staging[]>`
        select volume_id, tenant, execution_id, instance_id from volume_stagings
        where host = ${host} and instance_id = ${instanceId} order by volume_id`;
    },

    /** On this host, those that began more than a minute ago. */
    async ofHost(): Promise<Staging[]> {
      return sql<Staging[]>`
        select volume_id, tenant, execution_id, instance_id from volume_stagings
        where host = ${host} and created_at < now() - interval '1 minute' order by created_at limit 1000`;
    },

    /** Of hosts that had no node for an hour. */
    async ofGoneHosts(): Promise<(Staging & { readonly host: string })[]> {
      return sql<(Staging & { host: string })[]>`
        select volume_id, tenant, execution_id, instance_id, host from volume_stagings s
        where created_at < now() - interval '1 hour' and not exists (
          select from runtime_nodes n where n.host = s.host and n.heartbeat_at > now() - interval '1 hour')
        limit 100`;
    },

    /** @returns false where another node did */
    async giveUp({ volume_id, instance_id, host: gone }: Staging & { readonly host: string }): Promise<boolean> {
      const { count } = await sql`
        delete from volume_stagings where volume_id = ${volume_id} and instance_id = ${instance_id} and host = ${gone}`;
      return count > 0;
    },

    /** Copies on this host that nothing used for an hour and that hold nothing of their own. */
    async unused(): Promise<string[]> {
      const rows = await sql<{ volume_id: string }[]>`
        select volume_id from volume_copies c
        where host = ${host} and used_at < now() - interval '1 hour' and (busy_until is null or busy_until < now())
          and not exists (select from volume_stagings s where s.volume_id = c.volume_id and s.host = c.host)
        order by used_at limit 100`;
      return rows.map(({ volume_id }) => volume_id);
    },

    async forgetCopy(volumeId: string): Promise<void> {
      await sql`delete from volume_copies where volume_id = ${volumeId} and host = ${host}`;
    },
  };
}
