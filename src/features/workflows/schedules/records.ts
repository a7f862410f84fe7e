/** The SQL of the table `workflow_schedules`. What serves callers takes the tenant; the rest follows definitions. */
import type { Schedule } from "../../../../actors/workflow/definition.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Deployer } from "../definitions/port.ts";

export interface ScheduleRow {
  readonly schedule_id: string;
  /** Where it starts runs. */
  readonly tenant: string;
  /** Of the workflow: a tenant, or `*`. */
  readonly owner: string;
  readonly workflow_name: string;
  /** The latest version. */
  readonly workflow_id: string;
  readonly name: string;
  readonly schedule: Schedule;
  readonly deployer: Deployer | null;
  readonly paused: boolean;
  readonly ended: boolean;
  readonly revision: number;
  readonly created_at: Date;
  readonly changed_at: Date;
}

/** A name's schedules as its latest version has them. */
export interface LatestSchedules {
  readonly workflow_id: string;
  readonly schedules: readonly Schedule[] | null;
  readonly deployer: Deployer | null;
}

export interface WorkflowName {
  readonly owner: string;
  readonly name: string;
}

export type ScheduleRecords = ReturnType<typeof scheduleRecords>;

export function scheduleRecords(sql: Sql) {
  const columns = sql`
    s.schedule_id, s.tenant, s.owner, s.workflow_name, s.workflow_id, s.name, s.schedule, s.deployer, s.paused, s.ended,
    s.revision::float8 as revision, s.created_at, s.changed_at`;

  return {
    /** Those of a workflow, as its manifest has them. */
    of: (tenant: string, { owner, name }: WorkflowName): Promise<ScheduleRow[]> =>
      sql<ScheduleRow[]>`
        select ${columns} from workflow_schedules s
        where s.tenant = ${tenant} and s.owner = ${owner} and s.workflow_name = ${name} and not s.ended
        order by s.place`,

    async find(tenant: string, scheduleId: string): Promise<ScheduleRow | null> {
      const [row] = await sql<ScheduleRow[]>`
        select ${columns} from workflow_schedules s
        where s.schedule_id = ${scheduleId} and s.tenant = ${tenant} and not s.ended`;
      return row ?? null;
    },

    /** Holds it until the transaction ends. */
    async hold(tx: Transaction, tenant: string, scheduleId: string): Promise<Pick<ScheduleRow, "paused"> | null> {
      const [row] = await tx<Pick<ScheduleRow, "paused">[]>`
        select paused from workflow_schedules
        where schedule_id = ${scheduleId} and tenant = ${tenant} and not ended for update`;
      return row ?? null;
    },

    async setPaused(tx: Transaction, tenant: string, scheduleId: string, paused: boolean, at: Date): Promise<void> {
      await tx`
        update workflow_schedules
        set paused = ${paused}, changed_at = ${at}, revision = nextval('workflow_schedule_revisions')
        where schedule_id = ${scheduleId} and tenant = ${tenant}`;
    },

    /** Null: there is no version. */
    async latest(tx: Transaction, { owner, name }: WorkflowName): Promise<LatestSchedules | null> {
      const [row] = await tx<LatestSchedules[]>`
        select workflow_id, deployer,
          case when position('"schedules":' in definition) > 0 then definition::json -> 'schedules' end as schedules
        from workflows where tenant = ${owner} and name = ${name}
        order by version_order desc, created_at desc limit 1`;
      return row ?? null;
    },

    /** All there are, also such that are ending; held until the transaction ends. */
    known: (tx: Transaction, { owner, name }: WorkflowName) =>
      tx<Pick<ScheduleRow, "schedule_id" | "name" | "schedule" | "paused" | "ended">[]>`
        select schedule_id, name, schedule, paused, ended from workflow_schedules
        where owner = ${owner} and workflow_name = ${name} order by schedule_id for update`,

    /** Makes one, or changes it. @param isOther its times are others than before */
    async put(
      tx: Transaction,
      row: Omit<ScheduleRow, "ended" | "revision" | "created_at" | "changed_at"> & { readonly place: number },
      at: Date,
      isOther: boolean,
    ): Promise<void> {
      const deployer = row.deployer === null ? null : JSON.stringify(row.deployer);
      await tx`
        insert into workflow_schedules as s (schedule_id, tenant, owner, workflow_name, workflow_id, name, place, schedule,
          deployer, paused, revision, created_at, changed_at)
        values (${row.schedule_id}, ${row.tenant}, ${row.owner}, ${row.workflow_name}, ${row.workflow_id}, ${row.name},
          ${row.place}, ${JSON.stringify(row.schedule)}::text::json, ${deployer}::text::jsonb, ${row.paused},
          nextval('workflow_schedule_revisions'), ${at}, ${at})
        on conflict (schedule_id) do update set workflow_id = excluded.workflow_id, place = excluded.place,
          schedule = excluded.schedule, deployer = excluded.deployer, revision = excluded.revision, ended = false,
          paused = case when s.ended then excluded.paused else s.paused end,
          created_at = case when s.ended then excluded.created_at else s.created_at end,
          changed_at = case when s.ended or ${isOther} then excluded.changed_at else s.changed_at end`;
    },

    async end(tx: Transaction, scheduleIds: readonly string[]): Promise<void> {
      await tx`
        update workflow_schedules set ended = true, revision = nextval('workflow_schedule_revisions')
        where schedule_id = any(${texts(scheduleIds)}::text[]::uuid[]) and not ended`;
    },

    /** Of a name, those whose actor is to hear of a change. */
    unsettledOf: ({ owner, name }: WorkflowName): Promise<ScheduleRow[]> =>
      sql<ScheduleRow[]>`
        select ${columns} from workflow_schedules s
        where s.owner = ${owner} and s.workflow_name = ${name} and s.settled < s.revision`,

    /** The same of all, by id. */
    unsettled: (after: string | null, limit: number): Promise<ScheduleRow[]> =>
      sql<ScheduleRow[]>`
        select ${columns} from workflow_schedules s
        where s.settled < s.revision ${after === null ? sql`` : sql`and s.schedule_id > ${after}`}
        order by s.schedule_id limit ${limit}`,

    /** Its actor has heard of this revision; one that has ended goes. */
    async settled({ schedule_id, revision, ended }: Pick<ScheduleRow, "schedule_id" | "revision" | "ended">) {
      if (ended)
        await sql`delete from workflow_schedules where schedule_id = ${schedule_id} and revision = ${revision}`;
      else {
        await sql`
          update workflow_schedules set settled = ${revision}
          where schedule_id = ${schedule_id} and settled < ${revision}`;
      }
    },

    /** Ids of a tenant's, in their order. */
    async idsOf(tenant: string, after: string | null, limit: number): Promise<string[]> {
      const rows = await sql<{ schedule_id: string }[]>`
        select schedule_id from workflow_schedules
        where tenant = ${tenant} ${after === null ? sql`` : sql`and schedule_id > ${after}`}
        order by schedule_id limit ${limit}`;
      return rows.map(({ schedule_id }) => schedule_id);
    },

    async remove(tenant: string, scheduleIds: readonly string[]): Promise<void> {
      await sql`
        delete from workflow_schedules
        where tenant = ${tenant} and schedule_id = any(${texts(scheduleIds)}::text[]::uuid[])`;
    },

    async count(): Promise<{ readonly active: number; readonly paused: number }> {
      const [row] = await sql<{ active: number; paused: number }[]>`
        select count(*) filter (where not paused)::int as active, count(*) filter (where paused)::int as paused
        from workflow_schedules where not ended`;
      return row ?? { active: 0, paused: 0 };
    },
  };
}
