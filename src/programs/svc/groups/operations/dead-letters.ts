/** `svc dead-letters`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { addList } from "../../frame/list.ts";
import { instant } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { lines, say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";

const about = { letter: "its id" };

const columns: readonly Field<Omit<Schemas["DeadLetter"], "body">>[] = [
  { name: "id", value: ({ id }) => id },
  { name: "tenant", value: ({ tenant_id }) => tenant_id },
  { name: "kind", value: ({ kind }) => kind },
  { name: "message", value: ({ message }) => message },
  { name: "created", value: ({ created_at }) => created_at, kind: "time" },
  { name: "replayed", value: ({ replayed_at }) => replayed_at, kind: "time" },
  { name: "error", value: ({ error }) => error },
  { name: "key", value: ({ key }) => key },
  { name: "attempts", value: ({ attempts }) => attempts },
];

export function deadLetters(group: Command): void {
  addList(group, {
    words: "list",
    alias: "ls",
    summary: "List messages whose turn failed for good, newest first",
    options: {
      "--of-tenant <slug>": "of this tenant",
      "--kind <kind>": "of this kind of record",
      "--since <time>": "since then, as 24h or 2026-01-31",
    },
    async page({ client, io }, query, { ofTenant, kind, since }) {
      const filters = given({ tenant_id: ofTenant, kind, since: instant("--since", since, io.now()) });
      return answer((await client()).GET("/v1/admin/dead-letters", { params: { query: { ...query, ...filters } } }));
    },
    columns,
    usual: 7,
    empty: "There are no dead letters.",
    examples: [["svc dead-letters list --since 24h", "What failed today"]],
  });
  addVerb(group, {
    words: "show <letter>",
    summary: "Show one with the body of its message",
    about,
    examples: [["svc dead-letters show 0190a1b2-…", "What the message was"]],
    async run({ out, client }, [id]) {
      const letter = await answer((await client()).GET("/v1/admin/dead-letters/{id}", { params: { path: { id } } }));
      await out.data(letter);
      out.record(columns, letter);
      out.line(lines(JSON.stringify(letter.body, null, 2)));
    },
  });
  addVerb(group, {
    words: "replay <letter...>",
    summary: "Deliver messages once more",
    about: { letter: "their ids" },
    examples: [["svc dead-letters replay 0190a1b2-…", "After what broke it was mended"]],
    async run({ out, client }, [ids]) {
      const service = await client();
      for (const id of ids) {
        const params = { path: { id } };
        await out.event(await answer(service.POST("/v1/admin/dead-letters/{id}/replay", { params })));
        out.line(say`${out.colours.green("✓")} Replayed ${id}`);
      }
    },
  });
}
