/** Writes what turns of hosts state of their links, in the statement that commits the turns. */
import { machineOf, systemOf } from "../../../../actors/edge/words.ts";
import { type HostFact, hostFact } from "../../../../actors/edge-host/row.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { madeStorable } from "../../../../actors/manifest/storable.ts";
import type { FactWriter } from "../../../runtime/port.ts";

/** A revoked host keeps what was known of its machine; its row is no other tenant's, whatever the id. */
const updating = `
update edge_hosts h set
  status = r.status, since = r.since, epoch = r.epoch, owner_node = r.owner_node, link_since = r.link_since,
  last_seen_at = greatest(h.last_seen_at, r.link_since), boot_id = r.boot_id, slots = r.slots,
  agent_version = coalesce(r.agent_version, h.agent_version),
  not_accepting = array(select jsonb_array_elements_text(r.not_accepting)),
  running = case when r.owner_node is null then 0 else h.running end,
  os = case when r.described then r.os else h.os end,
  arch = case when r.described then r.arch else h.arch end,
  tools = case when r.described then array(select jsonb_array_elements_text(r.tools)) else h.tools end,
  labels = case when r.described then r.labels else h.labels end,
  capabilities = case when r.described then r.capabilities else h.capabilities end
from json_to_recordset($1::text::json) as r (id uuid, tenant text, status text, since timestamptz, epoch bigint,
  owner_node text, link_since timestamptz, boot_id uuid, slots integer, agent_version text, not_accepting jsonb,
  described boolean, os text, arch text, tools jsonb, labels jsonb, capabilities jsonb)
where h.id = r.id and h.tenant = r.tenant`;

export const hostFacts: FactWriter = {
  name: hostFact.name,
  write(facts) {
    const rows = new Map<string, object>();
    for (const { tenant, fact } of facts) {
      // Actors make them by the definition alone.
      const { host_id, capabilities, ...row } = fact as HostFact;
      const times = { since: iso(row.since), link_since: row.link_since === null ? null : iso(row.link_since) };
      const version = row.agent_version === null ? null : madeStorable(row.agent_version);
      const known = rows.get(host_id) ?? { described: false };
      const said = capabilities === undefined ? {} : { described: true, ...described(capabilities) };
      rows.set(host_id, { ...known, id: host_id, tenant, ...row, ...times, agent_version: version, ...said });
    }
    return [{ text: updating, parameters: [JSON.stringify([...rows.values()])] }];
  },
};

const iso = (ms: number): string => new Date(ms).toISOString();

/** The daemon's own word, in the words of selectors. A system or a machine that is none of them is not known. */
function described(capabilities: NonNullable<HostFact["capabilities"]>) {
  const { os, arch, local_tools, tools = [], mount_points, labels, cpu_cores, memory_mb } = capabilities;
  const kept = {
    os: systemOf(os),
    arch: machineOf(arch),
    local_tools,
    tools,
    mount_points,
    labels,
    ...(cpu_cores === undefined ? {} : { cpu_cores }),
    ...(memory_mb === undefined ? {} : { memory_mb }),
  };
  const storable = storableJson(kept) as typeof kept;
  const all = [...new Set([...storable.local_tools, ...storable.tools])];
  return { os: kept.os, arch: kept.arch, tools: all, labels: storable.labels, capabilities: storable };
}

function storableJson(value: Json): Json {
  if (typeof value === "string") return madeStorable(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(storableJson);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [madeStorable(name), storableJson(member ?? null)]),
  );
}
