/** What the parts of this folder share. */
import { type Identity, isGlobalPublisher } from "../../../../actors/identity/identity.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { TenantTerms } from "../../../../actors/policy/quota.ts";
import type { WorkflowOffer } from "../../../../actors/workflow/manifest/judged.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Audit, AuditedBy } from "../../audit/port.ts";
import type { References } from "../../references/port.ts";
import type { ContextReader } from "../../security-contexts/port.ts";
import type { WorkflowFollower } from "./port.ts";
import type { WorkflowRecords } from "./records.ts";

export interface WorkflowsOptions {
  readonly sql: Sql;
  readonly offer: WorkflowOffer;
  /** Of the given agents, by name or UUID, those the tenant sees. */
  readonly visibleAgents: (tenant: string, refs: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Runs the tenant started of each version; those without any may be left out. */
  readonly countRuns: (tenant: string, workflowIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Runs of these versions that have not ended, of any starter; at most `limit`. */
  readonly unfinishedRuns: (workflowIds: readonly string[], limit: number) => Promise<readonly string[]>;
  /** Cancels every run of these versions that has not ended. Repeatable. */
  readonly cancelRuns: (workflowIds: readonly string[], reason: string) => Promise<void>;
  readonly follower: WorkflowFollower;
  readonly audit: Audit;
  readonly references: Pick<References, "requireAllowed">;
  readonly contexts: Pick<ContextReader, "exists" | "mayUse">;
  readonly terms: (tenant: string) => Promise<TenantTerms>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

/** A caller who changes definitions. */
export interface Caller {
  readonly identity: Identity;
  /** The effective tenant. */
  readonly tenant: string;
  /** As the audit log tells. */
  readonly by: AuditedBy;
  /** Of a tool call: security contexts that bind what it registers. Absent: a user registers, which ends former ones. */
  readonly ceilings?: readonly string[];
  /** Aborted when the caller has left. */
  readonly signal?: AbortSignal;
}

export interface WorkflowParts extends WorkflowsOptions {
  readonly records: WorkflowRecords;
}

export const mayPublish = ({ identity, tenant }: Caller): boolean => isGlobalPublisher(identity, tenant);

export function globalForbidden(): Problem {
  return new Problem("global_scope_forbidden", "Only global publishers create or change global workflows");
}

export function workflowNotFound(): Problem {
  return new Problem("workflow_not_found", "Workflow not found");
}
