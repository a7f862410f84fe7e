/** Storing a version: the one transaction in which a deploy is decided, so that deploys at once cannot both win. */
import { agentEvent } from "../../../actors/agent/lifecycle.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import type { AgentEvents } from "./events.ts";
import { globalForbidden, versionExists } from "./parts.ts";
import type { AgentScope, AgentStatus } from "./schema.ts";
import {
  asReplacing,
  findVersion,
  idByName,
  insertVersion,
  type LockedAgent,
  lockByName,
  makeCurrent,
  type NewVersion,
  takeTurn,
} from "./versions.ts";

/** How many agents a tenant may have; null = any number. */
export interface AgentQuota {
  readonly limit: number | null;
  readonly tier: string;
}

export interface Deployment {
  /** Whose the agent is or becomes. */
  readonly tenant: string;
  /** Of an agent that is new. */
  readonly scope: AgentScope;
  /** Of a new global agent: where it returns to. */
  readonly origin: string | null;
  readonly version: NewVersion;
  /** The id of the agent, if it is new. */
  readonly agentId: string;
  /** Only as a new agent of that id; one that was stored so before is found again. */
  readonly onlyNew: boolean;
  /** The deployer may change what every tenant sees. */
  readonly mayPublish: boolean;
  /** Store a new revision when the version is there already. */
  readonly force: boolean;
  /** Decide, and store nothing. */
  readonly dryRun: boolean;
  readonly quota: AgentQuota;
  readonly events: AgentEvents;
  /** Puts the stored version on record, in the same transaction. */
  readonly record: (tx: Transaction, stored: StoredVersion) => Promise<void>;
}

export interface StoredVersion {
  readonly action: "create" | "new_version" | "overwrite";
  readonly agent_id: string;
  readonly scope: AgentScope;
  readonly status: AgentStatus;
  readonly revision: number;
}

/** A round comes to nothing only when the agent appears or changes under our hands. */
const maxRounds = 40;

/** @throws Problem 403 `global_scope_forbidden`, 409 `agent_version_exists`, `agent_name_conflict`, 402 `quota_exceeded` */
export function storeVersion(sql: Sql, deployment: Deployment): Promise<StoredVersion> {
  return inRounds(() => sql.begin((transaction) => attempt(transaction, deployment)));
}

/**
 * Repeats what comes to nothing because others were faster.
 * @throws Problem 503 when they always are
 */
export async function inRounds<T>(attemptOnce: () => Promise<T | null>): Promise<T> {
  for (let round = 0; round < maxRounds; round++) {
    const outcome = await attemptOnce();
    if (outcome !== null) return outcome;
  }
  throw new Problem("service_unavailable", "This agent is being changed; try again", {}, { "Retry-After": "1" });
}

async function attempt(sql: Transaction, deployment: Deployment): Promise<StoredVersion | null> {
  const { tenant, version: fresh, dryRun } = deployment;
  const { name, version } = fresh.spec.metadata;
  const existing = await lockByName(sql, tenant, name);
  if (existing === null) return create(sql, deployment);
  if (deployment.onlyNew) return storedBefore(existing, deployment.agentId);
  if (existing.scope === "global" && !deployment.mayPublish) throw globalForbidden();
  const { agent_id, scope, status } = existing;
  const latest = await findVersion(sql, agent_id, version, null);
  if (latest !== null && !deployment.force) throw versionExists(agent_id, version);
  const revision = (latest?.revision ?? 0) + 1;
  const action = latest === null ? "new_version" : "overwrite";
  const stored: StoredVersion = { action, agent_id, scope, status, revision };
  if (!dryRun) {
    await insertVersion(sql, existing, revision, asReplacing(fresh, existing));
    await makeCurrent(sql, agent_id, fresh.version_id, fresh.at);
    const facts = { old_version: existing.version, new_version: version, revision, reason: "deploy" };
    const event = agentEvent("agent_updated", { agent_id, name, version }, fresh.at, facts);
    await Promise.all([deployment.events.note(sql, tenant, agent_id, event), deployment.record(sql, stored)]);
  }
  return stored;
}

/** @throws Problem 409 `agent_name_conflict` */
function storedBefore({ agent_id, scope, status }: LockedAgent, wanted: string): StoredVersion {
  if (agent_id === wanted) return { action: "create", agent_id, scope, status, revision: 1 };
  throw new Problem("agent_name_conflict", "Another agent has this name", { existing_id: agent_id });
}

async function create(sql: Transaction, deployment: Deployment): Promise<StoredVersion | null> {
  const { tenant, scope, origin, version: fresh, agentId, dryRun } = deployment;
  const { name, version } = fresh.spec.metadata;
  await takeTurn(sql, tenant);
  if ((await idByName(sql, tenant, name)) !== null) return null;
  await checkQuota(sql, tenant, deployment.quota);
  const created = { action: "create", agent_id: agentId, scope, status: "active", revision: 1 } as const;
  if (dryRun) return created;
  await sql`
    insert into agents (agent_id, tenant, name, scope, origin_tenant, current_version_id, created_at, updated_at)
    values (${agentId}, ${tenant}, ${name}, ${scope}, ${origin}, ${fresh.version_id}, ${fresh.at}, ${fresh.at})`;
  await insertVersion(sql, { agent_id: agentId, tenant }, 1, fresh);
  const event = agentEvent("agent_deployed", { agent_id: agentId, name, version }, fresh.at, { revision: 1, scope });
  await Promise.all([deployment.events.note(sql, tenant, agentId, event), deployment.record(sql, created)]);
  return created;
}

async function checkQuota(sql: Transaction, tenant: string, { limit, tier }: AgentQuota): Promise<void> {
  if (limit === null) return;
  const used = await countDeployed(sql, tenant);
  if (used < limit) return;
  throw new Problem("quota_exceeded", `The plan allows ${limit} agents`, { quota: "max_agents", limit, used, tier });
}

/** Agents that count against the tenant's quota. */
export async function countDeployed(sql: Sql | Transaction, tenant: string): Promise<number> {
  const [row] = await sql<{ used: number }[]>`
    select count(*)::int as used from agents where tenant = ${tenant} and deleted_at is null`;
  return row?.used ?? 0;
}
