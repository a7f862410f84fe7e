/** How activities are written: many at a time, as part of what stores their outcomes. One that is there already stays. */
import { madeStorable } from "../../../../actors/manifest/storable.ts";
import type { ActivityKind, UsageFact } from "../../../../actors/usage/activity.ts";
import type { Statement } from "../../../runtime/port.ts";

export interface Activity extends UsageFact {
  readonly tenant: string;
}

/** As rows name them. */
const kindCodes = {
  execution: 1,
  model_call: 2,
  tool_call: 3,
  instance: 4,
  host_command: 5,
} as const satisfies Readonly<Record<ActivityKind, number>>;

/** Rows come by their keys, so that two writers of the same ones do not wait for each other in a circle. */
const adding = `
insert into usage_activities (id, kind, place, tenant, agent_id, model, workflow, tool, input_tokens, output_tokens,
  cost, duration_ms)
select id, kind, place, tenant, nullif(agent_id, ''), model, workflow, tool, input_tokens, output_tokens,
  round(cost, 12), duration_ms
from json_to_recordset($1::text::json) as r (id uuid, kind smallint, place int, tenant text, agent_id text, model text,
  workflow text, tool text, input_tokens bigint, output_tokens bigint, cost numeric, duration_ms bigint)
order by id, kind, place
on conflict do nothing`;

export function addActivities(all: readonly Activity[]): Statement {
  const rows = all.map(({ kind, place = 0, ...activity }) => ({ ...activity, kind: kindCodes[kind], place }));
  return { text: adding, parameters: [JSON.stringify(rows, storable)] };
}

/** Names may be a tenant's or a model's: what the store would refuse in them must not fail the commit. */
const storable = (_: string, part: unknown) => (typeof part === "string" ? madeStorable(part) : part);

/**
 * The end of a statement whose other part has stored outcomes: adds the activities that it names.
 * @param select gives `id`, `tenant`, `agent_id`, `workflow`, `tool` of each, in this order
 */
export const addSelected = (kind: ActivityKind, select: string): string => `
insert into usage_activities (id, kind, tenant, agent_id, workflow, tool)
select id, ${kindCodes[kind]}, tenant, nullif(agent_id, ''), workflow, tool
from (${select}) as s (id, tenant, agent_id, workflow, tool)
order by id
on conflict do nothing`;
