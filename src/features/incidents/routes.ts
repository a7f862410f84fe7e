/** The routes of security incidents: one list under two paths. */
import { listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import { type CrossingReads, ObservedFilter, tenantsShown } from "../audit/port.ts";
import { IncidentRecord, listIncidents } from "./records.ts";

export function incidentRoutes(reads: CrossingReads): readonly Route[] {
  return ["/v1/security/incidents", "/v1/observability/security-incidents"].map((path) =>
    defineRoute({
      method: "GET",
      path,
      summary: "What was refused for the sake of security in the tenant, newest first",
      tag: "observability",
      scope: "observability:read",
      query: ObservedFilter,
      responses: { 200: listSchema("incidents", IncidentRecord) },
      refusals: ["operator_required"],
      handler: async (call) => {
        const tenant = await tenantsShown(reads, "security_incidents", call);
        return listIncidents(reads.sql, tenant, call.query, pageOf(call.query, 2));
      },
    }),
  );
}
