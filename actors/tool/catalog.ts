/**
 * The tools an agent may be given, seen from the inside: how they are named, where they run and which
 * of them only look.
 *
 * The execution actor decides by `ToolEntry` alone, and gets its entries with the plan. So tools that
 * are known only in `src/` (tool servers, management tools) join by being put into the plan.
 */
import { type Static, Type } from "@sinclair/typebox";

export const ToolEntry = Type.Object({
  /** Dotted; management tools under `svc.`, except `aegis.workflow.wait`. */
  name: Type.String(),
  /** `instance`: dispatched to the agent's bootstrap. `service`: an activity of ours. */
  runs: Type.Union([Type.Literal("instance"), Type.Literal("service")]),
  /** Looks without changing anything: may run beside others, and again after a crash. */
  read_only: Type.Boolean(),
  /** The agent's tool judges are not asked about its calls. */
  skip_judge: Type.Optional(Type.Boolean()),
});
export type ToolEntry = Static<typeof ToolEntry>;

const tool = (name: string, runs: ToolEntry["runs"], read_only: boolean): ToolEntry => ({ name, runs, read_only });

export const CMD_RUN = "cmd.run";
export const ATTACHMENT_READ = "svc.attachment.read";

/** What every node offers. */
export const builtinTools: readonly ToolEntry[] = [
  tool(CMD_RUN, "instance", false),
  tool("fs.read", "service", true),
  tool("fs.write", "service", false),
  tool("fs.list", "service", true),
  tool("fs.create_dir", "service", false),
  tool("fs.delete", "service", false),
  tool("fs.edit", "service", false),
  tool("fs.multi_edit", "service", false),
  tool("fs.grep", "service", true),
  tool("fs.glob", "service", true),
  tool(ATTACHMENT_READ, "service", true),
];

/** `mcp:<server>` in a manifest: all tools of that server. */
const serverPrefix = "mcp:";

/** One spelling for names and patterns that may start with `aegis.` or `svc.`. */
export function canonicalName(name: string): string {
  return name.startsWith("aegis.") ? `svc.${name.slice("aegis.".length)}` : name;
}

/** Whether it acts for the identity that started its caller: management tools do. */
export const actsForStarter = (name: string): boolean =>
  canonicalName(name).startsWith("svc.") && canonicalName(name) !== ATTACHMENT_READ;

/** Whether a manifest or policy pattern (`*`, `prefix.*`, exact) covers a tool. The dot is part of the match. */
export function patternCovers(pattern: string, name: string): boolean {
  if (pattern === "*") return true;
  // Tools of a server are called by its name.
  if (pattern.startsWith(serverPrefix)) return name.startsWith(`${pattern.slice(serverPrefix.length)}.`);
  const wanted = canonicalName(pattern);
  const given = canonicalName(name);
  return wanted.endsWith(".*") ? given.startsWith(wanted.slice(0, -1)) : given === wanted;
}

/**
 * The tools that a list of patterns opens, in catalogue order.
 * @returns `unmatched`: the patterns that cover nothing (`unknown_tool`)
 */
export function selectTools(
  patterns: readonly string[],
  catalog: readonly ToolEntry[] = builtinTools,
): { readonly tools: ToolEntry[]; readonly unmatched: string[] } {
  return {
    tools: catalog.filter(({ name }) => patterns.some((pattern) => patternCovers(pattern, name))),
    unmatched: patterns.filter((pattern) => !catalog.some(({ name }) => patternCovers(pattern, name))),
  };
}

/** The tools, those marked whose calls no judge is to be asked about: a grant that covers them says so. */
export function sparedFromJudges(
  tools: readonly ToolEntry[],
  grants: readonly { readonly name: string; readonly skip_judge: boolean }[],
): ToolEntry[] {
  const sparing = grants.filter(({ skip_judge }) => skip_judge);
  return tools.map((entry) =>
    sparing.some(({ name }) => patternCovers(name, entry.name)) ? { ...entry, skip_judge: true } : entry,
  );
}

/** The entry a model means by a name, if it is among the effective tools. */
export function findTool(tools: readonly ToolEntry[], name: string): ToolEntry | undefined {
  const wanted = canonicalName(name);
  return tools.find((entry) => canonicalName(entry.name) === wanted);
}

/** Of `cmd.run`, as a model sees it. What becomes of a call is in `actors/execution/loop/command.ts`. */
export const CmdRunArguments = Type.Object({
  command: Type.String({
    minLength: 1,
    description: "The program, or a whole command line when `args` is left out",
  }),
  args: Type.Optional(Type.Array(Type.String(), { description: "Arguments, passed as they are" })),
  cwd: Type.String({ minLength: 1, default: "/workspace", description: "Working directory" }),
  env_additions: Type.Record(Type.String(), Type.String(), { default: {} }),
  timeout_secs: Type.Integer({ minimum: 1, maximum: 3600, default: 600 }),
  max_output_bytes: Type.Integer({ minimum: 1, maximum: 8_388_608, default: 1_048_576 }),
});
export type CmdRunArguments = Static<typeof CmdRunArguments>;

export const cmdRunDescription =
  "Run a program in the agent's sandbox and wait for it. With `args` the command is one program; " +
  "without, it is split like a shell line, and shell syntax runs under /bin/sh. " +
  "Answers exit_code, stdout and stderr.";
