/** `svc tenants`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { oneOf } from "../../frame/choice.ts";
import { confirm } from "../../frame/context.ts";
import { addList } from "../../frame/list.ts";
import { saved } from "../../frame/saved.ts";
import { addVerb } from "../../frame/verb.ts";
import { bytes } from "../../output/cells.ts";
import { say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";

const about = { slug: "the tenant" };
const statuses = ["active", "suspended", "deleted"] as const;
const tiers = ["free", "pro", "business", "enterprise"] as const;

const columns: readonly Field<Schemas["Tenant"]>[] = [
  { name: "slug", value: ({ slug }) => slug },
  { name: "name", value: ({ display_name }) => display_name },
  { name: "kind", value: ({ kind }) => kind },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "tier", value: ({ tier }) => tier },
  { name: "created", value: ({ created_at }) => created_at, kind: "time" },
  { name: "owner", value: ({ owner_email }) => owner_email },
  { name: "realm", value: ({ idp_realm }) => idp_realm },
  { name: "suspended", value: ({ suspend_reason, suspended_at }) => suspend_reason ?? suspended_at },
  { name: "purged", value: ({ purge_at }) => purge_at, kind: "time" },
];

export function tenants(group: Command): void {
  addList(group, {
    words: "list",
    alias: "ls",
    summary: "List tenants",
    options: {
      "--status <status>": { meaning: "in this state", choices: statuses },
      "--tier <tier>": { meaning: "of this tier", choices: tiers },
      "-q, --query <text>": "whose slug or name holds this",
    },
    async page({ client }, query, { status, tier, query: text }) {
      const filters = given({ status: oneOf(statuses, status), tier: oneOf(tiers, tier), q: text });
      return answer((await client()).GET("/v1/admin/tenants", { params: { query: { ...query, ...filters } } }));
    },
    columns,
    usual: 6,
    empty: "There are no such tenants.",
    examples: [["svc tenants list --status suspended", "Who is suspended"]],
  });
  addVerb(group, {
    words: "show <slug>",
    summary: "Show a tenant",
    about,
    examples: [["svc tenants show acme", "Its tier and state"]],
    async run({ out, client }, [slug]) {
      const tenant = await answer((await client()).GET("/v1/admin/tenants/{slug}", { params: { path: { slug } } }));
      await out.data(tenant);
      out.record(columns, tenant);
    },
  });
  addVerb(group, {
    words: "create <slug> [name]",
    summary: "Create a tenant of an enterprise",
    about: { ...about, name: "for people; the slug without it" },
    options: {
      "--tier <tier>": { meaning: "its tier", choices: tiers },
      "--owner <email>": "who owns it",
      "--realm <realm>": "of the issuer that its people sign in at",
    },
    examples: [["svc tenants create acme 'Acme Ltd' --tier business --owner ada@acme.example", "A new customer"]],
    async run({ out, client }, [slug, name = slug], { tier, owner, realm }) {
      const optional = given({ tier: oneOf(tiers, tier), owner_email: owner, idp_realm: realm });
      const body = { slug, display_name: name, ...optional };
      const tenant = await answer((await client()).POST("/v1/admin/tenants", { body }));
      await out.data(tenant);
      out.line(say`${out.colours.green("✓")} Created ${out.colours.bold(tenant.slug)}`);
    },
  });
  addStates(group);
  addVerb(group, {
    words: "export <slug>",
    summary: "Write all that is kept of a tenant into an archive",
    about,
    more: "A tar of JSON Lines, a file for each kind of record, with the files of volumes. Values of secrets, credentials and keys are not in it.",
    options: { "-o, --output <file>": "where to (default SLUG.tar); - is standard output" },
    examples: [["svc tenants export acme -o acme.tar", "Before a tenant leaves"]],
    async run({ out, client, io }, [slug], { output = `${slug}.tar` }) {
      const response = await (await client()).send(`/v1/admin/tenants/${encodeURIComponent(slug)}/export`);
      const size = await saved(io, output, response.body);
      if (output === "-") return;
      await out.data({ file: output, size });
      out.line(say`${out.colours.green("✓")} Wrote ${out.colours.bold(output)}, ${bytes(size)}`);
    },
  });
}

function addStates(group: Command): void {
  addVerb(group, {
    words: "suspend <slug>",
    summary: "Start nothing more of a tenant",
    about,
    options: { "--reason <text>": "why; its people are told" },
    examples: [["svc tenants suspend acme --reason 'unpaid' --yes", "Without being asked"]],
    async run(context, [slug], { reason }) {
      await confirm(context, `Suspend tenant ${slug}`);
      const params = { path: { slug } };
      const body = given({ reason });
      const service = await context.client();
      await context.out.data(await answer(service.POST("/v1/admin/tenants/{slug}/suspend", { params, body })));
      context.out.line(say`${context.out.colours.green("✓")} Suspended ${slug}`);
    },
  });
  addVerb(group, {
    words: "resume <slug>",
    summary: "Let a suspended tenant work again",
    about,
    examples: [["svc tenants resume acme", "It has paid"]],
    async run({ out, client }, [slug]) {
      const params = { path: { slug } };
      await out.data(await answer((await client()).POST("/v1/admin/tenants/{slug}/resume", { params })));
      out.line(say`${out.colours.green("✓")} Resumed ${slug}`);
    },
  });
  addVerb(group, {
    words: "delete <slug>",
    alias: "rm",
    summary: "Delete a tenant: what runs is cancelled, and all of it is erased after 30 days",
    about,
    examples: [["svc tenants delete acme --yes", "Without being asked"]],
    async run(context, [slug]) {
      await confirm(context, `Delete tenant ${slug} with all that it has`);
      const params = { path: { slug } };
      const deleted = await answer((await context.client()).DELETE("/v1/admin/tenants/{slug}", { params }));
      await context.out.data(deleted);
      context.out.line(say`${context.out.colours.green("✓")} Deleted ${slug}; it is erased at ${deleted.purge_at}`);
      context.out.note(say`Until then: svc tenants restore ${slug}`);
    },
  });
  addVerb(group, {
    words: "restore <slug>",
    summary: "Take back that a tenant was deleted",
    about,
    examples: [["svc tenants restore acme", "Before it is erased"]],
    async run({ out, client }, [slug]) {
      const params = { path: { slug } };
      const tenant = await answer((await client()).POST("/v1/admin/tenants/{slug}/restore", { params }));
      await out.data(tenant);
      out.line(say`${out.colours.green("✓")} Restored ${tenant.slug}`);
    },
  });
}
