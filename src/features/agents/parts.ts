/** What the parts of this folder share. */
import type { NodeOffer } from "../../../actors/agent/manifest/spec.ts";
import { type Identity, isGlobalPublisher } from "../../../actors/identity/identity.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { TenantTerms } from "../../../actors/policy/quota.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { type Audit, type AuditedBy, type AuditedCall, auditedBy } from "../audit/port.ts";
import type { References } from "../references/port.ts";
import type { ContextReader } from "../security-contexts/port.ts";
import type { AgentEvents } from "./events.ts";
import { agentRecords } from "./records.ts";
import type { AgentDetail } from "./schema.ts";
import type { LockedAgent } from "./versions.ts";
import { agentDetail } from "./wire.ts";

/** A change that is stored. */
export interface AgentChange {
  readonly what: "deployed" | "updated" | "paused" | "resumed" | "archived" | "removed" | "scope_changed";
  /** Whose the agent is now. */
  readonly tenant: string;
  readonly agentId: string;
}

export interface AgentsOptions {
  readonly sql: Sql;
  readonly offer: NodeOffer;
  /** Names and aliases of the tools that a tenant has now; absent: those of the offer. */
  readonly toolNames?: (tenant: string) => Promise<readonly string[]>;
  /** What the tenant may have, as it stands now. */
  readonly terms: (tenant: string) => Promise<TenantTerms>;
  /** Executions the tenant ran of each agent; agents without any may be left out. */
  readonly countExecutions: (tenant: string, agentIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Cancels every execution of the agent that has not ended. Repeatable. */
  readonly cancelExecutions: (tenant: string, agentId: string, reason: string) => Promise<void>;
  readonly events: AgentEvents;
  readonly audit: Audit;
  readonly references: Pick<References, "requireAllowed">;
  readonly contexts: Pick<ContextReader, "exists" | "mayUse">;
  /**
   * Told of every change once it is stored, in order, before the caller is answered; `removed` may come twice.
   * A crash may come between a change and its telling, so they compare with the records when they start.
   */
  readonly watchers: readonly ((change: AgentChange) => Promise<void>)[];
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

/** Who does it, as the audit log tells: a request, or what is said of one that is none. */
type Acting = AuditedCall | { readonly identity: Identity; readonly by: AuditedBy };

export type Caller = Acting & {
  /** The effective tenant. */
  readonly tenant: string;
  /** Of a tool call: security contexts that bind what it deploys. Absent: a user deploys, which ends former ones. */
  readonly ceilings?: readonly string[];
  /** Aborted when the caller has left. */
  readonly signal?: AbortSignal;
};

export interface AgentParts extends AgentsOptions {
  readonly records: ReturnType<typeof agentRecords>;
  tell(change: AgentChange): Promise<void>;
  /**
   * In the transaction of the change it tells of. Several tenants: the agent moves from one to the other.
   * @param verb `deployed`, `updated`, `published`, `deleted`
   */
  record(
    tx: Transaction,
    caller: Caller,
    agent: { readonly agent_id: string; readonly name: string; readonly tenants: readonly string[] },
    verb: string,
    details: { readonly [key: string]: Json },
  ): Promise<void>;
  /**
   * The agent as a caller who may deploy reads it.
   * @param owner whose the agent is, even where the caller sees it no longer
   */
  shown(caller: Caller, owner: string, agentId: string): Promise<AgentDetail>;
}

export function agentParts(options: AgentsOptions): AgentParts {
  const records = agentRecords(options.sql);
  return {
    ...options,
    records,
    async tell(change) {
      for (const watcher of options.watchers) await watcher(change);
    },
    record(tx, caller, { agent_id: id, name, tenants }, verb, details) {
      const change = { action: `agent.${verb}`, target: { type: "agent", id }, details: { name, ...details } };
      const entries = [...new Set(tenants)].map((tenant) => ({ ...change, tenant }));
      return options.audit.append(tx, "by" in caller ? caller.by : auditedBy(caller), ...entries);
    },
    async shown({ tenant }, owner, agentId) {
      const row = await records.find(owner, { id: agentId }, null);
      if (row === null) throw agentNotFound();
      const counts = await options.countExecutions(tenant, [agentId]);
      return agentDetail(row, counts.get(row.agent_id) ?? 0, true);
    },
  };
}

export function mayPublish({ identity, tenant }: Caller): boolean {
  return isGlobalPublisher(identity, tenant);
}

/**
 * A tenant's callers may change its own agents; only global publishers may change the global ones.
 * @throws Problem 403 `global_scope_forbidden`
 */
export function checkMayChange(caller: Caller, { scope }: Pick<LockedAgent, "scope">): void {
  if (scope === "global" && !mayPublish(caller)) throw globalForbidden();
}

export function agentNotFound(): Problem {
  return new Problem("agent_not_found", "Agent not found");
}

export function versionNotFound(): Problem {
  return new Problem("agent_version_not_found", "Agent version not found");
}

export function globalForbidden(): Problem {
  return new Problem("global_scope_forbidden", "Only global publishers create or change global agents");
}

export function versionExists(agentId: string, version: string): Problem {
  const message = "This version of the agent exists; deploy it with force=true to replace it";
  return new Problem("agent_version_exists", message, { agent_id: agentId, version });
}
