/** Tool servers as the API shows them. */
import type { ServerStatus } from "../../../actors/tool-server/life.ts";
import { type Definitions, type ListedTool, standingOf } from "../../../actors/tool-server/listing.ts";
import type { InstanceRow, ServerRow } from "./records.ts";
import type { ServerTool, ToolServer } from "./schema.ts";

const time = (at: Date | null): string | null => at?.toISOString() ?? null;

/** Names of tools that wait for a person's word. */
export function withheldOf({ definition, accepted, digests, tools }: ServerRow): readonly string[] {
  return tools === null ? [] : standingOf(definition.definitions, accepted, digests).withheld;
}

/** The tools that its definition does not hide. */
export function shownTools({ definition: { capabilities }, tools }: ServerRow) {
  if (capabilities === null) return tools ?? [];
  const names = new Set(capabilities.map(({ name }) => name));
  return (tools ?? []).filter(({ name }) => names.has(name));
}

/** @param isTold whether the caller may know how it is reached: not tenants of a server of all tenants */
export function serverBody(row: ServerRow, instances: readonly InstanceRow[], isTold: boolean): ToolServer {
  const { definition, tenant } = row;
  const { capabilities, environment, egress, args, credentials, executable, url, ...plain } = definition;
  return {
    id: row.id,
    name: row.name,
    tenant_id: tenant,
    source: row.source,
    ...plain,
    capabilities: capabilities === null ? null : capabilities.map(({ name, skip_judge }) => ({ name, skip_judge })),
    executable: isTold ? executable : null,
    url: isTold ? url : null,
    args: isTold ? [...args] : [],
    environment: isTold ? { ...environment } : {},
    egress: isTold ? [...egress] : [],
    credentials: isTold ? { ...credentials } : {},
    unenforced_limits: [...new Set(instances.flatMap(({ unenforced }) => unenforced))],
    status: definition.enabled ? statusOf(instances) : "stopped",
    instances: instances.map((instance) => ({
      node_id: instance.node_id,
      status: instance.status,
      pid: instance.pid,
      restarts: instance.restarts,
      last_error: isTold ? instance.last_error : null,
      started_at: time(instance.started_at),
      last_health_at: time(instance.last_health_at),
    })),
    protocol_version: row.protocol_version,
    tools_count: shownTools(row).length,
    withheld_tools: [...withheldOf(row)],
    version: row.version,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** The best of its instances speaks for it, but for one that has to be looked after. */
function statusOf(instances: readonly InstanceRow[]): ServerStatus {
  const all: readonly ServerStatus[] = ["running", "failed", "unhealthy", "starting"];
  return all.find((status) => instances.some((instance) => instance.status === status)) ?? "stopped";
}

/** @param accepted what withheld tools were when they were accepted */
export function toolBodies(row: ServerRow, accepted: Definitions): ServerTool[] {
  const withheld = new Set(withheldOf(row));
  const { capabilities } = row.definition;
  return shownTools(row).map(({ name, description, inputSchema, outputSchema, annotations }) => ({
    name: `${row.name}.${name}`,
    description,
    inputSchema,
    input_schema: inputSchema,
    ...(outputSchema === null ? {} : { outputSchema }),
    annotations: { ...annotations },
    withheld: withheld.has(name),
    is_new: withheld.has(name) && row.accepted?.[name] === undefined,
    accepted: acceptedBody(withheld.has(name) ? accepted[name] : undefined),
    skip_judge: capabilities?.find((one) => one.name === name)?.skip_judge ?? false,
  }));
}

function acceptedBody(tool: ListedTool | undefined): ServerTool["accepted"] {
  if (tool === undefined) return null;
  const { description, inputSchema, outputSchema, annotations } = tool;
  return { description, input_schema: inputSchema, output_schema: outputSchema, annotations: { ...annotations } };
}
