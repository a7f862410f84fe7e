/** What can be done with agents. Routes, executions and later the management tools all come through here. */

import type { Warning } from "../../actors/agent/findings.ts";
import { validateManifest } from "../../actors/agent/manifest.ts";
import { type ManifestDocument, type ManifestSource, parseManifest, renderYaml } from "../../actors/agent/parse.ts";
import type { AgentSpec, NodeOffer } from "../../actors/agent/spec.ts";
import { type Identity, isGlobalPublisher } from "../../actors/identity/identity.ts";
import type { Quota } from "../../actors/identity/quota.ts";
import { invalid, Problem } from "../../actors/problem.ts";
import { listOf, type Page } from "../http/paging.ts";
import type { Sql } from "../store/postgres.ts";
import { type StoredVersion, storeVersion } from "./deploy.ts";
import { type AgentKey, type AgentRow, agentRecords } from "./records.ts";
import type { AgentDetail, AgentElement, AgentFilter, AgentScope, Deployed, DryRun, VersionElement } from "./schema.ts";
import { SpecCache } from "./spec-cache.ts";
import { agentDetail, agentElement, versionElement } from "./wire.ts";

export interface AgentsOptions {
  readonly sql: Sql;
  readonly offer: NodeOffer;
  /** How many agents the tenant may have; the caller's claims may have a say. */
  readonly quota: (identity: Identity, tenant: string) => Quota;
  /** Executions the tenant ran of each agent; agents without any may be left out. */
  readonly countExecutions: (tenant: string, agentIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Cancels every execution of the agent that has not ended. Repeatable. */
  readonly cancelExecutions: (tenant: string, agentId: string, reason: string) => Promise<void>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export interface Caller {
  readonly identity: Identity;
  /** The effective tenant. */
  readonly tenant: string;
}

export interface DeployOptions {
  readonly force: boolean;
  readonly scope: AgentScope;
  readonly dry_run: boolean;
}

/** What an execution needs of its agent, fixed at its start. */
export interface ResolvedAgent {
  readonly agent_id: string;
  readonly name: string;
  readonly version: string;
  readonly revision: number;
  readonly spec: AgentSpec;
}

export type Agents = ReturnType<typeof createAgents>;

export function createAgents(options: AgentsOptions) {
  const { sql, offer } = options;
  const records = agentRecords(sql);
  const specs = new SpecCache();

  async function counted(tenant: string, rows: readonly AgentRow[]): Promise<AgentElement[]> {
    const counts = await options.countExecutions(
      tenant,
      rows.map((row) => row.agent_id),
    );
    return rows.map((row) => agentElement(row, counts.get(row.agent_id) ?? 0));
  }

  async function finishDeletion(tenant: string, agentId: string): Promise<void> {
    await options.cancelExecutions(tenant, agentId, "agent_deleted");
    await records.erase(tenant, agentId);
  }

  /** Tells "no such agent" from "no such version", once a read found nothing. */
  async function missing(tenant: string, key: AgentKey, version: string | null): Promise<Problem> {
    if (version === null || !(await records.exists(tenant, key))) return agentNotFound();
    return new Problem("agent_version_not_found", "Agent version not found");
  }

  async function specOf(tenant: string, row: Pick<AgentRow, "version_id">): Promise<AgentSpec> {
    const cached = specs.get(row.version_id);
    if (cached !== null) return cached;
    const stored = await records.spec(tenant, row.version_id);
    // Deleted since the agent was found.
    if (stored === null) throw agentNotFound();
    specs.put(row.version_id, stored.spec, stored.characters);
    return stored.spec;
  }

  return {
    /**
     * Stores a manifest as a version of its agent, or says what storing it would do.
     * @throws Problem 400, 413, 415 for the text; 422 for the manifest; 402, 409
     */
    async deploy(
      caller: Caller,
      source: ManifestSource,
      { force, scope, dry_run }: DeployOptions,
    ): Promise<Deployed | DryRun> {
      const { identity, tenant } = caller;
      const manifest = parseManifest(source);
      const verdict = validateManifest(manifest.document, offer);
      if (!verdict.ok) throw verdict.problem;
      refuseGlobal(caller, scope);
      const { spec, warnings } = verdict;
      const at = new Date(options.now());
      const ids = { agent: options.newId(), version: options.newId() };
      const stored = await storeVersion(sql, {
        tenant,
        spec,
        document: manifest.document,
        yaml: manifest.yaml ?? renderYaml(manifest.document),
        deployedBy: identity.userId,
        force,
        dryRun: dry_run,
        quota: options.quota(identity, tenant),
        at,
        ids,
      });
      if (dry_run) return foreseen(manifest, spec, stored, warnings);
      return deployed(tenant, spec, stored, at, warnings);
    },

    /** By name. */
    async list(tenant: string, filter: AgentFilter, page: Page): Promise<Record<string, unknown>> {
      const rows = await records.list(tenant, filter, labelFilter(filter.label ?? []), page);
      return listOf("agents", await counted(tenant, rows), page, (agent) => [agent.name, agent.agent_id]);
    },

    /** @throws Problem 404 `agent_not_found`, `agent_version_not_found` */
    async detail(caller: Caller, key: AgentKey, version: string | null): Promise<AgentDetail> {
      const { tenant } = caller;
      const row = await records.find(tenant, key, version);
      if (row === null) throw await missing(tenant, key, version);
      const counts = await options.countExecutions(tenant, [row.agent_id]);
      return agentDetail(row, counts.get(row.agent_id) ?? 0, mayDeploy(caller));
    },

    /** Newest first. @throws Problem 404 `agent_not_found` */
    async versions(caller: Caller, agentId: string, everyRevision: boolean, page: Page): Promise<VersionElement[]> {
      const { tenant } = caller;
      const rows = await records.versions(tenant, agentId, everyRevision, page);
      if (rows.length === 0 && !(await records.exists(tenant, { id: agentId }))) throw agentNotFound();
      return rows.map((row) => versionElement(row, mayDeploy(caller)));
    },

    /**
     * The agent is gone for every reader, its name is free, its unfinished executions are cancelled.
     * @throws Problem 403 `global_scope_forbidden`, 404 `agent_not_found`
     */
    async remove({ identity, tenant }: Caller, agentId: string): Promise<void> {
      const agent = await records.findForExecution(tenant, agentId, null);
      if (agent === null) throw agentNotFound();
      if (agent.scope === "global" && !isGlobalPublisher(identity, tenant)) throw globalForbidden();
      if (!(await records.markDeleted(agent.tenant, agentId, new Date(options.now())))) throw agentNotFound();
      await finishDeletion(agent.tenant, agentId);
    },

    /** Of the given agents, those that are deleted. */
    async gone(agentIds: readonly string[]): Promise<string[]> {
      const present = await records.present(agentIds);
      return agentIds.filter((agentId) => !present.has(agentId));
    },

    /** Ends deletions that a crash cut short. Called at start; harmless at any time and on several nodes at once. */
    async resumeDeletions(): Promise<void> {
      for (const { tenant, agent_id } of await records.markedDeleted()) await finishDeletion(tenant, agent_id);
    },

    /**
     * The agent as an execution runs it.
     * @throws Problem 404 `agent_not_found`, `agent_version_not_found`; 409 `agent_paused`, `agent_archived`
     */
    async resolveForExecution(request: { tenant: string; agentId: string; version?: string }): Promise<ResolvedAgent> {
      const { tenant, agentId, version = null } = request;
      const row = await records.findForExecution(tenant, agentId, version);
      if (row === null) throw await missing(tenant, { id: agentId }, version);
      if (row.status === "paused") throw new Problem("agent_paused", "The agent is paused");
      if (row.status === "archived") throw new Problem("agent_archived", "The agent is archived");
      const { agent_id, name, revision } = row;
      return { agent_id, name, version: row.version, revision, spec: await specOf(tenant, row) };
    },
  };
}

function agentNotFound(): Problem {
  return new Problem("agent_not_found", "Agent not found");
}

function globalForbidden(): Problem {
  return new Problem("global_scope_forbidden", "Only global publishers create or change global agents");
}

function mayDeploy({ identity }: Caller): boolean {
  return identity.scopes.has("agent:deploy");
}

/** Publishing to every tenant comes later; who may not do it then is told so now. */
function refuseGlobal({ identity, tenant }: Caller, scope: AgentScope): void {
  if (scope !== "global") return;
  if (!isGlobalPublisher(identity, tenant)) throw globalForbidden();
  throw invalid("unsupported_field", "Agents cannot be deployed globally yet", [
    { path: "scope", message: "only tenant is supported by this version of the service", code: "unsupported_field" },
  ]);
}

function labelFilter(labels: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    labels.map((label) => {
      const split = label.indexOf("=");
      if (split > 0) return [label.slice(0, split), label.slice(split + 1)];
      throw invalid("validation_failed", "The request is invalid", [
        { path: "label", message: "must be key=value", code: "invalid" },
      ]);
    }),
  );
}

function foreseen(
  manifest: ManifestDocument,
  spec: AgentSpec,
  stored: StoredVersion,
  warnings: readonly Warning[],
): DryRun {
  const { name, version } = spec.metadata;
  const { action } = stored;
  return { valid: true, dry_run: true, action, name, version, manifest: manifest.document, warnings: [...warnings] };
}

function deployed(
  tenant: string,
  spec: AgentSpec,
  stored: StoredVersion,
  at: Date,
  warnings: readonly Warning[],
): Deployed {
  const { agent_id, scope, status, revision, action } = stored;
  return {
    id: agent_id,
    agent_id,
    name: spec.metadata.name,
    tenant_id: tenant,
    version: spec.metadata.version,
    revision,
    scope,
    status,
    deployed_at: at.toISOString(),
    created: action === "create",
    warnings: [...warnings],
  };
}
