/** `agents init`: a manifest to begin with, whose comments tell what may be changed. */
import type { Command } from "commander";
import { firstAgent } from "../../../client/first-agent.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { Failure } from "../../process/exit.ts";

const usualFile = "agent.yaml";

export function addInit(agents: Command): void {
  addVerb(agents, {
    words: "init [file]",
    summary: "Write a manifest with comments",
    about: { file: `where to; ${usualFile} without it, - is standard output` },
    options: { "--name <name>": "of the agent; else that of the file", "-f, --force": "overwrite the file" },
    examples: [
      ["svc agents init hello.yaml", "Write hello.yaml"],
      ["svc run hello.yaml", "Deploy it, run it and follow it"],
    ],
    async run({ io, out }, [file = usualFile], { name, force }) {
      const text = firstAgent(name ?? nameOf(file));
      if (file === "-") return out.raw(text);
      const { writeFile } = await import("node:fs/promises");
      const { resolve } = await import("node:path");
      try {
        await writeFile(resolve(io.directory, file), text, { flag: force === true ? "w" : "wx" });
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "EEXIST") throw new Failure("conflict", `${file} is there already`, "--force overwrites it.");
        throw new Failure("failed", `${file} cannot be written (${code})`);
      }
      await out.data({ file });
      out.line(say`${out.colours.green("✓")} Wrote ${out.colours.bold(file)}`);
      out.note(say`Run it with: svc run ${file}`);
    },
  });
}

/** A name that the service takes, out of the file's. */
function nameOf(file: string): string {
  const stem = file.replace(/^.*\//, "").replace(/\.(ya?ml|json)$/i, "");
  const name = stem
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 63)
    .replace(/-$/, "");
  return name === "" || name === "agent" ? "my-agent" : name;
}
