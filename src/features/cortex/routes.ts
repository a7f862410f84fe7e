/** The routes of what executions learned. */
import { Type } from "@sinclair/typebox";
import { Problem } from "../../../actors/kernel/problem.ts";
import { iso } from "../../../actors/kernel/time.ts";
import { listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import type { CortexRecords } from "./records.ts";
import { CortexMetrics, CortexPattern, CortexSkill, MetricFilter, PatternFilter, SkillFilter } from "./schema.ts";

export interface CortexRoutesOptions {
  readonly records: CortexRecords;
  /** SVC_CORTEX_ENABLED */
  readonly isEnabled: boolean;
  /** Unix ms. */
  readonly now: () => number;
}

const usualPatterns = 100;
const usualSkills = 50;

export function cortexRoutes({ records, isEnabled, now }: CortexRoutesOptions): readonly Route[] {
  const shared = {
    method: "GET",
    tag: "cortex",
    scope: "cortex:read",
    configured: () =>
      isEnabled ? null : new Problem("cortex_not_configured", "This installation does not learn from executions"),
    refusals: ["cortex_not_configured"],
  } as const;
  return [
    defineRoute({
      ...shared,
      path: "/v1/cortex/patterns",
      summary: "Errors that executions of the tenant met, and what helped, newest first",
      query: PatternFilter,
      responses: { 200: listSchema("patterns", CortexPattern) },
      handler: ({ tenant, query }) =>
        records.patterns(tenant, query, pageOf({ ...query, limit: query.limit ?? usualPatterns }, 2)),
    }),
    defineRoute({
      ...shared,
      path: "/v1/cortex/skills",
      summary: "What executions of the tenant have learned, by the type of error",
      query: SkillFilter,
      responses: {
        200: Type.Object({
          skills: Type.Array(CortexSkill),
          items: Type.Array(CortexSkill),
          count: Type.Integer(),
        }),
      },
      async handler({ tenant, query }) {
        const skills = await records.skills(tenant, query.limit ?? usualSkills);
        return { skills: [...skills], items: [...skills], count: skills.length };
      },
    }),
    defineRoute({
      ...shared,
      path: "/v1/cortex/metrics",
      summary: "How much executions of the tenant have learned",
      query: MetricFilter,
      responses: { 200: CortexMetrics },
      handler: async ({ tenant, query }) => ({
        ...(await records.counts(tenant)),
        metric_type: query.metric_type ?? "all",
        generated_at: iso(now()),
      }),
    }),
  ];
}
