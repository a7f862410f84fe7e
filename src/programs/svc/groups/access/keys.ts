/** `svc keys`: API keys. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { oneOf } from "../../frame/choice.ts";
import { confirm } from "../../frame/context.ts";
import { addList } from "../../frame/list.ts";
import { seconds } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";

const about = { key: "its id" };
const statuses = ["active", "revoked", "expired"] as const;

const columns: readonly Field<Schemas["ApiKey"]>[] = [
  { name: "id", value: ({ id }) => id },
  { name: "name", value: ({ name }) => name },
  { name: "key", value: ({ prefix, last4 }) => `${prefix}…${last4}` },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "expires", value: ({ expires_at }) => expires_at, kind: "time" },
  { name: "used", value: ({ last_used_at }) => last_used_at, kind: "time" },
  { name: "scopes", value: ({ scopes }) => scopes },
  { name: "owner", value: ({ owner_user_id }) => owner_user_id },
  { name: "created", value: ({ created_at }) => created_at, kind: "time" },
];

export function keys(group: Command): void {
  addList(group, {
    words: "list",
    alias: "ls",
    summary: "List your API keys",
    options: {
      "--all": "those of others as well",
      "--status <status>": { meaning: "in this state", choices: statuses },
    },
    async page({ client }, query, { all, status }) {
      const filters = given({ all, status: oneOf(statuses, status) });
      return answer((await client()).GET("/v1/api-keys", { params: { query: { ...query, ...filters } } }));
    },
    columns,
    usual: 6,
    empty: "There are no API keys. `svc keys create NAME` makes one.",
    examples: [["svc keys list", "Which are in use"]],
  });
  addVerb(group, {
    words: "show <key>",
    summary: "Show one, without its text",
    about,
    examples: [["svc keys show 0190a1b2-…", "What it may do"]],
    async run({ out, client }, [id]) {
      const key = await answer((await client()).GET("/v1/api-keys/{id}", { params: { path: { id } } }));
      await out.data(key);
      out.record(columns, key);
    },
  });
  addVerb(group, {
    words: "create <name>",
    summary: "Make an API key; it is printed once and never again",
    about: { name: "for people" },
    options: {
      "--scope <scope...>": "what it may do; all that you may without any",
      "--expires <time>": "after this time, as 90d",
    },
    examples: [["svc keys create ci --scope agent:execute --expires 90d", "For a build"]],
    async run({ out, client, io }, [name], { scope, expires }) {
      const lives = seconds("--expires", expires);
      const body = {
        name,
        ...given({
          scopes: scope === undefined ? undefined : [...scope],
          expires_at: lives === undefined ? undefined : new Date(io.now() + lives * 1_000).toISOString(),
        }),
      };
      const made = await answer((await client()).POST("/v1/api-keys", { params: { header: once() }, body }));
      await out.data(made);
      out.line(say`${made.api_key}`);
      out.note(say`${out.noteColours.green("✓")} Created ${made.name} (${made.id}); the key is shown this once`);
    },
  });
  addVerb(group, {
    words: "rotate <key>",
    summary: "Replace the text of a key",
    about,
    options: { "--keep <time>": "how long the former one is good as well, as 1h" },
    examples: [["svc keys rotate 0190a1b2-… --keep 1h", "Give its users an hour"]],
    async run({ out, client }, [id], { keep }) {
      const body = given({ grace_seconds: seconds("--keep", keep) });
      const params = { path: { id }, header: once() };
      const made = await answer((await client()).POST("/v1/api-keys/{id}/rotate", { params, body }));
      await out.data(made);
      out.line(say`${made.api_key}`);
      out.note(say`${out.noteColours.green("✓")} ${made.name} has a new text; it is shown this once`);
    },
  });
  addVerb(group, {
    words: "delete <key>",
    alias: "rm",
    summary: "End a key, with those that were made with it",
    about,
    examples: [["svc keys delete 0190a1b2-… --yes", "Without being asked"]],
    async run(context, [id]) {
      await confirm(context, `End API key ${id} with those that were made with it`);
      const params = { path: { id } };
      await context.out.data(await answer((await context.client()).DELETE("/v1/api-keys/{id}", { params })));
      context.out.line(say`${context.out.colours.green("✓")} Deleted ${id}`);
    },
  });
}
