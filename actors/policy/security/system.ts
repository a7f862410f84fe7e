/** The security contexts that the service brings; operators may write them anew, and add others that begin with `svc-`. */
import { type Identity, type Tier, tiers } from "../../identity/identity.ts";
import type { SecurityContextSpec } from "./spec.ts";

/** Of every execution for which none is named, in a tenant without a context `default`. */
export const defaultSecurityContext = "svc-agent-runtime";
/** A tenant's own context of this name stands before that one. */
export const tenantDefault = "default";
const operatorContext = "svc-system-operator";

export type ContextUser = Pick<Identity, "kind" | "role">;

interface SystemContext {
  readonly description: string;
  readonly spec: SecurityContextSpec;
  /** Whether a caller may ask for it; null: no person asks. */
  readonly usableBy: (caller: ContextUser | null, tier: Tier | "system") => boolean;
}

const opening = (patterns: readonly string[], denied: readonly string[]): SecurityContextSpec => ({
  capabilities: patterns.map((tool_pattern) => ({ tool_pattern })),
  deny_list: [...denied],
});

const consumer = (tier: Tier): SystemContext => ({
  description: `Callers of the tier ${tier} by themselves, without an execution`,
  spec: opening(["web.*", "svc.*"], ["svc.system.*", "svc.edge.*"]),
  usableBy: (caller, own) => {
    if (caller?.kind === "tenant_user") return true;
    return caller?.kind === "consumer" && (own === "system" || tiers.indexOf(own) >= tiers.indexOf(tier));
  },
});

const contexts: ReadonlyMap<string, SystemContext> = new Map<string, SystemContext>([
  [
    defaultSecurityContext,
    {
      description: "Every execution for which no other context is named",
      spec: opening(
        ["*"],
        [
          "svc.system.*",
          "svc.edge.*",
          "svc.agent.delete",
          "svc.agent.promote",
          "svc.agent.demote",
          "svc.workflow.delete",
          "svc.workflow.promote",
          "svc.workflow.demote",
        ],
      ),
      usableBy: () => true,
    },
  ],
  ...tiers.map((tier): [string, SystemContext] => [`svc-consumer-${tier}`, consumer(tier)]),
  [
    operatorContext,
    {
      description: "Operators and service accounts",
      spec: opening(["*"], []),
      usableBy: (caller) =>
        caller?.kind === "service_account" || caller?.role === "admin" || caller?.role === "operator",
    },
  ],
]);

/** In the order in which lists show them. */
export const systemContexts: readonly (readonly [string, SystemContext])[] = [...contexts].sort(([a], [b]) =>
  a < b ? -1 : 1,
);

/** Null: the service brings none of that name. */
export const systemContext = (name: string): SystemContext | null => contexts.get(name) ?? null;

/**
 * The context of a session without an execution that names none, by who opened it.
 * @param tier of the tenant
 */
export function contextByIdentity({ kind, role }: ContextUser, tier: Tier | "system"): string {
  if (kind === "service_account" || role === "admin" || role === "operator") return operatorContext;
  if (kind === "tenant_user") return "svc-consumer-enterprise";
  return kind === "consumer" && tier !== "system" ? `svc-consumer-${tier}` : "svc-consumer-free";
}
