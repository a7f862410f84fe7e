/** What hosts can be asked to do, with what has to be filled in for it. */

export interface ToolField {
  readonly name: string;
  readonly label: string;
  readonly kind: "line" | "text" | "check" | "json";
  readonly needed?: true;
  readonly hint?: string;
  readonly example?: string;
}

export interface HostTool {
  readonly name: string;
  readonly label: string;
  /** It changes something: stops at the first failure unless told otherwise. */
  readonly changes: boolean;
  readonly fields: readonly ToolField[];
}

const path = (hint?: string): ToolField => ({
  name: "path",
  label: "Path",
  kind: "line",
  needed: true,
  example: "notes/today.md",
  ...(hint === undefined ? {} : { hint }),
});
const belowWorkdir = "Relative to the host's working directory; the host's policy says which paths are allowed";

export const hostTools: readonly HostTool[] = [
  {
    name: "cmd.run",
    label: "Run a command",
    changes: true,
    fields: [
      {
        name: "command",
        label: "Command",
        kind: "line",
        needed: true,
        example: "uptime",
        hint: "Split at blanks as a shell does. What needs a shell (pipes, $, globs) runs in sh, where the policy allows sh.",
      },
      { name: "cwd", label: "Directory", kind: "line", hint: belowWorkdir },
      { name: "stdin", label: "Standard input", kind: "text" },
    ],
  },
  { name: "fs.read", label: "Read a file", changes: false, fields: [path(belowWorkdir)] },
  {
    name: "fs.write",
    label: "Write a file",
    changes: true,
    fields: [path(belowWorkdir), { name: "content", label: "Content", kind: "text", needed: true }],
  },
  {
    name: "fs.list",
    label: "List a directory",
    changes: false,
    fields: [path(), { name: "recursive", label: "With everything below", kind: "check" }],
  },
  { name: "fs.create_dir", label: "Make a directory", changes: true, fields: [path(belowWorkdir)] },
  {
    name: "fs.delete",
    label: "Delete a file or directory",
    changes: true,
    fields: [path(belowWorkdir), { name: "recursive", label: "With everything below", kind: "check" }],
  },
  {
    name: "fs.edit",
    label: "Replace text in a file",
    changes: true,
    fields: [
      path(),
      { name: "target_content", label: "Text that is there", kind: "text", needed: true },
      { name: "replacement_content", label: "Text in its place", kind: "text", needed: true },
      { name: "replace_all", label: "Everywhere in the file", kind: "check" },
    ],
  },
  {
    name: "fs.multi_edit",
    label: "Replace several texts in a file",
    changes: true,
    fields: [
      path(),
      {
        name: "edits",
        label: "Edits, as JSON",
        kind: "json",
        needed: true,
        example: '[{"target_content": "a", "replacement_content": "b"}]',
      },
    ],
  },
  {
    name: "fs.grep",
    label: "Search in files",
    changes: false,
    fields: [
      { name: "pattern", label: "Regular expression", kind: "line", needed: true },
      { ...path(), label: "Below" },
    ],
  },
  {
    name: "fs.glob",
    label: "Find files",
    changes: false,
    fields: [
      { name: "pattern", label: "Pattern", kind: "line", needed: true, example: "**/*.log" },
      { ...path(), label: "Below" },
    ],
  },
];

export type Values = Readonly<Record<string, string | boolean>>;

/** The arguments of a call; null: something that is needed is missing or no JSON. */
export function argumentsOf(tool: HostTool, values: Values): Record<string, unknown> | null {
  const read = tool.fields.map((field) => [field.name, readField(field, values[field.name])] as const);
  if (read.some(([, value]) => value === unfit)) return null;
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

/** In the place of a value that cannot be sent. */
const unfit = Symbol("unfit");

/** @returns undefined for what is left out */
function readField({ kind, needed }: ToolField, given: string | boolean | undefined): unknown {
  if (kind === "check") return given === true ? true : undefined;
  if (typeof given !== "string" || given === "") return needed ? unfit : undefined;
  if (kind === "line" || kind === "text") return given;
  try {
    return JSON.parse(given);
  } catch {
    return unfit;
  }
}
