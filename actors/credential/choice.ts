/** Which credential a reference means, and whether an execution may use it (docs/reference/credentials.md). */
import type { CredentialScope } from "./ownership.ts";

/** A subject; the realm is null where an earlier version did not store it. */
interface Subject {
  readonly realm: string | null;
  readonly userId: string;
}

/** Who wants to use credentials. */
export interface Use {
  readonly definition: {
    readonly kind: "agent" | "workflow";
    /** Of an agent its UUID; of a workflow its name. */
    readonly id: string;
    /** The revision of an agent; null for a workflow, whose versions `workflow` tells of, and where it is not known. */
    readonly deployed: (Subject & { readonly at: Date }) | null;
  };
  /** Null: a webhook or a schedule. A realm that is not known is that which the tenant's kind implies. */
  readonly initiator: Subject | null;
  /** The one that runs, and when another than the initiator last registered a version of it; null: never. */
  readonly workflow: { readonly name: string; readonly changedByOthersAt: Date | null } | null;
}

export interface Candidate {
  readonly id: string;
  readonly scope: CredentialScope;
  readonly realm: string;
  readonly userId: string;
  readonly isUsable: boolean;
  /** A personal one whose owner was removed from the tenant is served to no execution. */
  readonly isOwnerGone: boolean;
  readonly grants: readonly Grant[];
}

export interface Grant {
  readonly type: "agent" | "workflow" | "all_agents";
  /** Empty for all agents. */
  readonly value: string;
  /** When it was last asked for. */
  readonly confirmedAt: Date;
}

export type Choice<C> = { readonly chosen: C } | { readonly fault: "credential_not_found" | "credential_not_granted" };

/**
 * The one to use of those that a reference may mean: the initiator's personal one before the tenant's oldest, of those
 * that are granted.
 * @param candidates oldest first; of a reference by id one at most
 */
export function choose<C extends Candidate>(use: Use, candidates: readonly C[]): Choice<C> {
  const seen = candidates.filter((candidate) => candidate.isUsable && isServed(use, candidate));
  const granted = seen.filter((candidate) => isGranted(use, candidate));
  const chosen = granted.find(({ scope }) => scope === "personal") ?? granted[0];
  if (chosen !== undefined) return { chosen };
  return { fault: seen.length === 0 ? "credential_not_found" : "credential_not_granted" };
}

/** Personal ones serve their owner's executions alone. */
function isServed({ initiator }: Use, { scope, realm, userId, isOwnerGone }: Candidate): boolean {
  if (scope === "tenant") return true;
  return initiator !== null && !isOwnerGone && isSame(initiator, { realm, userId });
}

const isSame = (one: Subject, { realm, userId }: Subject): boolean => one.realm === realm && one.userId === userId;

function isGranted({ definition, workflow }: Use, candidate: Candidate): boolean {
  const isAgent = definition.kind === "agent";
  const fits = candidate.grants.filter(({ type, value }) => {
    if (type === "all_agents") return isAgent;
    if (type === "agent") return isAgent && value === definition.id;
    return value === workflow?.name;
  });
  if (candidate.scope === "tenant") return fits.length > 0;
  const { deployed } = definition;
  if (isAgent && deployed === null) return false;
  // What others deployed is covered by what the owner asked for since; of a workflow all its versions count, below.
  const foreign = deployed === null || isSame(deployed, candidate) ? [] : [deployed.at];
  return fits.some(({ type, confirmedAt }) => {
    const changed = type === "workflow" ? [...foreign, workflow?.changedByOthersAt ?? null] : foreign;
    return changed.every((at) => at === null || at.getTime() <= confirmedAt.getTime());
  });
}
