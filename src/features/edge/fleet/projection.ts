/** The rows of runs, written with each turn, and what is told of their lives. */
import { fleetRun } from "../../../../actors/fleet-run/fleet-run.ts";
import { type FleetRunState, isOver, placesIn, resolvedOf, shownReason } from "../../../../actors/fleet-run/state.ts";
import { summaryOf } from "../../../../actors/fleet-run/targets.ts";
import { isTerminal } from "../../../../actors/fleet-run/words.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import { type ActorChange, defineProjection } from "../../../runtime/port.ts";
import { projectRows } from "../../../runtime/reads/rows.ts";
import type { RunDocument } from "./schema.ts";

const time = (at: number | null): string | null => (at === null ? null : iso(at));

function documentOf(id: string, tenant: string, state: FleetRunState): RunDocument {
  const { status, policy } = state;
  return {
    fleet_command_id: id,
    id,
    tenant_id: tenant,
    tool: state.tool,
    policy: { ...policy, max_concurrency: placesIn(state) },
    security_context_name: state.security_context_name,
    status,
    outcome: isTerminal(status) ? status : "running",
    reason: shownReason(state) as RunDocument["reason"],
    pause_reasons: [...state.pause_reasons],
    requested_by: state.requested_by,
    approval_id: state.approval_id,
    retry_of: state.retry_of,
    created_at: iso(state.created_at),
    started_at: time(state.started_at),
    ended_at: time(state.ended_at),
    targets_resolved: resolvedOf(state),
    targets_skipped: state.skipped,
    summary: summaryOf(state.targets),
  };
}

const project = projectRows<FleetRunState>({
  isNews: (before, after) =>
    before.targets !== after.targets || before.status !== after.status || before.pause_reasons !== after.pause_reasons,
  rowOf: (id, tenant, state) => {
    const doc = documentOf(id, tenant, state);
    const { tool, status, outcome, created_at, ended_at } = doc;
    return { id, tenant, tool, status, outcome, created_at, ended_at, doc: JSON.stringify(doc) };
  },
  upsert: `
insert into edge_runs (id, tenant, tool, status, outcome, created_at, ended_at, doc)
select id, tenant, tool, status, outcome, created_at, ended_at, doc
from json_to_recordset($1::text::json) as r (id uuid, tenant text, tool text, status text, outcome text,
  created_at timestamptz, ended_at timestamptz, doc text)
on conflict (id) do update set status = excluded.status, outcome = excluded.outcome, ended_at = excluded.ended_at,
  doc = excluded.doc`,
  remove: `
delete from edge_runs where id in (select value::uuid from json_array_elements_text($1::text::json))`,
});

export interface RunNews {
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  readonly ended: (state: FleetRunState) => void;
}

export function fleetRunProjection({ info, ended }: RunNews) {
  function told({ key, tenant, before, after }: ActorChange<FleetRunState>): void {
    if (after === null) return;
    const facts = { tenant, fleet_command_id: key };
    if (after.started_at !== null && (before?.started_at ?? null) === null) info("edge_fleet_started", facts);
    if (!isOver(after) || (before !== null && isOver(before))) return;
    const verb = after.status === "complete" ? "completed" : after.status;
    info(`edge_fleet_${verb}`, { ...facts, reason: after.reason, summary: summaryOf(after.targets) });
    ended(after);
  }
  return defineProjection(fleetRun, project, (changes) => {
    for (const change of changes) told(change);
  });
}
