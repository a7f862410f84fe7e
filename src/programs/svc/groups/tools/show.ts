/** `tools list`, `show`. */
import type { Command } from "commander";
import { answer, type Client } from "../../../client/client.ts";
import { items } from "../../../client/pages.ts";
import { given } from "../../frame/body.ts";
import { oneOf } from "../../frame/choice.ts";
import { addList } from "../../frame/list.ts";
import { addVerb } from "../../frame/verb.ts";
import { lines, say } from "../../output/inert.ts";
import { Failure } from "../../process/exit.ts";

const kinds = ["builtin", "management", "mcp", "edge"] as const;
const page = (client: Client, query: { readonly limit: number; readonly cursor?: string }) =>
  answer(client.GET("/v1/seal/tools", { params: { query } }));
type Tool = Awaited<ReturnType<typeof page>>["items"][number];

export function addShow(tools: Command): void {
  addList(tools, {
    words: "list",
    alias: "ls",
    summary: "List the tools that agents and callers have",
    options: {
      "--security-context <name>": "those that this security context allows",
      "--source <kind>": { meaning: "of this kind", choices: kinds },
      "-q, --query <text>": "whose name or description holds this",
    },
    async page({ client }, query, options) {
      const filters = given({
        q: options.query,
        source: oneOf(kinds, options.source),
        security_context: options.securityContext,
      });
      return answer((await client()).GET("/v1/seal/tools", { params: { query: { ...query, ...filters } } }));
    },
    columns: [
      { name: "name", value: ({ name }) => name },
      { name: "source", value: ({ source, server }) => server ?? source },
      { name: "runs", value: ({ executor }) => executor },
      { name: "reads-only", value: ({ annotations }) => annotations.readOnlyHint },
      { name: "description", value: ({ description }) => description },
      { name: "destructive", value: ({ annotations }) => annotations.destructiveHint },
      { name: "aliases", value: ({ aliases }) => aliases },
    ],
    usual: 5,
    empty: "There are no such tools.",
    examples: [
      ["svc tools list -q file", "What has to do with files"],
      ["svc tools list --source mcp", "What servers of tools bring"],
    ],
  });
  addVerb(tools, {
    words: "show <tool>",
    summary: "Show what a tool does and what it takes",
    about: { tool: "its name" },
    examples: [["svc tools show fs.read", "Its arguments"]],
    async run({ out, client }, [name]) {
      const tool = await findTool(await client(), name);
      await out.data(tool);
      out.line(
        say`${out.colours.bold(tool.name)} ${out.colours.dim(`${tool.server ?? tool.source}, runs in the ${tool.executor}`)}`,
      );
      out.line(lines(tool.description));
      out.line(say``);
      out.line(lines(JSON.stringify(tool.input_schema, null, 2)));
    },
  });
}

async function findTool(client: Client, name: string): Promise<Tool> {
  const read = (cursor: string | undefined) => page(client, { limit: 200, ...given({ cursor }) });
  for await (const tool of items<Tool>(read)) if (tool.name === name || tool.aliases.includes(name)) return tool;
  throw new Failure("conflict", `There is no tool ${name}`, "`svc tools list` tells which there are.", "not_found");
}
