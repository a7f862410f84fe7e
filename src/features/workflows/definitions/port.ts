/** What the rest of the service may ask of workflow definitions. */
import type { ResolvedWorkflow } from "../../../../actors/workflow/run/start/request.ts";
import type { Transaction } from "../../../store/postgres/pool.ts";

export interface WorkflowLookup {
  readonly tenant: string;
  /** Name or UUID; a UUID pins its version. */
  readonly ref: string;
  /** Null: the latest by semantic version. */
  readonly version: string | null;
}

export interface Definitions {
  /**
   * A tenant's own workflow before a global one of the same name.
   * @throws Problem 404 `workflow_not_found`; 422 `validation_failed` when `version` contradicts a UUID's
   */
  resolve(lookup: WorkflowLookup): Promise<ResolvedWorkflow>;
}

export type { WorkflowChoice } from "./choices.ts";
export type { Deployer } from "./deployer.ts";
export { tenantOf } from "./records.ts";

/** Who registers definitions. */
export interface Registrars {
  /** When another than this subject last registered a version of that name, as the tenant sees it; null: never. */
  registeredByOthers(
    tenant: string,
    name: string,
    by: { readonly realm: string; readonly userId: string },
  ): Promise<Date | null>;
}

/** A name whose versions have changed. */
export interface ChangedName {
  /** A tenant, or `*` for what every tenant sees. */
  readonly owner: string;
  readonly name: string;
  /** Its versions were this owner's before. */
  readonly from?: string;
}

/** Who keeps something in step with the latest versions of workflows. */
export interface WorkflowFollower {
  /** In the transaction of the change, behind it. */
  changed(tx: Transaction, change: ChangedName): Promise<void>;
  /** Once it is committed. Never throws: what a crash leaves undone is the follower's to find. */
  committed(change: ChangedName): Promise<void>;
}

/** Who runs workflows. */
export interface WorkflowUse {
  /** Runs the tenant started of each version; those without any may be left out. */
  count(tenant: string, workflowIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Runs of these versions that have not ended, of any starter; at most `limit`. */
  unfinished(workflowIds: readonly string[], limit: number): Promise<readonly string[]>;
  /** Cancels every run of these versions that has not ended. Repeatable. */
  cancel(workflowIds: readonly string[], reason: string): Promise<void>;
}
