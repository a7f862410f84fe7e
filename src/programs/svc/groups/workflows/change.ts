/** `workflows register`, `validate`, `delete`. */
import type { Command } from "commander";
import { answer, yamlBody } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { confirm } from "../../frame/context.ts";
import { textOf } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { issueText } from "../../output/failures.ts";
import { say } from "../../output/inert.ts";
import { tellWarnings } from "../../output/warnings.ts";

const about = { file: "a manifest in YAML or JSON; - reads standard input" };

export function addChanges(workflows: Command): void {
  addVerb(workflows, {
    words: "register <file>",
    alias: "deploy",
    summary: "Create or update a workflow from a manifest",
    about,
    more: "A version that is there already is refused unless --force replaces it; runs go on in the version that they began with.",
    options: {
      "-f, --force": "replace this version",
      "--dry-run": "show what the service finds, and change nothing",
    },
    examples: [
      ["svc workflows register release.yaml", "Register a manifest"],
      ["svc workflows register release.yaml --dry-run", "See warnings and errors first"],
    ],
    async run({ io, out, client }, [file], { force, dryRun }) {
      const manifest = await textOf(io, file);
      const service = await client();
      if (dryRun === true) return validate(service, out, manifest);
      const params = { query: given({ force }) };
      const kept = await answer(service.POST("/v1/workflows", { params, ...yamlBody(manifest) }));
      await out.data(kept);
      tellWarnings(out, kept.warnings);
      out.line(say`${out.colours.green("✓")} Registered ${out.colours.bold(kept.name)} ${kept.version}`);
      return "ok";
    },
  });
  addVerb(workflows, {
    words: "validate <file>",
    summary: "Show what the service finds in a manifest",
    about,
    more: "Ends with 2 where something is wrong with it. Nothing is changed.",
    examples: [["svc workflows validate release.yaml", "Check a manifest"]],
    async run({ io, out, client }, [file]) {
      const manifest = await textOf(io, file);
      return validate(await client(), out, manifest);
    },
  });
  addVerb(workflows, {
    words: "delete <workflow>",
    alias: "rm",
    summary: "Delete a workflow, or one version of it",
    about: { workflow: "name or id" },
    options: {
      "--version <version>": "this version alone",
      "--force": "even while runs of it go on; they are cancelled",
    },
    examples: [["svc workflows delete release --version 1.0.0", "Delete one version"]],
    async run(context, [name], { version, force }) {
      const what = version === undefined ? "with all its versions" : `version ${version}`;
      await confirm(context, `Delete workflow ${name} ${what}`);
      const service = await context.client();
      const params = { path: { ref: name }, query: given({ version, force }) };
      const deleted = await answer(service.DELETE("/v1/workflows/{ref}", { params }));
      await context.out.data(deleted);
      const versions = deleted.deleted_versions.join(", ");
      context.out.line(
        say`${context.out.colours.green("✓")} Deleted ${context.out.colours.bold(deleted.name)} ${versions}`,
      );
    },
  });
}

type Validated = Parameters<Parameters<typeof addVerb>[1]["run"]>[0];

async function validate(
  service: Awaited<ReturnType<Validated["client"]>>,
  out: Validated["out"],
  manifest: string,
): Promise<"ok" | "usage"> {
  const found = await answer(service.POST("/v1/workflows/validate", yamlBody(manifest)));
  await out.data(found);
  tellWarnings(out, found.warnings);
  for (const issue of found.issues)
    out.note(say`${out.noteColours.red("error:")} ${issueText({ line: null, ...issue })}`);
  if (found.valid) out.line(say`${out.colours.green("✓")} The manifest is valid`);
  return found.valid ? "ok" : "usage";
}
