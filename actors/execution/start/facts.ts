/** What a start is decided by besides its request, and what the decision comes to. */
import type { VolumeSpec } from "../../agent/manifest/spec.ts";
import type { Json } from "../../kernel/json.ts";
import type { Issue, Problem } from "../../kernel/problem.ts";
import type { TenantTerms } from "../../policy/quota.ts";
import type { SourceVolume } from "./mounts.ts";
import type { Attachment, Header, MountPlan, Plan } from "./plan.ts";
import type { SettledAgent, StartOffer } from "./settle.ts";

/** Everything a start is decided by besides the request; gathered before, and on the settled agent. */
export interface StartFacts {
  readonly executionId: string;
  /** Of the tenant, as it stands. */
  readonly terms: TenantTerms;
  readonly agent: SettledAgent;
  readonly offer: StartOffer;
  readonly bounds: Header["bounds"];
  /** The files of the request, as they were found; or why they cannot be used. Empty for an agent that takes none. */
  readonly attachments: readonly Attachment[] | Problem;
  /** The input with attachments folded in, checked against the schema, defaults filled in; or why it does not fit. */
  readonly input: { readonly value: Json } | Problem;
  /** Judges and the required output handler that cannot be used. */
  readonly unusableAgents: readonly Issue[];
  /** Why something that the environment refers to cannot be used; null: nothing is wrong. */
  readonly references: Problem | null;
  /** The named volumes that the starter may read. */
  readonly sources: ReadonlyMap<string, SourceVolume>;
}

/** Which volumes the execution is given; storing them completes the plan. */
export type StartVolumes =
  | { readonly kind: "none" }
  | { readonly kind: "judged"; readonly mounts: readonly MountPlan[] }
  /** Those the agent declares, and those of the workflow run beside them. */
  | { readonly kind: "own"; readonly declared: readonly VolumeSpec[]; readonly ofRun: readonly MountPlan[] };

export interface StartPlan {
  readonly header: Omit<Header, "volumes">;
  readonly plan: Omit<Plan, "mounts">;
  readonly attachments: readonly Attachment[];
  readonly volumes: StartVolumes;
}
