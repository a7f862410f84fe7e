/** The route of migrations; see docs/reference/workflow-changes.md. */
import { defineRoute, jsonBody, type Route } from "../../../../http/route.ts";
import { auditedBy } from "../../../audit/port.ts";
import type { Migrating } from "./migrating.ts";
import { MigrateBody, Migrated } from "./schema.ts";

export function migrateRoute({ migrate }: Migrating): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/workflows/executions/migrate",
    summary: "Let executions that wait go on in another version of their workflow",
    scope: "workflow:deploy",
    body: jsonBody(MigrateBody),
    responses: { 200: Migrated },
    refusals: ["workflow_not_found", "security_context_forbidden"],
    handler: (call) => migrate(call.tenant, call.body, auditedBy(call)),
  });
}
