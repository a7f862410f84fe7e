/** Tools that deploy, show and remove agents. Each does what its route does. */
import { Type } from "@sinclair/typebox";
import { queryWords, searchScore } from "../../../actors/agent/search.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { pageOf, pagingQuery } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { AgentElement, Agents } from "../agents/port.ts";
import { auditedAgent } from "../audit/port.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../management-tools/port.ts";

export interface AgentToolOptions {
  readonly agents: Pick<Agents, "deploy" | "list" | "detail" | "remove" | "identify" | "nameIn">;
  /** See `agentEvents` of the executions. */
  readonly events: (tenant: string, agentId: string, limit: number, offset: number) => Promise<object>;
}

/** Agents that a search looks at, and at once. */
const [maxSearched, pageSize] = [5_000, 500];
const reference = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });
const AgentId = { agent_id: reference("UUID or name of the agent") };
const Deployment = Type.Object({
  manifest_yaml: Type.String({ minLength: 1, description: "The manifest, as YAML or JSON" }),
  force: Type.Boolean({ default: false, description: "Replace the version where it is there already" }),
});

/** As the service of agents knows its callers. */
const callerOf = (caller: ToolCaller) => ({
  tenant: caller.tenant,
  identity: caller.identity,
  by: auditedAgent(caller),
  signal: caller.signal,
});

export function agentTools({ agents, events }: AgentToolOptions): readonly ManagementTool[] {
  async function idOf({ tenant }: ToolCaller, { agent_id }: { readonly agent_id: string }): Promise<string> {
    const found = await agents.identify(tenant, agent_id);
    if (found === null) throw new Problem("agent_not_found", "Agent not found");
    return found;
  }
  /** Those that the tenant has or sees, up to a number that no tenant is meant to have. */
  async function everyAgent(tenant: string, label: readonly string[]): Promise<readonly AgentElement[]> {
    const found: AgentElement[] = [];
    for (let cursor: string | null = ""; cursor !== null && found.length < maxSearched; ) {
      const page = pageOf(cursor === "" ? { limit: pageSize } : { limit: pageSize, cursor }, 2);
      const { items, next_cursor } = await agents.list(tenant, { visible: true, label: [...label] }, page);
      found.push(...items);
      cursor = next_cursor;
    }
    return found;
  }
  const deploy = (caller: ToolCaller, { manifest_yaml: text, force }: typeof Deployment.static) =>
    agents.deploy(
      { ...callerOf(caller), ceilings: caller.ceilings },
      { mediaType: null, text },
      { force, scope: "tenant", dry_run: false },
    );
  return [
    defineTool({
      name: "svc.agent.create",
      description: "Deploy an agent's manifest",
      scope: "agent:deploy",
      arguments: Deployment,
      call: deploy,
    }),
    defineTool({
      name: "svc.agent.update",
      description: "Deploy a manifest of an agent that is there already; force replaces the same version",
      scope: "agent:deploy",
      arguments: Deployment,
      call: async (caller, given) => {
        const name = await agents.nameIn(callerOf(caller), given.manifest_yaml);
        if (name !== null) await idOf(caller, { agent_id: name });
        return deploy(caller, given);
      },
    }),
    defineTool({
      name: "svc.agent.list",
      effect: "reads",
      description: "The tenant's agents and the global ones, by name",
      scope: "agent:list",
      arguments: Type.Object({
        ...pagingQuery,
        scope: Type.Optional(Type.Union([Type.Literal("tenant"), Type.Literal("global")])),
        visible: Type.Boolean({ default: true, description: "Global ones as well" }),
        status: Type.Optional(
          Type.Union([Type.Literal("active"), Type.Literal("paused"), Type.Literal("archived")], {
            description: "When absent all but archived ones",
          }),
        ),
        label: Type.Optional(Type.Array(Type.String({ maxLength: 400 }), { maxItems: 16, description: "key=value" })),
        agent_type: Type.Optional(Type.String({ maxLength: 256 })),
        q: Type.Optional(Type.String({ maxLength: 256, description: "Part of the name or the description" })),
      }),
      call: ({ tenant }, given) => agents.list(tenant, given, pageOf(given, 2)),
    }),
    defineTool({
      name: "svc.agent.search",
      effect: "reads",
      description: "Agents whose name, tags, labels or description have the words of the query, the closest first",
      scope: "agent:list",
      arguments: Type.Object({
        query: Type.String({ minLength: 1, maxLength: 1024 }),
        limit: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
        min_score: Type.Number({ minimum: 0, maximum: 1, default: 0.3 }),
        labels: Type.Record(Type.String(), Type.String(), {
          default: {},
          description: "What they must be labelled with",
        }),
      }),
      call: async (caller, { query, limit, min_score, labels }) => {
        const words = queryWords(query);
        const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
        const items = (await everyAgent(caller.tenant, label))
          .map((agent) => ({ agent, score: searchScore(words, { ...agent, tags: agent.capability_tags }) }))
          .filter(({ score }) => score > 0 && score >= min_score)
          .sort((one, other) => other.score - one.score || (one.agent.name < other.agent.name ? -1 : 1))
          .slice(0, limit)
          .map(({ agent, score }) => {
            const { agent_id, name, description, version, scope, status, capability_tags, labels } = agent;
            return { agent_id, name, description, version, scope, status, capability_tags, labels, score };
          });
        return { items, agents: items, count: items.length };
      },
    }),
    defineTool({
      name: "svc.agent.export",
      effect: "reads",
      description: "The manifest of an agent as it was deployed",
      scope: "agent:read",
      arguments: Type.Object({ name: reference("Name or UUID of the agent") }),
      call: async (caller, { name }) => {
        const key = isUuid(name) ? { id: name.toLowerCase() } : { name };
        const { agent_id, name: found, version, manifest_yaml } = await agents.detail(callerOf(caller), key, null);
        return { agent_id, name: found, version, manifest_yaml };
      },
    }),
    defineTool({
      name: "svc.agent.delete",
      effect: "repeatable",
      description: "Delete an agent; its unfinished executions are cancelled",
      scope: "agent:delete",
      arguments: Type.Object(AgentId),
      call: async (caller, given) => {
        const id = await idOf(caller, given);
        await agents.remove(callerOf(caller), id);
        return { status: "deleted", success: true, id, agent_id: id };
      },
    }),
    defineTool({
      name: "svc.agent.logs",
      effect: "reads",
      description: "A page of the events of an agent and of its executions, oldest first",
      scope: "agent:logs",
      arguments: Type.Object({
        ...AgentId,
        limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
        offset: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 }),
      }),
      call: async (caller, given) => {
        const id = await idOf(caller, given);
        return events(caller.tenant, id, given.limit, given.offset);
      },
    }),
  ];
}
