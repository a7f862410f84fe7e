/** `agents deploy`. */
import type { Command } from "commander";
import { answer, yamlBody } from "../../../client/client.ts";
import { textOf } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { tellWarnings } from "../../output/warnings.ts";
import { deploy } from "./deploying.ts";

export function addDeploy(agents: Command): void {
  addVerb(agents, {
    words: "deploy <file>",
    summary: "Create or update an agent from a manifest",
    about: { file: "a manifest in YAML or JSON; - reads standard input" },
    more: "What runs afterwards is what the file says: a manifest that was changed under its version becomes a new revision of it, an equal one changes nothing.",
    options: {
      "--dry-run": "show what the service finds, and change nothing",
      "-f, --force": "make a new revision even where nothing changed",
    },
    examples: [
      ["svc agents deploy hello.yaml", "Deploy a manifest"],
      ["svc agents deploy hello.yaml --dry-run", "See warnings and errors first"],
      ["kustomize build . | svc agents deploy -", "Deploy what another program writes"],
    ],
    async run({ io, out, client }, [file], { dryRun, force }) {
      const manifest = await textOf(io, file);
      const service = await client();
      const { green, bold } = out.colours;
      if (dryRun === true) {
        const query = { dry_run: true, force: true };
        const found = await answer(service.POST("/v1/agents", { params: { query }, ...yamlBody(manifest) }));
        await out.data(found);
        tellWarnings(out, found.warnings);
        const action = "action" in found ? found.action.replaceAll("_", " ") : "create";
        out.line(say`${green("✓")} ${bold(found.name)} ${found.version} is valid; deploying it would ${action}`);
        return;
      }
      const { change, agent } = await deploy(service, manifest, force);
      await out.data(agent);
      if (change === "deployed") tellWarnings(out, agent.warnings);
      const again = agent.revision > 1 ? ` (revision ${agent.revision})` : "";
      const what = change === "deployed" ? "Deployed" : "Unchanged:";
      out.line(say`${green("✓")} ${what} ${bold(agent.name)} ${agent.version}${again}`);
    },
  });
}
