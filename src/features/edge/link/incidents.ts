/** What links find that people should look at (docs/reference/identity.md). */
import type { Json } from "../../../../actors/kernel/json.ts";
import type { Category, Incidents } from "../../incidents/port.ts";

interface Host {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
}

export function linkIncidents(incidents: Pick<Incidents, "report">) {
  const report = (
    category: Category,
    { id, tenant, name }: Host,
    violationType: string,
    details: Readonly<Record<string, Json>> = {},
    toolName: string | null = null,
  ): void =>
    incidents.report({
      ...{ category, tenant, agentId: null, executionId: null, sessionId: null, toolName, violationType },
      details: { node_id: id, name, ...details },
    });
  return {
    /** A hello that was rightly signed by a key that the host has left. */
    formerKey: (host: Host) => report("edge_former_key_used", host, "former_key"),
    journalReplaced: (host: Host) => report("edge_journal_replaced", host, "journal_replaced"),
    cloned: (host: Host) => report("edge_host_cloned", host, "cloned"),
    frameRefused: (host: Host | null, why: string) => {
      if (host !== null) report("edge_frame_refused", host, "frame_refused", { reason: why });
    },
    policyRefused: (host: Host | null, commandId: string, kind: string) => {
      if (host !== null) report("edge_policy_refused", host, kind, { command_id: commandId });
    },
  };
}
