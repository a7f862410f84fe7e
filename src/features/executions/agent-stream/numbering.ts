/**
 * The ids of the events of one agent in one tenant: its own history and every event of its executions there, in one
 * sequence from 1.
 *
 * Ids are given when a client reads, not when events are committed: commits of executions would otherwise wait for
 * one another wherever they share an agent, and an agent that no client watches costs nothing. Events get their ids in the
 * order of their times, as far as they are stored by then; those of one execution always in their own order.
 */

import { executionEvents } from "../../../../actors/execution/events.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import type { LogPoint, Runtime } from "../../../runtime/port.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { agentHistory } from "../../agents/port.ts";

export interface StreamKey {
  readonly tenant: string;
  /** Lower case. */
  readonly agentId: string;
}

/** An event that has its id; `execution` null: one of the agent's own. */
interface Numbered {
  readonly id: number;
  readonly execution: string | null;
  readonly sequence: number;
}

interface Head {
  readonly version: string;
  readonly last_id: string;
  readonly agent_sequence: string;
  readonly admitted_until: Date;
}

interface Run {
  readonly execution_id: string;
  readonly sequence: string;
  readonly has_ended: boolean;
  readonly created_at: Date;
}

/** An execution is committed at most this long after the time it says it was created, clocks of all nodes counted. */
const commitMargin = "2 minutes";
const newRunsAtOnce = 200;
const perRun = 200;
const ownAtOnce = 200;
/** Rounds lost to other nodes before this one leaves the work to them. */
const maxLost = 20;

export function agentNumbering(sql: Sql, runtime: Pick<Runtime, "of">) {
  const within = ({ tenant, agentId }: StreamKey) => sql`tenant = ${tenant} and agent_id = ${agentId}`;

  async function head(key: StreamKey): Promise<Head | null> {
    const [row] = await sql<Head[]>`
      select version, last_id, agent_sequence, admitted_until from agent_streams where ${within(key)}`;
    return row ?? null;
  }

  /** Executions with events to come, and such as are new. The end is looked up before the events are. */
  function openRuns({ tenant, agentId }: StreamKey): Promise<Run[]> {
    return sql<Run[]>`
      select r.execution_id, r.sequence, e.ended_at is not null as has_ended, e.created_at
      from agent_stream_executions r join executions e on e.execution_id = r.execution_id
      where r.tenant = ${tenant} and r.agent_id = ${agentId} and not r.is_over`;
  }
  function newRuns({ tenant, agentId }: StreamKey, since: Date): Promise<Run[]> {
    return sql<Run[]>`
      select e.execution_id, 0 as sequence, e.ended_at is not null as has_ended, e.created_at
      from executions e
      where e.tenant = ${tenant} and e.agent_id = ${agentId} and e.created_at > ${since}::timestamptz - ${commitMargin}::interval
        and not exists (select 1 from agent_stream_executions r where r.execution_id = e.execution_id)
      order by e.created_at limit ${newRunsAtOnce}`;
  }

  /** One round. @returns whether there may be more to do: null when another node was faster */
  async function round(key: StreamKey, at: Head): Promise<boolean | null> {
    const [open, fresh, own] = await Promise.all([
      openRuns(key),
      newRuns(key, at.admitted_until),
      agentHistory(sql, key.tenant, key.agentId, Number(at.agent_sequence), ownAtOnce),
    ]);
    const runs = [...open, ...fresh];
    const behind = runs.map((run) => ({ key: run.execution_id, seq: Number(run.sequence) }));
    const points = Map.groupBy(
      await runtime.of(execution).logPoints(executionEvents, behind, perRun),
      (point) => point.key,
    );
    const moved = [
      ...open.map((run) => afterRound(run, points.get(run.execution_id) ?? [])).filter(({ isNews }) => isNews),
      ...fresh.map((run) => afterRound(run, points.get(run.execution_id) ?? [])),
    ];
    const firstId = Number(at.last_id) + 1;
    const entries = inOrder(own, [...points.values()]).map((one, index) => ({ id: firstId + index, ...one }));
    if (moved.length === 0 && entries.length === 0) return false;
    const admitted = fresh.at(-1)?.created_at ?? at.admitted_until;
    const stored = await store(key, at, {
      lastId: Number(at.last_id) + entries.length,
      agentSequence: own.at(-1)?.sequence ?? Number(at.agent_sequence),
      admitted: new Date(Math.max(admitted.getTime(), at.admitted_until.getTime())),
      runs: moved,
      entries,
    });
    if (!stored) return null;
    const isFull = [...points.values()].some((list) => list.length === perRun);
    return isFull || fresh.length === newRunsAtOnce || own.length === ownAtOnce;
  }

  async function store(
    { tenant, agentId }: StreamKey,
    { version }: Head,
    next: {
      lastId: number;
      agentSequence: number;
      admitted: Date;
      runs: readonly Moved[];
      entries: readonly Numbered[];
    },
  ): Promise<boolean> {
    const runs = next.runs.map(({ execution, sequence, isOver }) => ({ execution, sequence, is_over: isOver }));
    try {
      const [row] = await sql<{ moved: boolean }[]>`
        with moved as (
          update agent_streams set version = version + 1, last_id = ${next.lastId},
            agent_sequence = ${next.agentSequence}, admitted_until = ${next.admitted}
          where tenant = ${tenant} and agent_id = ${agentId} and version = ${version}
          returning 1
        ), runs as (
          insert into agent_stream_executions (execution_id, tenant, agent_id, sequence, is_over)
          select execution, ${tenant}, ${agentId}::uuid, sequence, is_over
          from json_to_recordset(${JSON.stringify(runs)}::text::json) as r (execution uuid, sequence bigint, is_over boolean)
          where exists (select 1 from moved)
          on conflict (execution_id) do update set sequence = excluded.sequence, is_over = excluded.is_over
        ), entries as (
          insert into agent_stream_entries (tenant, agent_id, id, execution_id, sequence)
          select ${tenant}, ${agentId}::uuid, id, execution, sequence
          from json_to_recordset(${JSON.stringify(next.entries)}::text::json) as r (id bigint, execution uuid, sequence bigint)
          where exists (select 1 from moved)
        )
        select exists (select 1 from moved) as moved`;
      return row?.moved ?? false;
    } catch (error) {
      // One of the executions was erased meanwhile; nothing was stored.
      if ((error as { code?: unknown }).code === "23503") return false;
      throw error;
    }
  }

  return {
    /** Makes room for the ids of a stream that is read for the first time. */
    async begin({ tenant, agentId }: StreamKey): Promise<void> {
      await sql`insert into agent_streams (tenant, agent_id) values (${tenant}, ${agentId}) on conflict do nothing`;
    },

    /** Gives an id to every event that is stored by now. */
    async number(key: StreamKey): Promise<void> {
      for (let lost = 0; lost < maxLost; ) {
        const at = await head(key);
        if (at === null) return;
        const more = await round(key, at);
        if (more === false) return;
        if (more === null) lost += 1;
      }
    },

    /** The highest id given so far. */
    async last(key: StreamKey): Promise<number> {
      return Number((await head(key))?.last_id ?? 0);
    },

    /** Where the events behind an id lie; those of erased executions are not there any more. */
    async behind(key: StreamKey, after: number, limit: number): Promise<Numbered[]> {
      const rows = await sql<{ id: string; execution_id: string | null; sequence: string }[]>`
        select id, execution_id, sequence from agent_stream_entries
        where ${within(key)} and id > ${after} order by id limit ${limit}`;
      return rows.map((row) => ({ id: Number(row.id), execution: row.execution_id, sequence: Number(row.sequence) }));
    },

    /** Removes what belongs to agents that are gone: their streams are not found any more. */
    async sweep(): Promise<void> {
      await sql`
        delete from agent_streams s where not exists (select 1 from agents a where a.agent_id = s.agent_id)`;
    },
  };
}

interface Moved {
  readonly execution: string;
  readonly sequence: number;
  readonly isOver: boolean;
  readonly isNews: boolean;
}

function afterRound(run: Run, points: readonly LogPoint[]): Moved {
  const sequence = points.at(-1)?.seq ?? Number(run.sequence);
  // The terminal event is the last, and was committed with the end.
  const isOver = run.has_ended && points.length < perRun;
  return {
    execution: run.execution_id,
    sequence,
    isOver,
    isNews: isOver || points.length > 0,
  };
}

/** By time; within an execution by its own order, not by the clocks of the nodes it ran on. */
function inOrder(
  own: readonly { readonly sequence: number; readonly at: number }[],
  runs: readonly (readonly (LogPoint & { readonly at: number })[])[],
): Omit<Numbered, "id">[] {
  const all = [own.map(({ sequence, at }) => ({ key: null, seq: sequence, at })), ...runs].flatMap((list) => {
    let latest = 0;
    return list.map(({ key, seq, at }) => {
      latest = Math.max(latest, at);
      return { execution: key, sequence: seq, at: latest };
    });
  });
  // Sorting is stable: what happened in the same millisecond stays as it stands.
  return all.sort((one, other) => one.at - other.at).map(({ execution, sequence }) => ({ execution, sequence }));
}
