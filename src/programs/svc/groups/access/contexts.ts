/** `svc contexts`: security contexts. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { confirm } from "../../frame/context.ts";
import { documentOf } from "../../frame/document.ts";
import { addList } from "../../frame/list.ts";
import { addVerb } from "../../frame/verb.ts";
import { lines, say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";

const about = { context: "its name" };

const columns: readonly Field<Schemas["SecurityContext"]>[] = [
  { name: "name", value: ({ name }) => name },
  { name: "allows", value: ({ capabilities }) => capabilities.map(({ tool_pattern }) => tool_pattern) },
  { name: "denies", value: ({ deny_list }) => deny_list },
  { name: "version", value: ({ metadata }) => metadata.version },
  { name: "usable-by", value: ({ usable_by }) => usable_by },
  { name: "tenant", value: ({ tenant_id }) => tenant_id },
  { name: "updated", value: ({ metadata }) => metadata.updated_at, kind: "time" },
  { name: "description", value: ({ description }) => description },
];

export function contexts(group: Command): void {
  addList(group, {
    words: "list",
    alias: "ls",
    summary: "List security contexts: what tools may do",
    page: async ({ client }, query) => answer((await client()).GET("/v1/security-contexts", { params: { query } })),
    columns,
    usual: 4,
    empty: "There are no security contexts.",
    examples: [["svc contexts list", "Which there are, the service's own among them"]],
  });
  addVerb(group, {
    words: "show <context>",
    summary: "Show one with its constraints",
    about,
    examples: [["svc contexts show default", "What it allows"]],
    async run({ out, client }, [name]) {
      const found = await answer((await client()).GET("/v1/security-contexts/{name}", { params: { path: { name } } }));
      await out.data(found);
      out.record(columns, found);
      for (const capability of found.capabilities) out.line(lines(JSON.stringify(capability), "  "));
    },
  });
  addVerb(group, {
    words: "create <file>",
    summary: "Create a security context, or replace one",
    about: { file: "its name, capabilities and deny_list in YAML or JSON; - reads standard input" },
    options: { "--replace": "the one of that name" },
    examples: [["svc contexts create readers.yaml", "From a file"]],
    async run({ out, client, io }, [file], { replace }) {
      const document = await documentOf(io, "A security context", file);
      const service = await client();
      const { name: named, ...rest } = document;
      const name = String(named ?? "");
      // The service reads the whole document and names what is wrong in it.
      const made =
        replace === true
          ? await answer(
              service.PUT("/v1/security-contexts/{name}", { params: { path: { name } }, body: rest as never }),
            )
          : await answer(service.POST("/v1/security-contexts", { body: document as never }));
      await out.data(made);
      const { green, bold } = out.colours;
      out.line(say`${green("✓")} ${replace === true ? "Replaced" : "Created"} ${bold(made.name)}`);
    },
  });
  addVerb(group, {
    words: "delete <context>",
    alias: "rm",
    summary: "Delete a security context: calls that it binds are refused from then on",
    about,
    options: { "-f, --force": "even while an agent names it" },
    examples: [["svc contexts delete readers --yes", "Without being asked"]],
    async run(context, [name], { force }) {
      await confirm(context, `Delete security context ${name}`);
      const params = { path: { name }, query: force === true ? { force } : {} };
      await context.out.data(await answer((await context.client()).DELETE("/v1/security-contexts/{name}", { params })));
      context.out.line(say`${context.out.colours.green("✓")} Deleted ${name}`);
    },
  });
}
