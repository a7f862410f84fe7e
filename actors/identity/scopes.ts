/** Which caller holds which scope: one table, and the rules by which a token's claims widen or narrow it. */
import type { Identity, Membership } from "./identity.ts";

/**
 * The columns of the table.
 * A admin, O operator, R readonly: operators and service accounts with that role.
 * S service account without role. T tenant user or team member who is owner or admin, M who is member. C consumer in
 * the own tenant.
 */
export type ScopeColumn = "A" | "O" | "S" | "R" | "T" | "M" | "C";

const allColumns = "AOSRTMC";
const table: readonly (readonly [columns: string, scopes: string])[] = [
  [allColumns, "agent:read agent:list agent:logs"],
  [allColumns, "workflow:read workflow:list workflow:logs workflow:validate"],
  [allColumns, "execution:read execution:list execution:stream execution:logs"],
  [allColumns, "swarm:read swarm:list"],
  ["AOS-TMC", "agent:deploy agent:delete agent:generate agent:execute"],
  ["AOS-TMC", "workflow:deploy workflow:delete workflow:generate workflow:run workflow:signal workflow:cancel"],
  ["AOS-TMC", "execution:cancel execution:remove swarm:cancel"],
  [allColumns, "approval:read approval:list"],
  ["AOS-TMC", "approval:approve approval:reject"],
  [allColumns, "stimulus:read stimulus:list"],
  ["AOS-TMC", "stimulus:ingest"],
  ["AOS-T-C", "stimulus:manage"],
  [allColumns, "volume:read"],
  ["AOS-TMC", "volume:write"],
  [allColumns, "credential:read credential:list"],
  ["AOS-TMC", "credential:create credential:delete credential:rotate credential:grant"],
  ["AOS-T--", "secret:read secret:list secret:write secret:delete secret:rotate"],
  [allColumns, "key:read key:list key:create key:revoke"],
  ["AOSRT-C", "billing:read"],
  ["A-S-T-C", "billing:write"],
  [allColumns, "colony:read"],
  ["A-S-T-C", "colony:write"],
  [allColumns, "seal:read security_context:read tool_server:read"],
  ["AOS-T-C", "seal:manage security_context:write tool_server:write"],
  [allColumns, "cortex:read observability:read usage:read evaluation:read"],
  ["AOS-TMC", "evaluation:write"],
  ["AOS-T-C", "release:manage"],
  ["AO-RT-C", "audit:read"],
  [allColumns, "aegis.edge.hosts.read aegis.edge.fleet.read"],
  ["AOS-T-C", "aegis.edge.enroll aegis.edge.hosts.write aegis.edge.groups.write aegis.edge.fleet.manage"],
];

/** Scopes over the platform itself. */
const platformTable: typeof table = [
  ["AOSR---", "node:read node:list"],
  ["AO-R---", "tenant:read tenant:list ratelimit:read"],
  ["A------", "tenant:onboard tenant:provision ratelimit:write"],
  ["A------", "node:register node:deregister node:drain node:shutdown"],
  ["A------", "stack:read stack:up stack:down stack:restart stack:update stack:uninstall"],
];

/** Every scope there is. */
export const allScopes: ReadonlySet<string> = new Set([
  ...[...table, ...platformTable].flatMap(([, scopes]) => scopes.split(" ")),
]);

/** The scopes of one column, as the table has them. */
export function scopesOfColumn(column: ScopeColumn): ReadonlySet<string> {
  const rows = [...table, ...platformTable].filter(([columns]) => columns.includes(column));
  return new Set(rows.flatMap(([, scopes]) => scopes.split(" ")));
}

/** Which column of the table a caller stands in. */
function scopeColumn(caller: Pick<Identity, "kind" | "role" | "membership">): ScopeColumn {
  if (caller.kind === "consumer" && caller.membership === null) return "C";
  if (caller.kind === "consumer" || caller.kind === "tenant_user") return caller.membership === "member" ? "M" : "T";
  if (caller.role === "admin") return "A";
  if (caller.role === "operator") return "O";
  return caller.role === "readonly" ? "R" : "S";
}

/**
 * How the scope claims of a realm's tokens act on the table: they add to it, or narrow it. To consumers and tenant
 * users they never add: what a client application asked for is no right of its user's.
 */
export type ScopeMode = "union" | "restrict";

/**
 * The scopes a caller really has.
 * @param claimed words of the `scope` and `scp` claims; unknown ones are ignored, wildcards expand
 */
export function effectiveScopes(
  caller: Pick<Identity, "kind" | "role" | "membership">,
  claimed: readonly string[],
  mode: ScopeMode,
): ReadonlySet<string> {
  if (mode === "restrict" || !isOfPlatform(caller)) return scopesWithin(caller, boundOf(claimed, mode));
  return withImplied(new Set([...scopesOfColumn(scopeColumn(caller)), ...claimed.flatMap(expand)]));
}

/** The most that a token opens: what it names under `restrict`; null: it sets no bound. */
export function boundOf(claimed: readonly string[], mode: ScopeMode): ReadonlySet<string> | null {
  const named = mode === "restrict" ? new Set(claimed.flatMap(expand)) : new Set<string>();
  return named.size > 0 ? withImplied(named) : null;
}

const usual = new Map<ScopeColumn, ReadonlySet<string>>();

/** All that the table gives a column: one set for all callers, since every start looks at it. */
function usualScopes(column: ScopeColumn): ReadonlySet<string> {
  const known = usual.get(column) ?? withImplied(scopesOfColumn(column));
  usual.set(column, known);
  return known;
}

/** What the table gives a caller, as far as a credential opens it. @param bound null: it opens all */
export function scopesWithin(
  caller: Pick<Identity, "kind" | "role" | "membership">,
  bound: ReadonlySet<string> | null,
): ReadonlySet<string> {
  const base = usualScopes(scopeColumn(caller));
  return bound === null ? base : new Set([...base].filter((scope) => bound.has(scope)));
}

/**
 * The same caller as a member of a tenant that is not their home, such as a team: with the scopes that this membership
 * gives, as far as the credential opens them.
 */
export const asMember = (identity: Identity, membership: Membership): Identity => ({
  ...identity,
  membership,
  scopes: scopesWithin({ kind: identity.kind, role: identity.role, membership }, identity.bound),
});

const isOfPlatform = ({ kind }: Pick<Identity, "kind">): boolean => kind === "operator" || kind === "service_account";

/** The known scopes a word stands for. */
export function expand(word: string): string[] {
  const scope = word.startsWith("svc.edge.") ? `aegis.edge.${word.slice("svc.edge.".length)}` : word;
  if (allScopes.has(scope)) return [scope];
  if (scope === "*") return [...allScopes];
  if (!/[:.]\*$/.test(scope)) return [];
  const prefix = scope.slice(0, -1);
  return [...allScopes].filter((known) => known.startsWith(prefix));
}

/** Scopes over the platform itself, which a key has only where it names them. */
export const platformScopes: ReadonlySet<string> = new Set(platformTable.flatMap(([, scopes]) => scopes.split(" ")));

/** Adds what a scope brings with it: writing includes reading, except for secrets. */
export function withImplied(scopes: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set(scopes);
  for (const scope of scopes) {
    if (scope === "aegis.edge.fleet.manage") all.add("aegis.edge.fleet.read");
    if (scope === "aegis.edge.hosts.write") all.add("aegis.edge.hosts.read");
    const read = scope.replace(/:write$/, ":read");
    if (read !== scope && read !== "secret:read" && allScopes.has(read)) all.add(read);
  }
  return all;
}
