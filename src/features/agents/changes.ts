/** What happens to an agent beside its manifest: its status, its current version, its owner, its end. */

import { agentEvent, changeScope, changeStatus } from "../../../actors/agent/lifecycle.ts";
import { referencesOfAgent } from "../../../actors/agent/manifest/references.ts";
import { isPlatformOperator } from "../../../actors/identity/identity.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Transaction } from "../../store/postgres/pool.ts";

import {
  type AgentChange,
  type AgentParts,
  agentNotFound,
  type Caller,
  checkMayChange,
  globalForbidden,
  mayPublish,
  versionNotFound,
} from "./parts.ts";
import type { AgentDetail, AgentScope, AgentStatus, ScopeChanged } from "./schema.ts";
import {
  findVersion,
  findVersionById,
  idByName,
  type LockedAgent,
  lockVisible,
  makeCurrent,
  moveTo,
  referringOf,
  takeTurn,
  type VersionKey,
} from "./versions.ts";

export interface RollbackRequest {
  readonly version: string | null;
  readonly revision: number | null;
}

export function changing(parts: AgentParts) {
  const { records, events } = parts;

  async function finishDeletion(tenant: string, agentId: string): Promise<void> {
    await parts.tell({ what: "removed", tenant, agentId });
    await parts.cancelExecutions(tenant, agentId, "agent_deleted");
    await records.erase(tenant, agentId);
  }

  /** The version a rollback leads to. @throws Problem 404 `agent_version_not_found` */
  async function rollbackTarget(tx: Transaction, agent: LockedAgent, request: RollbackRequest): Promise<VersionKey> {
    const { agent_id, previous_version_id: previous } = agent;
    const target =
      request.version !== null || request.revision !== null
        ? await findVersion(tx, agent_id, request.version ?? agent.version, request.revision)
        : previous === null
          ? null
          : await findVersionById(tx, agent_id, previous);
    if (target === null) throw versionNotFound();
    return target;
  }

  /**
   * Who changes an agent answers for what it can see afterwards, as who deploys one does.
   * @param versionId null: every version, each of which a start may name
   * @throws Problem 422 `secret_forbidden`, `credential_forbidden`, `volume_type_forbidden`
   */
  async function requireReferences(
    tx: Transaction,
    { identity }: Caller,
    { agent_id }: LockedAgent,
    tenant: string,
    versionId: string | null,
  ): Promise<void> {
    const versions = await referringOf(tx, agent_id, versionId);
    if (versions.some(({ opensHost }) => opensHost) && !isPlatformOperator(identity)) {
      throw new Problem("volume_type_forbidden", "Only operators change agents that open directories of the host");
    }
    const placed = versions.flatMap(referencesOfAgent);
    await parts.references.requireAllowed(identity, tenant, placed);
  }

  return {
    /**
     * Pauses or resumes; the status it has already is no change.
     * @throws Problem 403 `global_scope_forbidden`, 404 `agent_not_found`, 409 `agent_archived`
     */
    async setStatus(caller: Caller, agentId: string, status: AgentStatus): Promise<AgentDetail> {
      const { tenant, changed } = await holding(parts, caller, agentId, async (tx, agent, at) => {
        checkMayChange(caller, agent);
        const { changed } = changeStatus(agent.status, status);
        if (changed) {
          await moveTo(tx, events, agent, status, at);
          await parts.record(tx, caller, { ...agent, tenants: [agent.tenant] }, "updated", { status });
        }
        return { tenant: agent.tenant, changed };
      });
      const what: AgentChange["what"] = status === "active" ? "resumed" : status;
      if (changed) await parts.tell({ what, tenant, agentId });
      return parts.shown(caller, tenant, agentId);
    },

    /**
     * Makes an older version current again; without a version or revision the one that was current before.
     * @throws Problem 403, 404 `agent_version_not_found`, 409 `already_current`, 422 `secret_forbidden`
     */
    async rollback(caller: Caller, agentId: string, request: RollbackRequest): Promise<AgentDetail> {
      const tenant = await holding(parts, caller, agentId, async (tx, agent, at) => {
        checkMayChange(caller, agent);
        const { version_id, version, revision } = await rollbackTarget(tx, agent, request);
        if (version_id === agent.current_version_id) {
          throw new Problem("already_current", "This version is the current one");
        }
        await requireReferences(tx, caller, agent, agent.tenant, version_id);
        await makeCurrent(tx, agentId, version_id, at);
        const facts = { old_version: agent.version, new_version: version, revision, reason: "rollback" };
        const event = agentEvent("agent_updated", { ...agent, version }, at, facts);
        await Promise.all([
          events.note(tx, agent.tenant, agentId, event),
          parts.record(tx, caller, { ...agent, tenants: [agent.tenant] }, "updated", facts),
        ]);
        return agent.tenant;
      });
      await parts.tell({ what: "updated", tenant, agentId });
      return parts.shown(caller, tenant, agentId);
    },

    /**
     * Opens an agent to every tenant, or gives it back to the one it came from.
     * @throws Problem 403 `global_scope_forbidden`, 404, 409 `agent_name_conflict`, 422 `secret_forbidden`
     */
    async setScope(caller: Caller, agentId: string, scope: AgentScope): Promise<ScopeChanged> {
      const { before, tenant, changed } = await holding(parts, caller, agentId, async (tx, agent, at) => {
        if (!mayPublish(caller)) throw globalForbidden();
        const after = changeScope(agent, scope);
        if (after === null) return { before: agent.scope, tenant: agent.tenant, changed: false };
        await requireReferences(tx, caller, agent, after.tenant, null);
        if (after.tenant !== agent.tenant) await move(tx, agent, after.tenant);
        await tx`
          update agents set tenant = ${after.tenant}, scope = ${after.scope}, origin_tenant = ${after.origin_tenant},
            updated_at = ${at}
          where agent_id = ${agentId}`;
        const facts = { previous_scope: agent.scope, new_scope: scope };
        await Promise.all([
          events.note(tx, after.tenant, agentId, agentEvent("agent_scope_changed", agent, at, facts)),
          parts.record(tx, caller, { ...agent, tenants: [agent.tenant, after.tenant] }, "published", facts),
        ]);
        return { before: agent.scope, tenant: after.tenant, changed: true };
      });
      if (changed) await parts.tell({ what: "scope_changed", tenant, agentId });
      const detail = await parts.shown(caller, tenant, agentId);
      return { ...detail, success: true, previous_scope: before, new_scope: scope, changed };
    },

    /**
     * The agent is gone for every reader, its name is free, its unfinished executions are cancelled.
     * @throws Problem 403 `global_scope_forbidden`, 404 `agent_not_found`
     */
    async remove(caller: Caller, agentId: string): Promise<void> {
      const tenant = await holding(parts, caller, agentId, async (tx, agent, at) => {
        checkMayChange(caller, agent);
        await tx`update agents set deleted_at = ${at} where agent_id = ${agentId}`;
        await Promise.all([
          events.note(tx, agent.tenant, agentId, agentEvent("agent_removed", agent, at)),
          parts.record(tx, caller, { ...agent, tenants: [agent.tenant] }, "deleted", { scope: agent.scope }),
        ]);
        return agent.tenant;
      });
      await finishDeletion(tenant, agentId);
    },

    /** Ends deletions that a crash cut short. Called at start; harmless at any time and on several nodes at once. */
    async resumeDeletions(): Promise<void> {
      for (const { tenant, agent_id } of await records.markedDeleted()) await finishDeletion(tenant, agent_id);
    },
  };
}

/**
 * Runs one change with the agent's row held.
 * @throws Problem 404 `agent_not_found`
 */
async function holding<T>(
  { sql, now }: AgentParts,
  { tenant }: Caller,
  agentId: string,
  work: (tx: Transaction, agent: LockedAgent, at: Date) => Promise<T>,
): Promise<T> {
  const { done } = await sql.begin(async (tx) => {
    const agent = await lockVisible(tx, tenant, agentId);
    if (agent === null) throw agentNotFound();
    return { done: await work(tx, agent, new Date(now())) };
  });
  return done;
}

/** @throws Problem 409 `agent_name_conflict` */
async function move(sql: Transaction, { agent_id, name }: LockedAgent, tenant: string): Promise<void> {
  await takeTurn(sql, tenant);
  const taken = await idByName(sql, tenant, name);
  if (taken !== null) {
    throw new Problem("agent_name_conflict", "Another agent there has this name", { existing_id: taken });
  }
  await sql`update agent_versions set tenant = ${tenant} where agent_id = ${agent_id}`;
}
