/** What executions learned, on the wire. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";

const Rate = Type.Number({ minimum: 0, maximum: 1 });
const Count = Type.Integer({ minimum: 0 });

export const CortexPattern = Type.Object({
  id: Text,
  error_signature: Type.String({ description: "The error without ids, numbers, paths, quoted values and times" }),
  error_signature_hash: Text,
  error_type: Text,
  error_message: Type.String({ description: "As it was met last" }),
  solution: Nullable(Type.String({ description: "The answer of the last iteration that passed; null until solved" })),
  solution_approach: Nullable(Type.String({ description: "The same as solution" })),
  solution_code: Nullable(Type.String({ description: "The first fenced block of the solution" })),
  frequency: Type.Integer({ minimum: 0, description: "Iterations that were lost so" }),
  success_count: Type.Integer({ minimum: 0, description: "Executions that lost one so and passed later" }),
  total_count: Type.Integer({ minimum: 0, description: "Executions that lost an iteration so" }),
  success_rate: Rate,
  success_score: Rate,
  created_at: Time,
  last_used_at: Time,
});
export type CortexPattern = Static<typeof CortexPattern>;

export const CortexSkill = Type.Object({
  id: Text,
  name: Text,
  description: Text,
  category: Text,
  level: Type.Union([Type.Literal("basic"), Type.Literal("advanced")]),
  capability_tags: Type.Array(Text),
  pattern_count: Count,
  patternCount: Count,
  usage_count: Count,
  usageCount: Count,
  success_rate: Rate,
  successRate: Rate,
});
export type CortexSkill = Static<typeof CortexSkill>;

const metricTypes = ["all", "summary", "patterns", "skills"] as const;

export const CortexMetrics = Type.Object({
  pattern_count: Count,
  totalPatterns: Count,
  solution_count: Count,
  skill_count: Count,
  totalSkills: Count,
  avg_success_rate: Rate,
  avgSuccessRate: Rate,
  total_frequency: Count,
  totalFrequency: Count,
  metric_type: Type.Union(metricTypes.map((type) => Type.Literal(type))),
  generated_at: Time,
});
export type CortexMetrics = Static<typeof CortexMetrics>;

const Words = (description: string) => Type.Optional(Type.String({ maxLength: 200, description }));

export const PatternFilter = Type.Object({
  ...pagingQuery,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "Items per page; 100 when absent" })),
  q: Words("Text in the error or the solution"),
  query: Words("The same as q"),
  error_type: Words("Of this type alone"),
});
export type PatternFilter = Static<typeof PatternFilter>;

export const SkillFilter = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "Skills at most; 50 when absent" })),
});

export const MetricFilter = Type.Object({
  metric_type: Type.Optional(Type.Union(metricTypes.map((type) => Type.Literal(type)))),
});

export const named = { CortexPattern, CortexSkill, CortexMetrics };
