/** Which commands count as used: those that reached their host, once they have ended. */
import { type Activity, addSelected } from "../../usage/activities/port.ts";

interface EndedCommand {
  readonly id: string;
  readonly tenant: string;
  readonly tool: string;
  /** ISO 8601; null: it has not. */
  readonly ended_at: string | null;
  readonly started_at: string | null;
  /** Of its result; absent where the host reported none. */
  readonly stdout_bytes?: number;
}

/** Of rows as a commit writes them: the end of a command tells whether it had begun, and brings what its host reported. */
export const reachedHosts = (rows: readonly EndedCommand[]): Activity[] =>
  rows
    .filter((row) => row.ended_at !== null && (row.started_at !== null || row.stdout_bytes !== undefined))
    .map(({ id, tenant, tool }) => ({
      kind: "host_command",
      id,
      tenant,
      tool,
      agent_id: null,
      model: null,
      workflow: null,
    }));

/** Of late results: commands that were taken for lost had reached their hosts after all. Parameters as of `fillingLate`. */
export const lateUsed = addSelected(
  "host_command",
  `select known.id, known.tenant, null::text, null::text, known.tool
   from json_to_recordset($1::text::json) as r (id uuid, tenant text, host_id uuid)
   join edge_commands known on known.id = r.id and known.tenant = r.tenant and known.host_id = r.host_id
   where known.status = 'lost' and known.error_kind = any($2::text[]) and not known.late`,
);
