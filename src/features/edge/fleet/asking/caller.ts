/** Who asks for something of the fleet, by whichever way. */

import type { Sender } from "../../../../../actors/fleet-run/messages.ts";
import type { RunEntry } from "../../../../../actors/fleet-run/words.ts";
import type { Identity } from "../../../../../actors/identity/identity.ts";
import type { AuditedBy } from "../../../../../actors/kernel/audit.ts";
import type { Call } from "../../../../http/route.ts";
import { auditedBy } from "../../../audit/port.ts";

export interface FleetCaller {
  readonly tenant: string;
  readonly identity: Pick<Identity, "kind" | "realm" | "userId" | "email">;
  /** As the audit log has it. */
  readonly by: AuditedBy;
  readonly entry: RunEntry;
  /** An agent asks, or a workflow run that an agent's call began. */
  readonly isAgent: boolean;
  /** Of the agent or workflow that asks. */
  readonly executionId: string | null;
  /** W3C trace context of the request; null: it has none. */
  readonly trace: { readonly traceparent: string; readonly tracestate?: string } | null;
  /** Told of the run; absent: none waits for it. */
  readonly sender?: Sender;
}

/** A person or machine that calls the API. */
export function callerOf(call: Pick<Call, "identity" | "tenant" | "request" | "requestId" | "address">): FleetCaller {
  return {
    tenant: call.tenant,
    identity: call.identity,
    by: auditedBy(call),
    entry: "api",
    isAgent: false,
    executionId: null,
    trace: traceOf(call.request.headers),
  };
}

function traceOf(headers: Headers): FleetCaller["trace"] {
  const traceparent = headers.get("traceparent");
  if (traceparent === null || !/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent)) return null;
  const tracestate = headers.get("tracestate");
  const isFit = tracestate !== null && /^[\x20-\x7e]{1,512}$/.test(tracestate);
  return isFit ? { traceparent, tracestate } : { traceparent };
}
