/**
 * Security contexts: what an execution may call, in spite of what its manifest lists (docs/reference/gateway.md).
 *
 * The system's own are known here; a name that is none of them is unknown.
 */

import { type Identity, type Tier, tiers } from "../identity/identity.ts";
import { patternCovers } from "../tool/catalog.ts";

/** Of every execution whose start and manifest name none. */
export const defaultSecurityContext = "svc-agent-runtime";

interface SecurityContext {
  /** Patterns of the tools it opens; the deny list is stronger. */
  readonly capabilities: readonly string[];
  readonly deny: readonly string[];
  /** Whether a caller may ask for it; null: no person asks. */
  readonly usableBy: (caller: Caller | null, tier: Tier | "system") => boolean;
}

type Caller = Pick<Identity, "kind" | "role">;

const consumer = (tier: Tier): SecurityContext => ({
  capabilities: ["web.*", "svc.*"],
  deny: ["svc.system.*", "svc.edge.*"],
  usableBy: (caller, own) => {
    if (caller?.kind !== "tenant_user" && caller?.kind !== "consumer") return false;
    return own === "system" || tiers.indexOf(own) >= tiers.indexOf(tier);
  },
});

const contexts: ReadonlyMap<string, SecurityContext> = new Map<string, SecurityContext>([
  [
    defaultSecurityContext,
    {
      capabilities: ["*"],
      deny: [
        "svc.system.*",
        "svc.edge.*",
        "svc.agent.delete",
        "svc.agent.promote",
        "svc.agent.demote",
        "svc.workflow.delete",
        "svc.workflow.promote",
        "svc.workflow.demote",
      ],
      usableBy: () => true,
    },
  ],
  ...tiers.map((tier): [string, SecurityContext] => [`svc-consumer-${tier}`, consumer(tier)]),
  [
    "svc-system-operator",
    {
      capabilities: ["*"],
      deny: [],
      usableBy: (caller) =>
        caller?.kind === "service_account" || caller?.role === "admin" || caller?.role === "operator",
    },
  ],
]);

export const isSecurityContext = (name: string): boolean => contexts.has(name);

/**
 * Whether the caller may name this context in a manifest or at a start; false for unknown ones.
 * @param tier of the tenant
 */
export function mayUseContext(name: string, caller: Caller | null, tier: Tier | "system"): boolean {
  return contexts.get(name)?.usableBy(caller, tier) ?? false;
}

/** Whether the context lets the tool be called at all; false for unknown contexts. */
export function contextPermits(name: string, tool: string): boolean {
  const context = contexts.get(name);
  if (context === undefined || context.deny.some((pattern) => patternCovers(pattern, tool))) return false;
  return context.capabilities.some((pattern) => patternCovers(pattern, tool));
}
