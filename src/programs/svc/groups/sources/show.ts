/** `sources list`, `show`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { addList } from "../../frame/list.ts";
import { addVerb } from "../../frame/verb.ts";
import type { Field } from "../../output/output.ts";
import { aboutSource, findSource } from "./find.ts";

const columns: readonly Field<Schemas["Source"]>[] = [
  { name: "id", value: ({ id }) => id },
  { name: "source", value: ({ source }) => source },
  { name: "workflow", value: ({ workflow }) => workflow },
  { name: "signature", value: ({ signature }) => signature.preset },
  { name: "enabled", value: ({ enabled }) => enabled },
  { name: "last", value: ({ last_received_at }) => last_received_at, kind: "time" },
  { name: "secret", value: ({ secret_source }) => secret_source },
  { name: "ignored", value: ({ ignored_count }) => ignored_count },
  { name: "events", value: ({ events }) => events },
  { name: "match", value: ({ match }) => match },
  { name: "url", value: ({ url }) => url },
  { name: "description", value: ({ description }) => description },
  { name: "created", value: ({ created_at }) => created_at, kind: "time" },
];

export function addShow(sources: Command): void {
  addList(sources, {
    words: "list",
    alias: "ls",
    summary: "List what may send webhooks, and what each of them starts",
    options: { "--source <name>": "those of this name" },
    page: async ({ client }, query, { source }) =>
      answer((await client()).GET("/v1/stimulus-routes", { params: { query: { ...query, ...given({ source }) } } })),
    columns,
    usual: 6,
    empty: "There are no sources. `svc sources create NAME --workflow WORKFLOW` makes one.",
    examples: [["svc sources list --columns source,url", "Where to send"]],
  });
  addVerb(sources, {
    words: "show <source>",
    summary: "Show one with its address",
    about: aboutSource,
    examples: [["svc sources show github", "How it is set up"]],
    async run({ out, client }, [word]) {
      const found = await findSource(await client(), word);
      await out.data(found);
      out.record(columns, found);
    },
  });
}
