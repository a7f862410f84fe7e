/** `agents list`, `get`, `versions`, `diff`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { addList } from "../../frame/list.ts";
import { addVerb } from "../../frame/verb.ts";
import { diffLines } from "../../output/diff.ts";
import { say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";
import { usageFailure } from "../../process/exit.ts";
import { agentId, findAgent } from "./find.ts";

const fields: readonly Field<Schemas["AgentDetail"]>[] = [
  { name: "name", value: ({ name }) => name },
  { name: "id", value: ({ id }) => id },
  { name: "version", value: ({ version, revision }) => (revision > 1 ? `${version} (revision ${revision})` : version) },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "description", value: ({ description }) => description },
  { name: "tags", value: ({ capability_tags }) => capability_tags },
  { name: "labels", value: ({ labels }) => Object.entries(labels).map(([name, value]) => `${name}=${value}`) },
  { name: "scope", value: ({ scope }) => scope },
  { name: "executions", value: ({ execution_count }) => execution_count },
  { name: "created", value: ({ created_at }) => created_at, kind: "time" },
  { name: "deployed", value: ({ deployed_at }) => deployed_at, kind: "time" },
];

export function addShow(agents: Command): void {
  addList(agents, {
    words: "list",
    alias: "ls",
    summary: "List agents",
    options: listFilters,
    async page({ client }, query, { status, label, search, type }) {
      const filters = {
        status: statusOf(status),
        label: label === undefined ? undefined : [...label],
        q: search,
        agent_type: type,
      };
      return answer((await client()).GET("/v1/agents", { params: { query: { ...query, ...given(filters) } } }));
    },
    columns: [
      { name: "name", value: ({ name }) => name },
      { name: "version", value: ({ version }) => version },
      { name: "status", value: ({ status }) => status, kind: "status" },
      { name: "executions", value: ({ execution_count }) => execution_count },
      { name: "deployed", value: ({ deployed_at }) => deployed_at, kind: "time" },
      { name: "description", value: ({ description }) => description },
      { name: "id", value: ({ id }) => id },
    ],
    usual: 6,
    live: "agent",
    empty:
      "There are no agents. `svc agents init agent.yaml` writes a manifest, `svc agents deploy agent.yaml` deploys it.",
    examples: [
      ["svc agents list", "List the agents of your tenant"],
      ["svc agents list --label role=judge --columns name,version,id", "Only some, and only these columns"],
    ],
  });
  addGet(agents);
  addVersions(agents);
  addDiff(agents);
}

const listFilters = {
  "--status <status>": { meaning: "only agents in this state", choices: ["active", "paused", "archived"] },
  "--label <name=value...>": "only agents with these labels",
  "-q, --search <text>": "only agents with this text in name or description",
  "--type <role>": "only agents with this label `role`",
} as const;

const statusOf = (text: string | undefined) => (["active", "paused", "archived"] as const).find((one) => one === text);

function addGet(agents: Command): void {
  addVerb(agents, {
    words: "get <agent>",
    alias: "show",
    summary: "Show an agent",
    about: { agent: "name or id" },
    options: {
      "--version <version>": "an earlier version",
      "-m, --manifest": "print the manifest as it was deployed, and nothing else",
    },
    examples: [
      ["svc agents get hello", "Show the current version"],
      ["svc agents get hello --manifest > hello.yaml", "Get the manifest back"],
    ],
    async run({ out, client }, [name], { version, manifest }) {
      const agent = await findAgent(await client(), name, version);
      if (manifest === true) return out.content(agent.manifest_yaml.replace(/\n?$/, "\n"));
      await out.data(agent);
      out.record(fields, agent);
    },
  });
}

function addVersions(agents: Command): void {
  addList(agents, {
    words: "versions <agent>",
    summary: "List the versions of an agent, newest first",
    about: { agent: "name or id" },
    options: versionFilters,
    async page({ client }, { limit }, { revisions }, [name]) {
      const service = await client();
      const path = { id: await agentId(service, name) };
      const query = { limit, ...(revisions === true ? { revisions } : {}) };
      return answer(service.GET("/v1/agents/{id}/versions", { params: { path, query } }));
    },
    columns: [
      { name: "version", value: ({ version }) => version },
      { name: "revision", value: ({ revision }) => revision },
      { name: "current", value: ({ current }) => current },
      { name: "deployed", value: ({ deployed_at }) => deployed_at, kind: "time" },
      { name: "by", value: ({ deployed_by }) => deployed_by },
    ],
    empty: "There are no versions.",
    examples: [["svc agents versions hello --revisions", "Each revision of each version"]],
  });
}

const versionFilters = { "--revisions": "every revision of each version" } as const;

function addDiff(agents: Command): void {
  addVerb(agents, {
    words: "diff <agent> <from> [to]",
    summary: "Compare two versions of an agent",
    about: { agent: "name or id", from: "a version", to: "another one; the current one without it" },
    more: "Ends with 1 where they differ, as `diff` does.",
    examples: [["svc agents diff hello 1.0.0", "What changed since 1.0.0"]],
    async run({ out, client }, [name, from, to]) {
      const service = await client();
      const [former, latter] = await Promise.all([findAgent(service, name, from), findAgent(service, name, to)]);
      if (former.version === latter.version) throw usageFailure(`${former.version} is the same version`);
      const texts = [former, latter].map(({ version, manifest_yaml }) => ({ name: version, text: manifest_yaml }));
      const [one, other] = texts;
      if (one === undefined || other === undefined) return "ok";
      const shown = await diffLines(one, other, out.colours);
      await out.data({
        from: former.version,
        to: latter.version,
        equal: shown.length === 0,
        manifests: texts.map(({ text }) => text),
      });
      for (const line of shown) out.line(line);
      if (shown.length === 0) out.note(say`${former.version} and ${latter.version} have the same manifest`);
      return shown.length === 0 ? "ok" : "failed";
    },
  });
}
