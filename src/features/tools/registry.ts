/** The tools of a node, by tenant: what all features bring, under one roof. */
import { canonicalName, type ToolEntry } from "../../../actors/tool/catalog.ts";
import type { ToolOutcome } from "../../lib/tool-files/outcome.ts";
import type { RegisteredTool, ToolProvider, ToolRequest } from "./tool.ts";

/** What a tenant has; the same object until something changes. */
export interface ToolSet {
  /** Those that are shown, in the order of their providers. */
  readonly listed: readonly RegisteredTool[];
  /** The same as the execution actor decides by them. */
  readonly entries: readonly ToolEntry[];
  /** By name or alias, under either prefix; tools that are withheld are found as well. */
  find(name: string): RegisteredTool | undefined;
}

export interface ToolRegistry {
  of(tenant: string): Promise<ToolSet>;
  /** Runs a tool; nothing is checked here. */
  call(request: ToolRequest): Promise<ToolOutcome>;
}

/** A set by the lists it was made of: tenants that see the same lists share it, and it goes with them. */
interface Known {
  set?: ToolSet;
  readonly further: WeakMap<readonly RegisteredTool[], Known>;
}

/** The first provider that offers a name has it. */
export function createRegistry(): ToolRegistry & { fill(providers: readonly ToolProvider[]): void } {
  let providers: readonly ToolProvider[] | null = null;
  const root: Known = { further: new WeakMap() };

  async function listsOf(tenant: string): Promise<readonly (readonly RegisteredTool[])[]> {
    if (providers === null) throw new Error("tools are asked for before the node has started");
    const lists = providers.map((provider) => provider.tools(tenant));
    return lists.some((list) => list instanceof Promise) ? Promise.all(lists) : (lists as RegisteredTool[][]);
  }

  return {
    fill: (all) => {
      providers = all;
    },
    async of(tenant) {
      let known = root;
      const lists = await listsOf(tenant);
      for (const list of lists) {
        const next = known.further.get(list) ?? { further: new WeakMap() };
        known.further.set(list, next);
        known = next;
      }
      known.set ??= createSet(lists.flat());
      return known.set;
    },
    async call(request) {
      const lists = await listsOf(request.tenant);
      const at = lists.findIndex((list) => list.some(({ name }) => name === request.name));
      const provider = providers?.[at];
      if (provider !== undefined) return provider.call(request);
      return { status: "failed", code: "unknown_tool", message: `There is no tool ${request.name}` };
    },
  };
}

function createSet(offered: readonly RegisteredTool[]): ToolSet {
  const byName = new Map<string, RegisteredTool>();
  const all: RegisteredTool[] = [];
  for (const tool of offered) {
    const name = canonicalName(tool.name);
    if (byName.get(name)?.name === tool.name) continue;
    byName.set(name, tool);
    all.push(tool);
  }
  for (const tool of all) {
    for (const alias of tool.aliases.map(canonicalName)) if (!byName.has(alias)) byName.set(alias, tool);
  }
  const listed = all.filter(({ withheld }) => withheld !== true);
  return { listed, entries: listed.map(entryOf), find: (name) => byName.get(canonicalName(name)) };
}

/** As the execution actor decides by it. */
function entryOf({ name, runs, readOnly, skipJudge }: RegisteredTool): ToolEntry {
  return { name, runs, read_only: readOnly, ...(skipJudge === true ? { skip_judge: true } : {}) };
}
