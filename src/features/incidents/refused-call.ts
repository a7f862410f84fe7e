/** Requests that the service makes for a manifest, refused because of where they would go. */
import { EgressRefused } from "../../adapters/egress/port.ts";
import type { Incident, Incidents } from "./service.ts";

/** Whose request it was; `executionId` is the id of an execution, a workflow run or an approval. */
export type RefusedCaller = Pick<Incident, "tenant" | "agentId" | "executionId">;

/** Reports a refusal; other errors are none of its business. An address off the open internet counts as more than a name. */
export function reportRefusedCall(incidents: Pick<Incidents, "report">, caller: RefusedCaller, error: unknown): void {
  if (!(error instanceof EgressRefused)) return;
  const { host, port, reason } = error;
  incidents.report({
    ...caller,
    category: reason.endsWith("_address") ? "ssrf_blocked" : "egress_blocked",
    sessionId: null,
    toolName: null,
    violationType: reason,
    details: { host, port, reason },
  });
}
