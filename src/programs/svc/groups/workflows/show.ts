/** `workflows list`, `get`, `versions`, `diff`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { addList } from "../../frame/list.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";

const about = { workflow: "name or id" };

const fields: readonly Field<Schemas["WorkflowDetail"]>[] = [
  { name: "name", value: ({ name }) => name },
  { name: "id", value: ({ id }) => id },
  { name: "version", value: ({ version, versions_count }) => `${version} (of ${versions_count})` },
  { name: "description", value: ({ description }) => description },
  { name: "tags", value: ({ tags }) => tags },
  { name: "labels", value: ({ labels }) => Object.entries(labels).map(([name, value]) => `${name}=${value}`) },
  { name: "scope", value: ({ scope }) => scope },
  { name: "runs", value: ({ execution_count }) => execution_count },
  { name: "registered", value: ({ registered_at }) => registered_at, kind: "time" },
];

export function addShow(workflows: Command): void {
  addList(workflows, {
    words: "list",
    alias: "ls",
    summary: "List workflows",
    options: {
      "--label <name=value...>": "only workflows with these labels",
      "--tag <tag>": "only workflows with this tag",
      "--all-versions": "every version of each",
    },
    async page({ client }, query, { label, tag, allVersions }) {
      const filters = given({ label: label === undefined ? undefined : [...label], tag, all_versions: allVersions });
      return answer((await client()).GET("/v1/workflows", { params: { query: { ...query, ...filters } } }));
    },
    columns: [
      { name: "name", value: ({ name }) => name },
      { name: "version", value: ({ version }) => version },
      { name: "runs", value: ({ execution_count }) => execution_count },
      { name: "registered", value: ({ registered_at }) => registered_at, kind: "time" },
      { name: "description", value: ({ description }) => description },
      { name: "id", value: ({ id }) => id },
    ],
    usual: 5,
    empty: "There are no workflows. `svc workflows register workflow.yaml` makes one.",
    examples: [["svc workflows list --tag release", "Only some"]],
  });
  addVerb(workflows, {
    words: "get <workflow>",
    alias: "show",
    summary: "Show a workflow",
    about,
    options: {
      "--version <version>": "an earlier version",
      "-m, --manifest": "print the manifest as it was registered, and nothing else",
    },
    examples: [["svc workflows get release --manifest > release.yaml", "Get the manifest back"]],
    async run({ out, client }, [ref], { version, manifest }) {
      const params = { path: { ref }, query: given({ version }) };
      const workflow = await answer((await client()).GET("/v1/workflows/{ref}", { params }));
      if (manifest === true) return out.content(workflow.manifest_yaml.replace(/\n?$/, "\n"));
      await out.data(workflow);
      out.record(fields, workflow);
    },
  });
  addList(workflows, {
    words: "versions <workflow>",
    summary: "List the versions of a workflow, newest first",
    about,
    async page({ client }, query, _, [ref]) {
      const params = { path: { ref }, query: { ...query } };
      return answer((await client()).GET("/v1/workflows/{ref}/versions", { params }));
    },
    columns: [
      { name: "version", value: ({ version }) => version },
      { name: "latest", value: ({ is_latest }) => is_latest },
      { name: "registered", value: ({ registered_at }) => registered_at, kind: "time" },
      { name: "description", value: ({ description }) => description },
      { name: "sha256", value: ({ manifest_sha256 }) => manifest_sha256 },
    ],
    usual: 4,
    empty: "There are no versions.",
    examples: [["svc workflows versions release", "Which versions there are"]],
  });
  addDiff(workflows);
}

function addDiff(workflows: Command): void {
  addVerb(workflows, {
    words: "diff <workflow> <from> <to>",
    summary: "Compare two versions of a workflow, field by field",
    about: { ...about, from: "a version", to: "another one" },
    more: "Ends with 1 where they differ, as `diff` does.",
    examples: [["svc workflows diff release 1.0.0 1.1.0", "What changed"]],
    async run({ out, client }, [ref, a, b]) {
      const params = { path: { ref, a, b } };
      const diff = await answer((await client()).GET("/v1/workflows/{ref}/versions/{a}/diff/{b}", { params }));
      await out.data(diff);
      const { green, red, yellow } = out.colours;
      for (const path of diff.removed) out.line(red(`- ${path}`));
      for (const path of diff.added) out.line(green(`+ ${path}`));
      for (const { path, from, to } of diff.changed)
        out.line(say`${yellow(`~ ${path}`)}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`);
      const isEqual = diff.added.length + diff.removed.length + diff.changed.length === 0;
      if (isEqual) out.note(say`${a} and ${b} are the same`);
      return isEqual ? "ok" : "failed";
    },
  });
}
