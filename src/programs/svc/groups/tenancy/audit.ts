/** `svc audit`. */
import type { Command } from "commander";
import { answer, type Client } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { oneOf } from "../../frame/choice.ts";
import type { Context } from "../../frame/context.ts";
import { addList, type PageQuery } from "../../frame/list.ts";
import { saved } from "../../frame/saved.ts";
import { instant } from "../../frame/values.ts";
import { addVerb, type OptionValues } from "../../frame/verb.ts";
import { bytes } from "../../output/cells.ts";
import { say } from "../../output/inert.ts";

const outcomes = ["allowed", "denied", "failed"] as const;

const filters = {
  "--actor <id>": "by this one",
  "--action <name>": "of this kind, as agent.deploy",
  "--target-type <type>": "on such a record",
  "--target <id>": "on this record",
  "--outcome <outcome>": { meaning: "that ended so", choices: outcomes },
  "--since <time>": "since then, as 24h or 2026-01-31",
  "--until <time>": "until then",
  "--all-tenants": "of every tenant, for operators",
} as const;
type Filters = OptionValues<typeof filters>;

const queryOf = ({ io }: Context, { actor, action, targetType, target, outcome, since, until }: Filters) =>
  given({
    ...{ actor, action, target_type: targetType, target_id: target },
    outcome: oneOf(outcomes, outcome),
    since: instant("--since", since, io.now()),
    until: instant("--until", until, io.now()),
  });

function page(service: Client, query: PageQuery, isOfAll: boolean) {
  return isOfAll
    ? answer(service.GET("/v1/admin/audit", { params: { query } }))
    : answer(service.GET("/v1/audit", { params: { query } }));
}
type Entry = Extract<Awaited<ReturnType<typeof page>>, { items: unknown }>["items"][number];

export function audit(group: Command): void {
  addList(group, {
    words: "list",
    alias: "ls",
    summary: "List who changed what, newest first",
    options: filters,
    async page(context, query, options) {
      const service = await context.client();
      return page(service, { ...query, ...queryOf(context, options) }, options.allTenants === true);
    },
    columns: [
      { name: "at", value: ({ at }: Entry) => at, kind: "time" },
      { name: "actor", value: ({ actor }) => actor.name ?? actor.user_id ?? actor.kind },
      { name: "action", value: ({ action }) => action },
      { name: "target", value: ({ target }) => `${target.type} ${target.id}` },
      { name: "outcome", value: ({ outcome }) => outcome, kind: "status" },
      { name: "id", value: ({ id }) => id },
      { name: "tenant", value: ({ tenant_id }) => tenant_id },
      { name: "ip", value: ({ ip }) => ip },
      { name: "request", value: ({ request_id }) => request_id },
      { name: "details", value: ({ details }) => details },
    ],
    usual: 5,
    empty: "There are no such entries.",
    examples: [["svc audit list --since 24h --outcome denied", "What was refused today"]],
  });
  addVerb(group, {
    words: "export",
    summary: "Write the audit log as lines of JSON",
    options: { ...filters, "-o, --output <file>": "where to; standard output without it" },
    examples: [["svc audit export --since 30d -o audit.ndjson", "The last month"]],
    async run(context, _words, options) {
      const { out, io } = context;
      const { output = "-" } = options;
      const query = new URLSearchParams({ ...queryOf(context, options), format: "ndjson" });
      const path = options.allTenants === true ? "/v1/admin/audit" : "/v1/audit";
      const response = await (await context.client()).send(`${path}?${query}`);
      const size = await saved(io, output, response.body);
      if (output === "-") return;
      await out.data({ file: output, size });
      out.line(say`${out.colours.green("✓")} Wrote ${out.colours.bold(output)}, ${bytes(size)}`);
    },
  });
}
