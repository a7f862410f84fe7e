/** What can be done with agents. Routes and executions come through here. */

import { LRUCache } from "lru-cache";
import type { AgentSpec } from "../../../actors/agent/manifest/spec.ts";
import type { AgentReference, ResolvedAgent } from "../../../actors/execution/start/request.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { type List, listOf, type Page, readLabels } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import { changing } from "./changes.ts";
import { serviceAgents } from "./of-service/of-service.ts";
import { type AgentsOptions, agentNotFound, agentParts, type Caller, mayPublish, versionNotFound } from "./parts.ts";
import { publishing } from "./publish.ts";
import type { AgentKey, AgentRow, Offered, OfferedRow } from "./records.ts";
import type { AgentDetail, AgentElement, AgentFilter, VersionElement } from "./schema.ts";
import { agentDetail, agentElement, versionElement } from "./wire.ts";

/** Characters of the specs kept parsed; a version never changes, so that nothing kept goes stale. */
const keptCharacters = 8 * 1024 * 1024;

export type Agents = ReturnType<typeof createAgents>;

/** Lets other work of the node go on. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export function createAgents(options: AgentsOptions) {
  const parts = agentParts(options);
  const { records } = parts;
  const ofService = serviceAgents(options.offer);
  const { setStatus, rollback, setScope, remove, resumeDeletions } = changing(parts);
  const specs = new LRUCache<string, AgentSpec>({ maxSize: keptCharacters });

  async function counted(tenant: string, rows: readonly AgentRow[]): Promise<AgentElement[]> {
    const counts = await options.countExecutions(
      tenant,
      rows.map((row) => row.agent_id),
    );
    return rows.map((row) => agentElement(row, counts.get(row.agent_id) ?? 0));
  }

  /** Tells "no such agent" from "no such version", once a read found nothing. */
  async function missing(tenant: string, key: AgentKey, version: string | null): Promise<Problem> {
    if (version === null || !(await records.exists(tenant, key))) return agentNotFound();
    return versionNotFound();
  }

  async function specOf(tenant: string, row: Pick<AgentRow, "version_id">): Promise<AgentSpec> {
    const cached = specs.get(row.version_id);
    if (cached !== undefined) return cached;
    const stored = await records.spec(tenant, row.version_id);
    // Deleted since the agent was found.
    if (stored === null) throw agentNotFound();
    specs.set(row.version_id, stored.spec, { size: stored.characters });
    return stored.spec;
  }

  return {
    ...publishing(parts),
    setStatus,
    rollback,
    setScope,
    remove,
    resumeDeletions,

    /** By name. */
    async list(tenant: string, filter: AgentFilter, page: Page): Promise<List<"agents", AgentElement>> {
      const rows = await records.list(tenant, filter, readLabels(filter.label), page);
      return listOf("agents", await counted(tenant, rows), page, (agent) => [agent.name, agent.agent_id]);
    },

    /** @throws Problem 404 `agent_not_found`, `agent_version_not_found` */
    async detail(caller: Caller, key: AgentKey, version: string | null): Promise<AgentDetail> {
      const { tenant } = caller;
      const row = await records.find(tenant, key, version);
      if (row === null) throw await missing(tenant, key, version);
      const counts = await options.countExecutions(tenant, [row.agent_id]);
      return agentDetail(row, counts.get(row.agent_id) ?? 0, seesValues(caller, row.tenant));
    },

    /** Newest first. @throws Problem 404 `agent_not_found` */
    async versions(caller: Caller, agentId: string, everyRevision: boolean, page: Page): Promise<VersionElement[]> {
      const { tenant } = caller;
      const rows = await records.versions(tenant, agentId, everyRevision, page);
      if (rows.length === 0 && !(await records.exists(tenant, { id: agentId }))) throw agentNotFound();
      const elements: VersionElement[] = [];
      for (const row of rows) {
        elements.push(versionElement(row, seesValues(caller, row.tenant)));
        // Writing a manifest anew takes milliseconds: other requests come in between.
        await nextTurn();
      }
      return elements;
    },

    /** The active agents that names mean in the tenant, by name. */
    offered: async (tenant: string, which: Offered, limit: number): Promise<OfferedRow[]> =>
      records.offered(tenant, which, limit),

    /** Whether the tenant has or sees such an agent. */
    isVisible: (tenant: string, agentId: string): Promise<boolean> => records.exists(tenant, { id: agentId }),

    /** The id of the agent that a name or UUID means in the tenant, its own before a global one; null: none. */
    async identify(tenant: string, reference: string): Promise<string | null> {
      const key = isUuid(reference) ? { id: reference.toLowerCase() } : { name: reference };
      return (await records.find(tenant, key, null))?.agent_id ?? null;
    },

    /** Of the given agents, by name or UUID, those the tenant has or sees. */
    known: (tenant: string, references: readonly string[]): Promise<ReadonlySet<string>> =>
      records.known(tenant, references),

    /** Of the given agents, those that are deleted. */
    async gone(agentIds: readonly string[]): Promise<string[]> {
      const present = await records.present(agentIds);
      return agentIds.filter((agentId) => !present.has(agentId) && !ofService.has(agentId));
    },

    /**
     * The agent as an execution runs it; by name, the tenant's own shadows a global one.
     * @throws Problem 404 `agent_not_found`, `agent_version_not_found`; 409 `agent_paused`, `agent_archived`
     */
    async resolveForExecution(
      request: { readonly tenant: string; readonly version?: string } & AgentReference,
    ): Promise<ResolvedAgent> {
      if ("ofService" in request) return ofService.agent(request.ofService);
      const { tenant, version = null } = request;
      const key: AgentKey = "agentId" in request ? { id: request.agentId } : { name: request.agentName };
      const row = await records.findForExecution(tenant, key, version);
      if (row === null) throw await missing(tenant, key, version);
      if (row.status === "paused") throw new Problem("agent_paused", "The agent is paused");
      if (row.status === "archived") throw new Problem("agent_archived", "The agent is archived");
      const { agent_id, name, revision } = row;
      const deployed = { realm: row.deployed_realm, user_id: row.deployed_by, at: row.deployed_at.toISOString() };
      const spec = await specOf(tenant, row);
      const ceilings = row.context_ceilings ?? [];
      return { agent_id, name, version: row.version, revision, tenant: row.tenant, deployed, spec, ceilings };
    },
  };
}

/**
 * Whether a manifest's values (environment, secrets of deliveries) are shown: to who may change the agent. The
 * scope alone would show a global agent's to every tenant that deploys agents of its own.
 */
function seesValues(caller: Caller, owner: string): boolean {
  return caller.identity.scopes.has("agent:deploy") && (owner === caller.tenant || mayPublish(caller));
}
