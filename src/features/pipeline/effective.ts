/** Which tools a caller has: what the tenant has now, as far as manifest, session and contexts open it. */
import type { ToolGrant } from "../../../actors/agent/manifest/spec.ts";
import { type Binding, byName } from "../../../actors/policy/security/evaluate.ts";
import { patternCovers } from "../../../actors/tool/catalog.ts";
import type { CallPolicy, CallWho, RegisteredTool, ToolSet } from "../tools/port.ts";

const serverPrefix = "mcp:";

/** What entries are held against. */
export type Named = Pick<RegisteredTool, "name" | "server"> & Partial<Pick<RegisteredTool, "aliases">>;

/** Whether an entry of a manifest covers a tool: by one of its names, by pattern, or as one of a tool server's. */
function grantCovers(entry: string, { name, server, aliases = [] }: Named): boolean {
  if (entry.startsWith(serverPrefix)) return server === entry.slice(serverPrefix.length);
  return [name, ...aliases].some((one) => patternCovers(entry, one));
}

/** The entries of a manifest that cover a tool; null: no manifest narrows the caller. */
export const grantsFor = (grants: CallPolicy["tools"], tool: Named): readonly ToolGrant[] | null =>
  grants?.filter(({ name }) => grantCovers(name, tool)) ?? null;

/** Whether manifest and session open a tool, the contexts aside. */
export function isOffered({ tools, patterns }: CallPolicy, tool: Named): boolean {
  if (grantsFor(tools, tool)?.length === 0) return false;
  return patterns === null || patterns.some((pattern) => grantCovers(pattern, tool));
}

/** Management tools act for a person or a machine: without one there are none. */
export const hasActor = ({ starter, opener }: Pick<CallWho, "starter" | "opener">): boolean =>
  starter !== null || opener !== null;

/** The tools of the set that the caller may call by their names. */
export function effectiveTools(
  set: ToolSet,
  who: Pick<CallWho, "starter" | "opener">,
  policy: CallPolicy,
  bindings: readonly Binding[],
): readonly RegisteredTool[] {
  const acts = hasActor(who);
  return set.listed.filter((tool) => {
    if (tool.always === true) return true;
    if (tool.source === "management" && !acts) return false;
    return isOffered(policy, tool) && byName(tool.name, bindings, true, tool.aliases) === null;
  });
}
