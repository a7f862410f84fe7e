/** Reads of commands, tenant first. They are written by the facts of turns alone. */
import type { CommandStatus } from "../../../../actors/edge-host/command.ts";
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";

/** One attempt at running a tool on a host. */
export interface CommandRow {
  readonly id: string;
  readonly run_id: string;
  /** Of the target within its run. */
  readonly idx: number;
  /** From 1. */
  readonly attempt: number;
  readonly host_id: string;
  readonly tool: string;
  readonly status: CommandStatus;
  readonly created_at: Date;
  readonly dispatched_at: Date | null;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  readonly duration_ms: number | null;
  readonly exit_code: number | null;
  readonly error_kind: string | null;
  readonly error_message: string | null;
  readonly reason: string | null;
  readonly stdout_tail: string | null;
  readonly stderr_tail: string | null;
  readonly stdout_bytes: number | null;
  readonly stderr_bytes: number | null;
  readonly truncated: boolean | null;
  /** JSON; null: the tool gave nothing. */
  readonly structured: string | null;
  readonly late: boolean;
}

export type RecentCommand = Pick<
  CommandRow,
  "id" | "run_id" | "tool" | "status" | "dispatched_at" | "exit_code" | "duration_ms"
>;

/** What the invoke frames of a run have in common; texts of JSON. */
export interface RunArgsRow {
  readonly run_id: string;
  readonly tool: string;
  readonly args: string;
  readonly security_context: string | null;
  readonly requested_by: string;
  readonly trace: string | null;
}

export type Commands = ReturnType<typeof commandRecords>;

const recent = 50;

export function commandRecords(sql: Sql) {
  const columns = sql`id, run_id, idx, attempt, host_id, tool, status, created_at, dispatched_at, started_at, ended_at,
    duration_ms::float8 as duration_ms, exit_code::float8 as exit_code, error_kind, error_message, reason, stdout_tail,
    stderr_tail, stdout_bytes::float8 as stdout_bytes, stderr_bytes::float8 as stderr_bytes, truncated, structured, late`;
  return {
    /** All attempts of these targets of a run, by target and attempt. @param idxs places of targets within the run */
    ofTargets: (tenant: string, runId: string, idxs: readonly number[]): Promise<readonly CommandRow[]> =>
      sql<CommandRow[]>`
        select ${columns} from edge_commands
        where tenant = ${tenant} and run_id = ${runId} and idx = any(${numbers(idxs)}::int[]) order by idx, attempt`,

    /** Those of the ids, in no order. */
    many: (tenant: string, ids: readonly string[]): Promise<readonly CommandRow[]> =>
      sql<CommandRow[]>`
        select ${columns} from edge_commands where tenant = ${tenant} and id = any(${texts(ids)}::uuid[])`,

    /** Which of the ids are on record, and whether they have ended. What came of them, which is large, is left out. */
    async standing(tenant: string, ids: readonly string[]): Promise<ReadonlyMap<string, { readonly ended: boolean }>> {
      const rows = await sql<{ id: string; ended: boolean }[]>`
        select id, ended_at is not null as ended from edge_commands
        where tenant = ${tenant} and id = any(${texts(ids)}::uuid[])`;
      return new Map(rows.map(({ id, ended }) => [id, { ended }]));
    },

    /** The newest ones that were sent to a host, at most 50. */
    ofHost: (tenant: string, hostId: string): Promise<readonly RecentCommand[]> =>
      sql<RecentCommand[]>`
        select id, run_id, tool, status, dispatched_at, exit_code::float8 as exit_code, duration_ms::float8 as duration_ms
        from edge_commands where tenant = ${tenant} and host_id = ${hostId}
        order by created_at desc, id desc limit ${recent}`,

    /** Of runs whose frames are sent now. The ids come from frames, which are their tenants'. */
    argsOf: (runIds: readonly string[]): Promise<readonly RunArgsRow[]> =>
      sql<RunArgsRow[]>`
        select run_id, tool, args, security_context, requested_by, trace from edge_run_args
        where run_id = any(${texts(runIds)}::uuid[])`,

    /** The arguments of a run as JSON; null: unknown. */
    async args(tenant: string, runId: string): Promise<string | null> {
      const [row] = await sql<{ args: string }[]>`
        select args from edge_run_args where tenant = ${tenant} and run_id = ${runId}`;
      return row?.args ?? null;
    },

    /** Takes away what is kept of runs whose retention is over. */
    async eraseRuns(tenant: string, runIds: readonly string[]): Promise<void> {
      const ids = texts(runIds);
      await sql`delete from edge_commands where tenant = ${tenant} and run_id = any(${ids}::uuid[])`;
      await sql`delete from edge_run_args where tenant = ${tenant} and run_id = any(${ids}::uuid[])`;
    },
  };
}
