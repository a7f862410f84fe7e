/**
 * Security contexts: what an execution may call, in spite of what its manifest lists (docs/reference/gateway.md).
 *
 * The system's own are known here; a name that is none of them is unknown.
 */
import type { Tier } from "../identity/identity.ts";
import { byName } from "./security/evaluate.ts";
import { type ContextUser, systemContext } from "./security/system.ts";

export const isSecurityContext = (name: string): boolean => systemContext(name) !== null;

/**
 * Whether the caller may name this context in a manifest or at a start; false for unknown ones.
 * @param tier of the tenant
 */
export function mayUseContext(name: string, caller: ContextUser | null, tier: Tier | "system"): boolean {
  return systemContext(name)?.usableBy(caller, tier) ?? false;
}

/** Whether the context lets the tool be called at all; false for unknown contexts. */
export function contextPermits(name: string, tool: string): boolean {
  const context = systemContext(name);
  return context !== null && byName(tool, [{ name, version: 1, spec: context.spec }]) === null;
}
