/** The process that does one call of an `fs.*` tool: a job on standard input, its outcome on standard output. */
import { createDirectory, deleteOne, edit, multiEdit, read, write } from "../../../lib/tool-files/files.ts";
import { outcomeOf, type ToolOutcome } from "../../../lib/tool-files/outcome.ts";
import { checkArguments, type FsTool } from "../../../lib/tool-files/schema.ts";
import { deleteTree, glob, grep, list } from "../../../lib/tool-files/tree.ts";
import { View } from "../../../lib/tool-files/view.ts";
import type { FileToolJob } from "./file-tool.ts";

type Given = Readonly<Record<string, unknown>>;
type Does = (view: View, given: Given) => Extract<ToolOutcome, { status: "succeeded" }>["result"];

const anyLength = Number.POSITIVE_INFINITY;

const tools: Readonly<Record<FsTool, Does>> = {
  "fs.read": (view, given) => read(view, checkArguments("fs.read", given)),
  "fs.write": (view, given) => write(view, checkArguments("fs.write", given)),
  "fs.list": (view, given) => list(view, checkArguments("fs.list", given)),
  "fs.create_dir": (view, given) => createDirectory(view, checkArguments("fs.create_dir", given)),
  "fs.delete": (view, given) => {
    const checked = checkArguments("fs.delete", given);
    return checked.recursive ? deleteTree(view, checked) : deleteOne(view, checked);
  },
  "fs.edit": (view, given) => edit(view, checkArguments("fs.edit", given), anyLength),
  "fs.multi_edit": (view, given) => multiEdit(view, checkArguments("fs.multi_edit", given), anyLength),
  "fs.grep": (view, given) => grep(view, checkArguments("fs.grep", given)),
  "fs.glob": (view, given) => glob(view, checkArguments("fs.glob", given)),
};

/** Does the one job. Nothing is done when standard input ends before a job is whole. */
export async function serveFileTool(): Promise<void> {
  const text = await Bun.stdin.text();
  if (text === "") return;
  const job = JSON.parse(text) as FileToolJob;
  await Bun.write(Bun.stdout, JSON.stringify(outcome(job)));
}

function outcome({ view: spec, tool, given }: FileToolJob): ToolOutcome {
  try {
    using view = new View(spec);
    return { status: "succeeded", result: tools[tool](view, given) };
  } catch (error) {
    return outcomeOf(error);
  }
}
