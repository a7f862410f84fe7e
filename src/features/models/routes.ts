/** The operators' route of models. */
import { Type } from "@sinclair/typebox";
import { invalid, Problem } from "../../../actors/kernel/problem.ts";
import { Text } from "../../../actors/kernel/schema.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../audit/port.ts";
import type { openReloading } from "./service.ts";

export interface ModelRoutesOptions {
  readonly reloading: Pick<ReturnType<typeof openReloading>, "reload">;
  readonly sql: Sql;
  readonly audit: Audit;
}

const ReloadReply = Type.Object({
  status: Type.Literal("reloaded"),
  served: Type.Array(Type.Object({ alias: Text, provider: Text, model: Text })),
  count: Type.Integer(),
  other_nodes_told: Type.Boolean({
    description: "False when the other nodes could not be told: they keep what they have until they are asked again",
  }),
});

export function modelRoutes({ reloading, sql, audit }: ModelRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/admin/llm/reload",
      summary: "Reads llm_providers and llm_selection of the configuration file again, on every node",
      tag: "models",
      operatorsOnly: true,
      refusals: ["operator_required", "validation_failed"],
      responses: { 200: ReloadReply },
      async handler(call) {
        if (call.identity.role !== "admin") {
          throw new Problem("operator_required", "Only operators with the role admin may do this");
        }
        const outcome = await reloading.reload();
        if (!outcome.ok) {
          const [first] = outcome.issues;
          const place = first === undefined || first.path === "" ? "" : `${first.path}: `;
          const message = `The models stay as they are: ${place}${first?.message ?? "the configuration is not valid"}`;
          throw invalid("validation_failed", message, outcome.issues);
        }
        const { served, othersTold } = outcome;
        await sql.begin((tx) =>
          audit.append(tx, auditedBy(call), {
            tenant: call.tenant,
            action: "models.reloaded",
            target: { type: "configuration", id: "llm_providers" },
            details: { aliases: served.length },
          }),
        );
        return { status: "reloaded", served, count: served.length, other_nodes_told: othersTold } as const;
      },
    }),
  ];
}
