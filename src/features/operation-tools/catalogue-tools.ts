/** Tools that tell of what there is: schemas of manifests, tools, runtimes, files of executions. */
import { closeSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { agentSchema } from "../../../actors/agent/manifest/manifest.ts";
import type { NodeOffer } from "../../../actors/agent/manifest/spec.ts";
import { isObject } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { canonicalName, patternCovers } from "../../../actors/tool/catalog.ts";
import { workflowSchema } from "../../../actors/workflow/manifest/manifest.ts";
import type { Agents } from "../agents/port.ts";
import { auditedAgent } from "../audit/port.ts";
import type { ExecutionFiles } from "../executions/port.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../management-tools/port.ts";
import { readBytes, textOf } from "../tools/fs/port.ts";
import { type RegisteredTool, ToolFailure, type ToolRegistry } from "../tools/port.ts";
import type { Workflows } from "../workflows/definitions/feature.ts";

export interface CatalogueToolOptions {
  readonly agents: Pick<Agents, "deploy"> & { readonly offer: Pick<NodeOffer, "runtimes"> };
  readonly workflows: Pick<Workflows, "validate">;
  readonly registry: Pick<ToolRegistry, "of">;
  readonly files: Pick<ExecutionFiles, "open">;
}

/** By the key that `schema.get` is asked for. */
const schemas: ReadonlyMap<string, object> = new Map([
  ["agent", agentSchema],
  ["workflow", workflowSchema],
]);
/** Bytes of a file in one answer. */
const maxFileBytes = 1_048_576;
const Kind = Type.Union([Type.Literal("agent"), Type.Literal("workflow")]);

export function catalogueTools({
  agents,
  workflows,
  registry,
  files,
}: CatalogueToolOptions): readonly ManagementTool[] {
  const toolsOf = async (caller: ToolCaller) => (await openedTools(registry, caller)).map(shownTool);
  return [
    defineTool({
      name: "svc.schema.get",
      effect: "reads",
      description: "The JSON Schema of a kind of manifest: agent or workflow",
      scope: "agent:read",
      arguments: Type.Object({ key: Type.String({ minLength: 1, maxLength: 256 }) }),
      call: async (_, { key }) => {
        const schema = schemas.get(key.replace(/^\/?(?:schemas\/)?/, "").replace(/\.json$/, ""));
        if (schema === undefined) throw new ToolFailure("not_found", `There are the schemas ${[...schemas.keys()]}`);
        return { key, schema };
      },
    }),
    defineTool({
      name: "svc.schema.validate",
      effect: "reads",
      description: "Judge a manifest of an agent or a workflow and store nothing",
      scope: "agent:read",
      arguments: Type.Object({ kind: Kind, manifest_yaml: Type.String({ minLength: 1 }) }),
      call: async (caller, { kind, manifest_yaml: text }) => {
        if (kind === "workflow") return { kind, ...(await workflows.validate(caller, text)) };
        return { kind, ...(await judgedAgent(agents, caller, text)) };
      },
    }),
    defineTool({
      name: "svc.tools.list",
      effect: "reads",
      description: "The tools that the caller may use",
      scope: "agent:read",
      arguments: Type.Object({ source: Type.Optional(Type.String({ maxLength: 64 })) }),
      call: async (caller, { source }) => {
        const tools = (await toolsOf(caller)).filter((tool) => source === undefined || tool.source === source);
        return { tools, items: tools, count: tools.length };
      },
    }),
    defineTool({
      name: "svc.tools.search",
      effect: "reads",
      description: "Tools whose name or description has every word of the query, the closest first",
      scope: "agent:read",
      arguments: Type.Object({
        query: Type.String({ minLength: 1, maxLength: 256 }),
        limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
      }),
      call: async (caller, { query, limit }) => {
        const words = query.toLowerCase().split(/\s+/).filter(Boolean);
        const ranked = (await toolsOf(caller))
          .map((tool) => ({ tool, rank: rankOf(tool, words) }))
          .filter(({ rank }) => rank > 0)
          .sort((one, other) => other.rank - one.rank || (one.tool.name < other.tool.name ? -1 : 1));
        const tools = ranked.slice(0, limit).map(({ tool }) => tool);
        return { tools, items: tools, count: tools.length };
      },
    }),
    defineTool({
      name: "svc.runtime.list",
      effect: "reads",
      description: "The runtimes that a manifest may name by language and version",
      scope: "agent:read",
      arguments: Type.Object({ language: Type.Optional(Type.String({ maxLength: 64 })) }),
      call: async (_, { language }) => {
        const items = agents.offer.runtimes
          .filter((runtime) => language === undefined || runtime.language === language)
          .map(({ bootstrapEnv: __, ...shown }) => shown);
        return { items, count: items.length };
      },
    }),
    defineTool({
      name: "svc.execution.file",
      effect: "reads",
      description: "A file of an execution, at most 1 MiB of it; binary content comes as base64",
      scope: "execution:read",
      arguments: Type.Object({
        execution_id: Type.String({ format: "uuid" }),
        path: Type.String({ minLength: 1, maxLength: 4096 }),
      }),
      call: async ({ tenant }, { execution_id, path }) => {
        const file = await files.open(tenant, execution_id.toLowerCase(), path);
        try {
          const bytes = readBytes(file.fd, 0, maxFileBytes);
          const text = textOf(bytes);
          return {
            execution_id,
            path,
            content: text ?? bytes.toString("base64"),
            encoding: text === null ? "base64" : "utf-8",
            size_bytes: file.stats.size,
            truncated: file.stats.size > bytes.length,
          };
        } finally {
          closeSync(file.fd);
        }
      },
    }),
  ];
}

/** The tools that manifest and session open to the caller. */
export async function openedTools(
  registry: Pick<ToolRegistry, "of">,
  caller: ToolCaller,
): Promise<readonly RegisteredTool[]> {
  return (await registry.of(caller.tenant)).listed.filter((tool) => isOpened(tool, caller));
}

/** Whether manifest and session open the tool; whether the context does is said by the call itself. */
function isOpened({ name }: RegisteredTool, { policy }: ToolCaller): boolean {
  const granted = policy?.tools ?? null;
  const patterns = policy?.patterns ?? null;
  const covers = (pattern: string) => patternCovers(pattern, name);
  return (granted === null || granted.some((one) => covers(one.name))) && (patterns === null || patterns.some(covers));
}

const shownTool = ({ name, aliases, description, inputSchema, source, server }: RegisteredTool) => ({
  name,
  aliases: [...aliases],
  description,
  input_schema: inputSchema,
  source,
  ...(server === undefined ? {} : { server }),
});

/** 0: some word is nowhere in it. A word in the name counts more than one in the description. */
function rankOf(tool: { readonly name: string; readonly description: string }, words: readonly string[]): number {
  const name = canonicalName(tool.name).toLowerCase();
  const description = tool.description.toLowerCase();
  let rank = 0;
  for (const word of words) {
    if (!name.includes(word) && !description.includes(word)) return 0;
    rank += name.includes(word) ? 2 : 1;
  }
  return rank;
}

/** What a deployment would say of a manifest, as the route of workflows says it of theirs. */
async function judgedAgent(agents: CatalogueToolOptions["agents"], caller: ToolCaller, text: string) {
  const { tenant, identity, signal } = caller;
  const by = auditedAgent(caller);
  const options = { force: true, scope: "tenant", dry_run: true } as const;
  try {
    const { warnings } = await agents.deploy({ tenant, identity, by, signal }, { mediaType: null, text }, options);
    return { valid: true, issues: [], warnings };
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const { issues } = error.extras as { readonly issues?: unknown };
    const told = Array.isArray(issues) ? issues.filter(isObject) : [];
    return {
      valid: false,
      issues: told.length > 0 ? told : [{ path: "", code: error.code, message: error.message }],
      warnings: [],
    };
  }
}

/** Characters of what a tool says of itself. */
const briefCharacters = 160;

/**
 * A tool as the writer of manifests reads it. What the writer answers is deployed, so it reads no words of tool servers:
 * these are known by their names alone.
 */
export const briefly = ({ name, description, source }: Pick<RegisteredTool, "name" | "description" | "source">) =>
  source === "mcp" ? name : `${name}: ${description.slice(0, briefCharacters).toWellFormed()}`;
