/** `svc credentials`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { oneOf } from "../../frame/choice.ts";
import { confirm } from "../../frame/context.ts";
import { addList } from "../../frame/list.ts";
import { textOrFile } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";
import { secretText } from "./typed.ts";

const about = { credential: "its id" };
const statuses = ["pending_oauth", "active", "expired", "revoked"] as const;
const kinds = ["secret", "variable", "service_account"] as const;

const columns: readonly Field<Schemas["Credential"]>[] = [
  { name: "id", value: ({ id }) => id },
  { name: "provider", value: ({ provider }) => provider },
  { name: "label", value: ({ label }) => label },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "scope", value: ({ scope }) => scope },
  { name: "grants", value: ({ grants_count }) => grants_count },
  { name: "used", value: ({ last_used_at }) => last_used_at, kind: "time" },
  { name: "type", value: ({ credential_type }) => credential_type },
  { name: "version", value: ({ version }) => version },
  { name: "expires", value: ({ expires_at }) => expires_at, kind: "time" },
  { name: "created", value: ({ created_at }) => created_at, kind: "time" },
];

export function credentials(group: Command): void {
  addList(group, {
    words: "list",
    alias: "ls",
    summary: "List credentials for other services, without their values",
    options: {
      "--provider <name>": "of this provider",
      "--status <status>": { meaning: "in this state", choices: statuses },
    },
    async page({ client }, query, { provider, status }) {
      const filters = given({ provider, status: oneOf(statuses, status) });
      return answer((await client()).GET("/v1/credentials", { params: { query: { ...query, ...filters } } }));
    },
    columns,
    usual: 7,
    empty: "There are no credentials. `svc credentials create PROVIDER` keeps one.",
    examples: [["svc credentials list --provider github", "What agents may use of GitHub"]],
  });
  addVerb(group, {
    words: "show <credential>",
    summary: "Show one with what may use it",
    about,
    examples: [["svc credentials show 0190a1b2-…", "Who may use it"]],
    async run({ out, client }, [id]) {
      const service = await client();
      const params = { path: { id } };
      const { credential } = await answer(service.GET("/v1/credentials/{id}", { params }));
      const { items } = await answer(service.GET("/v1/credentials/{id}/grants", { params }));
      await out.data({ ...credential, grants: items });
      out.record(columns, credential);
      for (const { target, grant_id } of items)
        out.line(say`  ${target.type} ${target.value ?? ""} ${out.colours.dim(grant_id)}`);
    },
  });
  addVerb(group, {
    words: "create <provider>",
    summary: "Keep a key for another service",
    about: { provider: "whose it is, as github" },
    more: "Nothing may use it until it is granted.",
    options: {
      "--value <value>": "the key; @FILE reads a file; without it standard input is read",
      "--label <text>": "for people",
      "--tenant-wide": "of the whole tenant, not of you alone",
      "--type <type>": { meaning: "what it is (default secret)", choices: kinds },
    },
    examples: [["svc credentials create github --value @token.txt --label deploys", "From a file"]],
    async run({ out, client, io }, [provider], { value, label, tenantWide, type }) {
      const text = (value === undefined ? await secretText(io) : await textOrFile(io, value)).trim();
      const optional = given({ label, credential_type: oneOf(kinds, type) });
      const body = { provider, value: text, ...optional, ...(tenantWide === true ? { scope: "tenant" } : {}) };
      const params = { header: once() };
      const made = await answer((await client()).POST("/v1/credentials/api-key", { params, body }));
      await out.data(made);
      out.line(say`${out.colours.green("✓")} Kept ${out.colours.bold(made.provider)} ${made.id}`);
    },
  });
  addVerb(group, {
    words: "rotate <credential>",
    summary: "Replace the value",
    about,
    options: { "--value <value>": "the new one; @FILE reads a file; without it standard input is read" },
    examples: [["svc credentials rotate 0190a1b2-… --value @token.txt", "Grants stay"]],
    async run({ out, client, io }, [id], { value }) {
      const text = (value === undefined ? await secretText(io) : await textOrFile(io, value)).trim();
      const params = { path: { id }, header: once() };
      const body = { new_value: text };
      const rotated = await answer((await client()).POST("/v1/credentials/{id}/rotate", { params, body }));
      await out.data(rotated);
      out.line(say`${out.colours.green("✓")} ${rotated.provider} is at version ${rotated.version}`);
    },
  });
  addVerb(group, {
    words: "grant <credential>",
    summary: "Let an agent or a workflow use it",
    about,
    options: { "--agent <id>": "this agent", "--workflow <name>": "this workflow", "--all-agents": "every agent" },
    examples: [["svc credentials grant 0190a1b2-… --workflow release", "For one workflow"]],
    async run({ out, client }, [id], { agent, workflow, allAgents }) {
      const params = { path: { id }, header: once() };
      const body = {
        ...given({ agent_id: agent, workflow_name: workflow }),
        ...(allAgents === true ? { target_type: "all_agents" as const } : {}),
      };
      const grant = await answer((await client()).POST("/v1/credentials/{id}/grants", { params, body }));
      await out.data(grant);
      out.line(say`${out.colours.green("✓")} Granted to ${grant.target.type} ${grant.target.value ?? ""}`);
    },
  });
  addVerb(group, {
    words: "delete <credential>",
    alias: "rm",
    summary: "Revoke a credential: its value is erased, its grants end",
    about,
    examples: [["svc credentials delete 0190a1b2-… --yes", "Without being asked"]],
    async run(context, [id]) {
      await confirm(context, `Delete credential ${id} with its grants`);
      const params = { path: { id } };
      await context.out.data(await answer((await context.client()).DELETE("/v1/credentials/{id}", { params })));
      context.out.line(say`${context.out.colours.green("✓")} Deleted ${id}`);
    },
  });
}
