/** The routes of storage violations: one list under two paths. */
import { listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import { type CrossingReads, ObservedFilter, tenantsShown } from "../audit/port.ts";
import { listViolations, ViolationRecord } from "./records.ts";

export function violationRoutes(reads: CrossingReads): readonly Route[] {
  return ["/v1/storage/violations", "/v1/observability/storage-violations"].map((path) =>
    defineRoute({
      method: "GET",
      path,
      summary: "What was refused for the sake of volumes in the tenant, newest first",
      tag: "observability",
      scope: "observability:read",
      query: ObservedFilter,
      responses: { 200: listSchema("violations", ViolationRecord) },
      refusals: ["operator_required"],
      handler: async (call) => {
        const page = pageOf(call.query, 2);
        const tenant = await tenantsShown(reads, "storage_violations", call);
        return listViolations(reads.sql, tenant, call.query, page);
      },
    }),
  );
}
