/** Storing a version: the one transaction in which a deploy is decided, so that deploys at once cannot both win. */
import type { TransactionSql } from "postgres";
import type { Json } from "../../actors/actor.ts";
import type { AgentSpec } from "../../actors/agent/spec.ts";
import { Problem } from "../../actors/problem.ts";
import type { Sql } from "../store/postgres.ts";
import type { AgentScope, AgentStatus } from "./schema.ts";

/** How many agents a tenant may have; null = any number. */
export interface AgentQuota {
  readonly limit: number | null;
  readonly tier: string;
}

export interface Deployment {
  readonly tenant: string;
  readonly spec: AgentSpec;
  /** The document exactly as deployed. */
  readonly document: Json;
  readonly yaml: string;
  readonly deployedBy: string;
  /** Store a new revision when the version is there already. */
  readonly force: boolean;
  /** Decide, and store nothing. */
  readonly dryRun: boolean;
  readonly quota: AgentQuota;
  readonly at: Date;
  /** For the agent, if it is new, and for the version row. */
  readonly ids: { readonly agent: string; readonly version: string };
}

export interface StoredVersion {
  readonly action: "create" | "new_version" | "overwrite";
  readonly agent_id: string;
  readonly scope: AgentScope;
  readonly status: AgentStatus;
  readonly revision: number;
}

type Transaction = TransactionSql<Record<string, never>>;
interface Existing {
  readonly agent_id: string;
  readonly scope: AgentScope;
  readonly status: AgentStatus;
}

/** A round comes to nothing only when the agent appears under our hands. */
const maxRounds = 8;

/** @throws Problem 409 `agent_version_exists`, 402 `quota_exceeded` */
export async function storeVersion(sql: Sql, deployment: Deployment): Promise<StoredVersion> {
  for (let round = 0; round < maxRounds; round++) {
    const stored = await sql.begin((transaction) => attempt(transaction, deployment));
    if (stored !== null) return stored;
  }
  throw new Problem("service_unavailable", "This agent is being changed; try again", {}, { "Retry-After": "1" });
}

async function attempt(sql: Transaction, deployment: Deployment): Promise<StoredVersion | null> {
  const { tenant, spec, dryRun } = deployment;
  const [existing] = await sql<Existing[]>`
    select agent_id, scope, status from agents
    where tenant = ${tenant} and name = ${spec.metadata.name} and deleted_at is null
    for update`;
  if (existing === undefined) return create(sql, deployment);
  const { version } = spec.metadata;
  const [latest] = await sql<{ revision: number }[]>`
    select revision from agent_versions where agent_id = ${existing.agent_id} and version = ${version}
    order by revision desc limit 1`;
  if (latest !== undefined && !deployment.force) throw versionExists(existing.agent_id, version);
  const revision = (latest?.revision ?? 0) + 1;
  if (!dryRun) {
    await insertVersion(sql, deployment, existing.agent_id, revision);
    await sql`
      update agents
      set previous_version_id = current_version_id, current_version_id = ${deployment.ids.version}, updated_at = ${deployment.at}
      where tenant = ${tenant} and agent_id = ${existing.agent_id}`;
  }
  return { action: latest === undefined ? "new_version" : "overwrite", ...existing, revision };
}

async function create(sql: Transaction, deployment: Deployment): Promise<StoredVersion | null> {
  const { tenant, spec, ids, at, dryRun } = deployment;
  // Creations of one tenant take turns: what is counted must still be true when the agent is there.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`agents ${tenant}`}, 0))`;
  const [taken] = await sql`
    select 1 from agents where tenant = ${tenant} and name = ${spec.metadata.name} and deleted_at is null`;
  if (taken !== undefined) return null;
  await checkQuota(sql, tenant, deployment.quota);
  const created = { action: "create", agent_id: ids.agent, scope: "tenant", status: "active", revision: 1 } as const;
  if (dryRun) return created;
  await sql`
    insert into agents (agent_id, tenant, name, current_version_id, created_at, updated_at)
    values (${ids.agent}, ${tenant}, ${spec.metadata.name}, ${ids.version}, ${at}, ${at})`;
  await insertVersion(sql, deployment, ids.agent, 1);
  return created;
}

async function checkQuota(sql: Transaction, tenant: string, { limit, tier }: AgentQuota): Promise<void> {
  if (limit === null) return;
  const [row] = await sql<{ used: number }[]>`
    select count(*)::int as used from agents where tenant = ${tenant} and deleted_at is null`;
  const used = row?.used ?? 0;
  if (used < limit) return;
  throw new Problem("quota_exceeded", `The plan allows ${limit} agents`, { quota: "max_agents", limit, used, tier });
}

async function insertVersion(
  sql: Transaction,
  deployment: Deployment,
  agentId: string,
  revision: number,
): Promise<void> {
  const { tenant, spec, document, yaml, ids } = deployment;
  const { metadata, input_schema } = spec;
  await sql`
    insert into agent_versions (version_id, agent_id, tenant, version, revision, agent_type, labels, metadata,
      input_schema, document, manifest_yaml, spec, deployed_at, deployed_by)
    values (${ids.version}, ${agentId}, ${tenant}, ${metadata.version}, ${revision}, ${metadata.agent_type},
      ${JSON.stringify(metadata.labels)}::text::jsonb, ${JSON.stringify(metadata)}::text::json,
      ${input_schema === null ? null : JSON.stringify(input_schema)}::text::json, ${JSON.stringify(document)}::text::json,
      ${yaml}, ${JSON.stringify(spec)}::text::json, ${deployment.at}, ${deployment.deployedBy})`;
}

function versionExists(agentId: string, version: string): Problem {
  return new Problem(
    "agent_version_exists",
    "This version of the agent exists; deploy it with force=true to replace it",
    {
      agent_id: agentId,
      version,
    },
  );
}
