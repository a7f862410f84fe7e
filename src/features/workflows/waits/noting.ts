/**
 * The activity `workflow.stimulus.note`: a stimulus that nothing routed has ended as rejected, and a Wait that was
 * entered later took it. It was not in vain then, and is no dead letter any more.
 */
import { stimulusNote } from "../../../../actors/workflow/run/activities/stimulus.ts";
import { type Activity, implement, Retryable } from "../../../runtime/port.ts";
import type { Sql } from "../../../store/postgres/pool.ts";

export interface NotingOptions {
  readonly sql: Sql;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

export function noteActivity({ sql, now, report }: NotingOptions): Activity {
  return implement(
    stimulusNote,
    { concurrency: 16, retry: { attempts: 12, firstDelayMs: 500 }, atHand: true },
    async ({ stimulus_id }, { actor: { tenant } }) => {
      const status = await note(sql, tenant, stimulus_id, new Date(now()));
      // Who settles it may have asked who took it just before it was taken; what is settled later knows.
      if (status === "received") throw new Retryable("The stimulus is being routed");
      if (status === "noted") report("stimulus_classified", { tenant, stimulus_id, workflow_execution_id: null });
      return null;
    },
  );
}

/** @returns `noted`, or the status that it has; null: it is gone */
async function note(sql: Sql, tenant: string, id: string, at: Date): Promise<string | null> {
  const [row] = await sql<{ status: string }[]>`
    with noted as (
      update stimuli s set status = 'classified', dead_letter = false, error_code = null, error_message = null,
        error_details = null, classification = null, last_event_at = ${at}
      where s.tenant = ${tenant} and s.id = ${id} and s.status = 'rejected'
      returning s.replay_of
    ), original as (
      update stimuli o set dead_letter = false, replayed_by = ${id}, last_event_at = ${at}
      from noted where o.tenant = ${tenant} and o.id = noted.replay_of and o.dead_letter
    )
    select case when exists (select from noted) then 'noted' else s.status end as status
    from stimuli s where s.tenant = ${tenant} and s.id = ${id}`;
  return row?.status ?? null;
}
