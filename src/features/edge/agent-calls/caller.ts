/** Who asks for something of the fleet by a tool call. */
import type { Identity } from "../../../../actors/identity/identity.ts";
import { auditedAgent } from "../../audit/port.ts";
import type { CallEntry, CallWho } from "../../tools/port.ts";
import type { FleetCaller } from "../fleet/port.ts";

export interface FleetToolCall {
  readonly tenant: string;
  readonly entry: CallEntry;
  readonly executionId: string | null;
  /** Of the record of the call, by which the audit log finds it. */
  readonly invocationId: string | null;
  /** The workflow run whose state calls; absent: none does. */
  readonly run?: CallWho["run"];
  /** Contexts of what started the caller. */
  readonly ceilings: readonly string[];
}

/** A state of a workflow asks for who started its run; an agent that did has left it its ceilings. */
export function fleetCaller(
  { tenant, entry, executionId, invocationId, run, ceilings }: FleetToolCall,
  identity: Identity,
): FleetCaller {
  return {
    ...{ tenant, identity, entry, executionId: executionId ?? run?.id ?? null },
    by: auditedAgent({ identity, requestId: invocationId }),
    isAgent: entry !== "workflow" || ceilings.length > 0,
    trace: null,
    ...(run?.sends === undefined || invocationId === null
      ? {}
      : { sender: { ...run.owner, invocation_id: invocationId } }),
  };
}
