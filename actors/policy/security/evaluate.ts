/**
 * Whether the security contexts that bind a call allow it: its own first, then the ceilings. A deny list is stronger
 * than every capability; the first capability whose pattern and static constraints fit governs, and no later one rescues
 * a call that the rate or the number of calls of that one refuses.
 */
import { canonicalName, patternCovers } from "../../tool/catalog.ts";
import type { CallFacts } from "./call-facts.ts";
import { staticRefusal } from "./constraints.ts";
import { namesOf } from "./names.ts";
import { type Refused, type RefusedBy, refuse } from "./refusals.ts";
import { type Capability, capabilityDefaults, type SecurityContextSpec } from "./spec.ts";

/** One context that binds a call, as it is today. */
export interface Binding {
  readonly name: string;
  readonly version: number;
  /** Null: it was deleted, and refuses every call. */
  readonly spec: SecurityContextSpec | null;
}

/** The capability of one context that lets a call pass and whose bounds hold for it. */
export interface Governing {
  readonly context: string;
  readonly version: number;
  readonly index: number;
  readonly capability: Capability;
}

export type Verdict =
  /** One governing capability of each binding, in their order. */
  { readonly allowed: true; readonly governing: readonly Governing[] } | Refused;

/**
 * The stage that the tool's name alone decides.
 * @param tool under either prefix
 * @param offered whether it is among the effective tools and the session's patterns
 * @param aliases of the tool: a context that denies or opens it by one of them denies or opens it
 */
export function byName(
  tool: string,
  bindings: readonly Binding[],
  offered = true,
  aliases: readonly string[] = [],
): Refused | null {
  const name = canonicalName(tool);
  const names = aliases.length === 0 ? [name] : [name, ...aliases.map(canonicalName)];
  for (const [at, binding] of bindings.entries()) {
    const denied = deniedBy(names, binding);
    if (denied !== null) return denied;
    if (at === 0 && !offered) return notOffered(name, binding);
    const { spec } = binding;
    if (spec === null || names.every((one) => namesOf(spec).opened.covering(one) === undefined)) {
      const message = `${name} is not among what the security context ${binding.name} opens`;
      return refuse("tool_not_allowed", "tool_not_allowed", message, name, of(binding), {
        constraint: "tool_pattern",
        attempted: name,
      });
    }
  }
  return null;
}

/** The whole decision but rates and concurrency, which are counted elsewhere. */
export function evaluate(call: CallFacts, bindings: readonly Binding[], offered = true): Verdict {
  const refused = byName(call.tool, bindings, offered, call.aliases);
  if (refused !== null) return refused;
  const governing: Governing[] = [];
  for (const binding of bindings) {
    const found = governingOf(call, binding);
    if ("allowed" in found) return found;
    governing.push(found);
  }
  return { allowed: true, governing };
}

/** @param names canonical; the first is the tool's own */
function deniedBy(names: readonly string[], binding: Binding): Refused | null {
  const [name = ""] = names;
  if (binding.spec === null) {
    const message = `${name} is refused: the security context ${binding.name} was deleted`;
    return refuse("tool_not_allowed", "tool_not_allowed", message, name, of(binding), {
      constraint: "context_deleted",
      attempted: name,
    });
  }
  const { denied } = namesOf(binding.spec);
  let pattern: string | undefined;
  for (const one of names) pattern ??= denied.covering(one);
  if (pattern === undefined) return null;
  const message = `${name} is denied by the security context ${binding.name}`;
  return refuse("tool_denied", "tool_explicitly_denied", message, name, of(binding), {
    constraint: "deny_list",
    attempted: name,
    pattern,
  });
}

function notOffered(name: string, binding: Binding): Refused {
  const message = `${name} is not among the tools of this caller`;
  return refuse("tool_not_allowed", "tool_not_allowed", message, name, of(binding), {
    constraint: "effective_tools",
    attempted: name,
  });
}

function governingOf(call: CallFacts, binding: Binding): Governing | Refused {
  const failures: Refused[] = [];
  for (const [index, capability] of (binding.spec?.capabilities ?? []).entries()) {
    const isForIt = [call.tool, ...call.aliases].some((one) => patternCovers(capability.tool_pattern, one));
    if (!isForIt) continue;
    const failure = staticRefusal(call, capability, of(binding, index));
    if (failure === null) return { context: binding.name, version: binding.version, index, capability };
    failures.push(failure);
  }
  const [first] = failures;
  if (first === undefined) throw new Error(`no capability of ${binding.name} is for ${call.tool}`);
  if (failures.every(({ code }) => code === first.code)) return first;
  return {
    ...refuse(
      "no_matching_capability",
      first.violation_type,
      `${call.tool} fits no capability of the security context ${binding.name}`,
      call.tool,
      of(binding),
    ),
    details: {
      tool: call.tool,
      violation_type: first.violation_type,
      ...of(binding),
      failures: failures.map(({ code, details }) => ({
        code,
        capability_index: details.capability_index ?? null,
        constraint: details.constraint ?? null,
        attempted: details.attempted ?? null,
      })),
    },
  };
}

const of = ({ name, version }: Binding, capability_index: number | null = null): RefusedBy => ({
  security_context: name,
  context_version: version,
  capability_index,
});

export const refusedBy = ({ context, version, index }: Governing): RefusedBy => ({
  security_context: context,
  context_version: version,
  capability_index: index,
});

/** What all that govern a call leave it: the least of each. */
export function boundsOf(governing: readonly Governing[]) {
  const least = (name: keyof typeof capabilityDefaults) =>
    Math.min(
      capabilityDefaults[name],
      ...governing.map(({ capability }) => capability[name] ?? capabilityDefaults[name]),
    );
  return { maxTimeoutSecs: least("max_timeout_secs"), maxResponseBytes: least("max_response_size") };
}

/** Lists of paths each of which has to cover what a call touches, once links are resolved. */
export const pathRulesOf = (governing: readonly Governing[]): (readonly string[])[] =>
  governing.flatMap(({ capability }) => (capability.path_allowlist ? [capability.path_allowlist] : []));

/** Lists of domains each of which has to cover every URL that a call fetches, redirects included. */
export const domainRulesOf = (governing: readonly Governing[]): (readonly string[])[] =>
  governing.flatMap(({ capability }) => (capability.domain_allowlist ? [capability.domain_allowlist] : []));
