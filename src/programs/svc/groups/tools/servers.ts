/** `tools servers …`, `tools accept`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { confirm } from "../../frame/context.ts";
import { documentOf } from "../../frame/document.ts";
import { addList } from "../../frame/list.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";

const about = { server: "its name" };

const columns: readonly Field<Schemas["ToolServer"]>[] = [
  { name: "name", value: ({ name }) => name },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "transport", value: ({ transport }) => transport },
  { name: "tools", value: ({ tools_count }) => tools_count },
  { name: "withheld", value: ({ withheld_tools }) => withheld_tools },
  { name: "at", value: (item) => item.url ?? [item.executable, ...item.args].join(" ") },
  { name: "enabled", value: ({ enabled }) => enabled },
  { name: "source", value: ({ source }) => source },
  { name: "definitions", value: ({ definitions }) => definitions },
  { name: "version", value: ({ version }) => version },
  { name: "updated", value: ({ updated_at }) => updated_at, kind: "time" },
];

export function addAccept(tools: Command): void {
  addVerb(tools, {
    words: "accept <server> [tool...]",
    summary: "Offer tools again that their server has changed",
    about: { ...about, tool: "these alone; all that are withheld without any" },
    more: "A tool whose description or arguments changed is withheld until a person has read them: `svc tools servers tools SERVER`.",
    examples: [["svc tools accept github", "Take them as they are now"]],
    async run({ out, client }, [name, only]) {
      const params = { path: { name } };
      const body = only.length === 0 ? {} : { tools: [...only] };
      const server = await answer((await client()).POST("/v1/tool-servers/{name}/accept", { params, body }));
      await out.data(server);
      const { withheld_tools } = server;
      out.line(say`${out.colours.green("✓")} ${server.name}: ${withheld_tools.length} tools are withheld`);
    },
  });
}

export function addServers(servers: Command): void {
  addList(servers, {
    words: "list",
    alias: "ls",
    summary: "List servers of tools",
    page: async ({ client }, query) => answer((await client()).GET("/v1/tool-servers", { params: { query } })),
    columns,
    usual: 6,
    empty: "There are no servers of tools. `svc tools servers create FILE` adds one.",
    examples: [["svc tools servers list", "Which run, and which withhold tools"]],
  });
  addVerb(servers, {
    words: "show <server>",
    summary: "Show one with its settings",
    about,
    examples: [["svc tools servers show github", "How it is set up"]],
    async run({ out, client }, [name]) {
      const server = await answer((await client()).GET("/v1/tool-servers/{name}", { params: { path: { name } } }));
      await out.data(server);
      out.record(columns, server);
    },
  });
  addList(servers, {
    words: "tools <server>",
    summary: "List the tools that a server has, those that are withheld as well",
    about,
    page: async ({ client }, query, _options, [name]) =>
      answer((await client()).GET("/v1/tool-servers/{name}/tools", { params: { path: { name }, query } })),
    columns: [
      { name: "name", value: ({ name }) => name },
      { name: "withheld", value: ({ withheld }) => withheld },
      { name: "unjudged", value: ({ skip_judge }) => skip_judge },
      { name: "description", value: ({ description }) => description },
    ],
    empty: "It has no tools.",
    examples: [["svc tools servers tools github", "What it brings"]],
  });
  addList(servers, {
    words: "logs <server>",
    summary: "List what a server wrote to standard error",
    about,
    async page({ client }, { limit }, _options, [name]) {
      const params = { path: { name }, query: { limit } };
      return answer((await client()).GET("/v1/tool-servers/{name}/logs", { params }));
    },
    columns: [
      { name: "at", value: ({ at }) => at, kind: "time" },
      { name: "node", value: ({ node_id }) => node_id },
      { name: "line", value: ({ line }) => line },
    ],
    empty: "It wrote nothing.",
    examples: [["svc tools servers logs github --watch", "Why it does not start"]],
  });
  addChanges(servers);
}

function addChanges(servers: Command): void {
  addVerb(servers, {
    words: "create <name> [command...]",
    summary: "Add a server of tools",
    about: { name: "how its tools begin: NAME.tool", command: "the program with its words, behind --" },
    options: {
      "--endpoint <url>": "of one that runs elsewhere, instead of a command",
      "--file <file>": "all of its settings, in YAML or JSON; - reads standard input",
    },
    takesRest: true,
    examples: [
      ["svc tools servers create docs --endpoint https://docs.example/mcp", "One that runs elsewhere"],
      ["svc tools servers create files -- mcp-files /srv", "A program"],
    ],
    async run({ out, client, io }, [name, command], { file, endpoint }) {
      const settings = file === undefined ? {} : await documentOf(io, "--file", file);
      const [executable, ...args] = command;
      const program = executable === undefined ? {} : { transport: "stdio" as const, executable, args };
      const remote = endpoint === undefined ? {} : { transport: "streamable_http" as const, url: endpoint };
      const body = { ...settings, ...program, ...remote, name };
      const server = await answer((await client()).POST("/v1/tool-servers", { body }));
      await out.data(server);
      out.line(say`${out.colours.green("✓")} Added ${out.colours.bold(server.name)}`);
      out.note(say`See what it brings: svc tools servers tools ${server.name}`);
    },
  });
  addVerb(servers, {
    words: "restart <server>",
    summary: "Begin a server's processes anew",
    about,
    examples: [["svc tools servers restart github", "After its files were changed"]],
    async run({ out, client }, [name]) {
      const params = { path: { name } };
      await out.data(await answer((await client()).POST("/v1/tool-servers/{name}/restart", { params })));
      out.line(say`${out.colours.green("✓")} Restarting ${name}`);
    },
  });
  addVerb(servers, {
    words: "delete <server>",
    alias: "rm",
    summary: "Take a server of tools away",
    about,
    examples: [["svc tools servers delete github --yes", "Without being asked"]],
    async run(context, [name]) {
      await confirm(context, `Delete tool server ${name}`);
      const params = { path: { name } };
      await context.out.data(await answer((await context.client()).DELETE("/v1/tool-servers/{name}", { params })));
      context.out.line(say`${context.out.colours.green("✓")} Deleted ${name}`);
    },
  });
}
