/** `svc limits`. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { confirm } from "../../frame/context.ts";
import { addList } from "../../frame/list.ts";
import { whole } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { usageFailure } from "../../process/exit.ts";

export function limits(group: Command): void {
  addList(group, {
    words: "list",
    alias: "ls",
    summary: "List how much of your rates is used",
    page: async ({ client }) => answer((await client()).GET("/v1/user/rate-limits")),
    columns: [
      { name: "resource", value: ({ resource_type }) => resource_type },
      { name: "bucket", value: ({ bucket }) => bucket },
      { name: "used", value: ({ current_count }) => current_count },
      { name: "limit", value: ({ limit_value }) => limit_value },
      { name: "resets", value: ({ resets_at }) => resets_at, kind: "time" },
      { name: "scope", value: ({ scope_type }) => scope_type },
      { name: "of", value: ({ scope_id }) => scope_id },
    ],
    usual: 5,
    empty: "No rate is limited.",
    examples: [["svc limits list --watch", "Watch them fill"]],
  });
  addList(group, {
    words: "overrides",
    summary: "List limits that take the place of a tier's own",
    options: { "--of-tenant <slug>": "of this tenant" },
    async page({ client }, query, { ofTenant }) {
      const params = { query: { ...query, ...given({ tenant_id: ofTenant }) } };
      return answer((await client()).GET("/v1/admin/rate-limits/overrides", { params }));
    },
    columns: [
      { name: "id", value: ({ id }) => id },
      { name: "tenant", value: ({ tenant_id }) => tenant_id },
      { name: "user", value: ({ user_id }) => user_id },
      { name: "resource", value: ({ resource_type }) => resource_type },
      { name: "bucket", value: ({ bucket }) => bucket },
      { name: "limit", value: ({ limit_value }) => limit_value },
      { name: "burst", value: ({ burst_value }) => burst_value },
    ],
    empty: "There are no overrides.",
    examples: [["svc limits overrides --of-tenant acme", "What acme has of its own"]],
  });
  addVerb(group, {
    words: "set <resource> <bucket> <limit>",
    summary: "Set a limit of a tenant or a user",
    about: { resource: "as `svc limits list` has it", bucket: "as per_minute", limit: "how many" },
    options: {
      "--of-tenant <slug>": "of this tenant",
      "--user <id>": "of this user",
      "--realm <realm>": "of the user",
      "--burst <n>": "how many at once",
    },
    examples: [["svc limits set agent_execution per_minute 600 --of-tenant acme", "More for acme"]],
    async run({ out, client }, [resource, bucket, limit], { ofTenant, user, realm, burst }) {
      const most = 1_000_000_000;
      const value = whole("The limit", limit, 0, most);
      if (value === undefined) throw usageFailure("A limit is needed");
      const body = {
        ...{ resource_type: resource, bucket, limit_value: value },
        ...given({ burst_value: whole("--burst", burst, 1, most), tenant_id: ofTenant, user_id: user, realm }),
      };
      const params = { header: once() };
      const made = await answer((await client()).POST("/v1/admin/rate-limits/overrides", { params, body }));
      await out.data(made);
      out.line(say`${out.colours.green("✓")} ${made.resource_type} ${made.bucket}: ${made.limit_value} (${made.id})`);
    },
  });
  addVerb(group, {
    words: "delete <override>",
    alias: "rm",
    summary: "Go back to what holds without an override",
    about: { override: "its id" },
    examples: [["svc limits delete 0190a1b2-… --yes", "Without being asked"]],
    async run(context, [id]) {
      await confirm(context, `Delete override ${id}`);
      const params = { path: { id } };
      const service = await context.client();
      await context.out.data(await answer(service.DELETE("/v1/admin/rate-limits/overrides/{id}", { params })));
      context.out.line(say`${context.out.colours.green("✓")} Deleted ${id}`);
    },
  });
}
