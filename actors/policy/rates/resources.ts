/** What is held to rates, and how much of it each tier may use in which time (docs/reference/identity.md). Pure. */
import type { Tier } from "../../identity/identity.ts";

/** Calls of tools, by what their names look like; a call counts in the most particular one alone. */
export const toolResources = [
  "seal_tool:fs_*",
  "seal_tool:web_search",
  "seal_tool:aegis.agent.search",
  "seal_tool:aegis.workflow.search",
  "seal_tool:*",
] as const;
export const resources = ["agent_execution", "workflow_execution", "llm_call", "llm_token", ...toolResources] as const;
export type RateResource = (typeof resources)[number];

export const buckets = ["per_minute", "hourly", "daily", "weekly", "monthly"] as const;
export type RateBucket = (typeof buckets)[number];

/** Stands for a limit that there is none of. */
export const unlimited = -1;

/** Units per bucket, in the order of `buckets`. */
type Row = readonly [perMinute: number, hourly: number, daily: number, weekly: number, monthly: number];

const K = 1000;
const M = 1000 * K;
const perMinute = (limit: number): Row => [limit, unlimited, unlimited, unlimited, unlimited];
const hourly = (limit: number): Row => [unlimited, limit, unlimited, unlimited, unlimited];

const byTier: Readonly<Record<Tier, Readonly<Record<RateResource, Row>>>> = {
  free: {
    agent_execution: [3, 5, 20, 80, 100],
    workflow_execution: [2, 3, 10, 40, 50],
    llm_call: [20, 100, 500, 2500, 5000],
    llm_token: [20 * K, 100 * K, 500 * K, 2.5 * M, 5 * M],
    "seal_tool:fs_*": perMinute(60),
    "seal_tool:web_search": perMinute(20),
    "seal_tool:aegis.agent.search": hourly(30),
    "seal_tool:aegis.workflow.search": hourly(30),
    "seal_tool:*": perMinute(30),
  },
  pro: {
    agent_execution: [10, 50, 200, 1000, 2000],
    workflow_execution: [5, 25, 100, 500, 1000],
    llm_call: [60, 500, 3 * K, 15 * K, 30 * K],
    llm_token: [100 * K, 500 * K, 3 * M, 15 * M, 30 * M],
    "seal_tool:fs_*": perMinute(300),
    "seal_tool:web_search": perMinute(60),
    "seal_tool:aegis.agent.search": hourly(300),
    "seal_tool:aegis.workflow.search": hourly(300),
    "seal_tool:*": perMinute(120),
  },
  business: {
    agent_execution: [30, 200, 1 * K, 5 * K, 10 * K],
    workflow_execution: [15, 100, 500, 2.5 * K, 5 * K],
    llm_call: [200, 2 * K, 15 * K, 75 * K, 150 * K],
    llm_token: [500 * K, 2.5 * M, 15 * M, 75 * M, 150 * M],
    "seal_tool:fs_*": perMinute(600),
    "seal_tool:web_search": perMinute(200),
    "seal_tool:aegis.agent.search": hourly(1000),
    "seal_tool:aegis.workflow.search": hourly(1000),
    "seal_tool:*": perMinute(300),
  },
  enterprise: {
    agent_execution: [100, 1 * K, 10 * K, 50 * K, 200 * K],
    workflow_execution: [50, 500, 5 * K, 25 * K, 100 * K],
    llm_call: [500, 10 * K, 100 * K, 500 * K, 1 * M],
    llm_token: [2 * M, 10 * M, 100 * M, 500 * M, 1000 * M],
    "seal_tool:fs_*": perMinute(1200),
    "seal_tool:web_search": perMinute(500),
    "seal_tool:aegis.agent.search": hourly(5000),
    "seal_tool:aegis.workflow.search": hourly(5000),
    "seal_tool:*": perMinute(600),
  },
};

/** What a tier gives, units; `unlimited` where it sets no bound. The platform's own tenant has the enterprise row. */
export function tierLimit(tier: Tier | "system", resource: RateResource, bucket: RateBucket): number {
  return byTier[tier === "system" ? "enterprise" : tier][resource][buckets.indexOf(bucket)] as number;
}

/** Former and shorter names, as administrators may write them. */
const resourceAliases: Readonly<Record<string, RateResource>> = {
  execution: "agent_execution",
  workflow: "workflow_execution",
  "seal_tool:fs.*": "seal_tool:fs_*",
  "seal_tool:web.*": "seal_tool:web_search",
  "seal_tool:svc.agent.search": "seal_tool:aegis.agent.search",
  "seal_tool:svc.workflow.search": "seal_tool:aegis.workflow.search",
};
const bucketAliases: Readonly<Record<string, RateBucket>> = {
  minute: "per_minute",
  hour: "hourly",
  day: "daily",
  week: "weekly",
  month: "monthly",
};

/** Null for a name that stands for no resource. */
export const readResource = (name: string): RateResource | null =>
  resources.find((one) => one === name) ??
  (Object.hasOwn(resourceAliases, name) ? (resourceAliases[name] ?? null) : null);

export const readBucket = (name: string): RateBucket | null =>
  buckets.find((one) => one === name) ?? (Object.hasOwn(bucketAliases, name) ? (bucketAliases[name] ?? null) : null);

/** Where a call of a tool counts. */
export function toolResource(tool: string): (typeof toolResources)[number] {
  if (/^fs[._]/.test(tool)) return "seal_tool:fs_*";
  if (tool === "web_search" || tool.startsWith("web.")) return "seal_tool:web_search";
  const search = /^(?:aegis|svc)\.(agent|workflow)\.search$/.exec(tool);
  if (search !== null)
    return search[1] === "agent" ? "seal_tool:aegis.agent.search" : "seal_tool:aegis.workflow.search";
  return "seal_tool:*";
}
