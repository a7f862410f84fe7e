/** `svc secrets`. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { confirm } from "../../frame/context.ts";
import { addList } from "../../frame/list.ts";
import { textOrFile } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { secretText } from "./typed.ts";

const about = { path: "where it lies, as team/database" };

export function secrets(group: Command): void {
  addList(group, {
    words: "list [prefix]",
    alias: "ls",
    summary: "List secrets, without their values",
    about: { prefix: "those below this path" },
    page: async ({ client }, query, _options, [prefix]) =>
      answer(
        (await client()).GET("/v1/secrets", { params: { query: { ...query, ...given({ path_prefix: prefix }) } } }),
      ),
    columns: [
      { name: "name", value: ({ name }) => name },
      { name: "version", value: ({ version }) => version },
      { name: "size", value: ({ size_bytes }) => size_bytes, kind: "bytes" },
      { name: "modified", value: ({ last_modified }) => last_modified, kind: "time" },
    ],
    empty: "There are no secrets here. `svc secrets create PATH` keeps one.",
    examples: [["svc secrets list team/", "What lies below team"]],
  });
  addVerb(group, {
    words: "show <path>",
    summary: "Show a secret; its value only where that is asked for",
    about,
    options: { "--value": "print the value alone" },
    examples: [["svc secrets show team/database --value", "For a script"]],
    async run({ out, client }, [path], { value }) {
      const secret = await answer((await client()).GET("/v1/secrets/{path}", { params: { path: { path } } }));
      if (value === true) {
        await out.data({ value: secret.value });
        if (out.format === "text") out.content(`${secret.value}\n`);
        return;
      }
      const { value: _value, data: _data, ...shown } = secret;
      await out.data(shown);
      out.record<typeof shown>(
        [
          { name: "path", value: (item) => item.path },
          { name: "version", value: (item) => item.version },
          { name: "fields", value: (item) => item.fields },
          { name: "encoding", value: (item) => item.encoding },
          { name: "created", value: (item) => item.created_at, kind: "time" },
          { name: "updated", value: (item) => item.updated_at, kind: "time" },
        ],
        shown,
      );
    },
  });
  addVerb(group, {
    words: "create <path>",
    alias: "set",
    summary: "Keep a secret, or replace its value",
    about,
    more: "Values among the words of a command are seen by other users of the machine: give it a file or standard input.",
    options: { "--value <value>": "the value; @FILE reads a file, @- standard input, which is read without it" },
    examples: [["pass database | svc secrets create team/database", "From another program"]],
    async run({ out, client, io }, [path], { value }) {
      const text = value === undefined ? await secretText(io) : await textOrFile(io, value);
      const params = { path: { path } };
      const written = await answer((await client()).PUT("/v1/secrets/{path}", { params, body: { value: text } }));
      await out.data(written);
      out.line(say`${out.colours.green("✓")} ${written.path} is at version ${written.version}`);
    },
  });
  addVerb(group, {
    words: "delete <path>",
    alias: "rm",
    summary: "Delete a secret: its value is erased",
    about,
    examples: [["svc secrets delete team/database --yes", "Without being asked"]],
    async run(context, [path]) {
      await confirm(context, `Delete secret ${path}`);
      const params = { path: { path } };
      await context.out.data(await answer((await context.client()).DELETE("/v1/secrets/{path}", { params })));
      context.out.line(say`${context.out.colours.green("✓")} Deleted ${path}`);
    },
  });
}
