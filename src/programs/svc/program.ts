/** The command line as a function: words and a process in, an exit code out. */
import { Command, CommanderError } from "commander";
import { Unreachable } from "../client/errors.ts";
import type { Context } from "./frame/context.ts";
import { helpFormat } from "./frame/help.ts";
import { addGroup, type Carry, carriedBy } from "./frame/verb.ts";
import { type Entry, entries } from "./groups.ts";
import { coloursFor } from "./output/colours.ts";
import { tellFailure } from "./output/failures.ts";
import { createOutput, type Format, type Output } from "./output/output.ts";
import { exitOf, Failure, usageFailure } from "./process/exit.ts";
import { type Exit, exits } from "./process/exits.ts";
import { addGlobals, type Globals } from "./process/globals.ts";
import { type Io, variable } from "./process/io.ts";
import { programVersion } from "./version.ts";

/**
 * Runs one command line.
 * @param argv the words behind the program's name
 * @returns the exit code (docs/reference/cli.md)
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const words = helpLast(argv);
  const state: { exit: Exit; out: Output | null } = { exit: "ok", out: null };
  const carry: Carry = async (globals, act) => {
    const out = createOutput(io, { format: formatOf(io, globals), isColourWanted: globals.color });
    state.out = out;
    const { context, explained } = contextOf(io, globals, out);
    try {
      state.exit = (await act(context)) ?? "ok";
    } catch (error) {
      throw await explained(error);
    }
  };
  try {
    // The verbs of hosts read their words themselves: some of them run for months.
    if (firstWord(words) === "edge" && !asksForHelp(words) && !asksForList(words)) {
      const { runEdge } = await import("./groups/edge/run.ts");
      return await runEdge(words, io);
    }
    const root = await assemble(io, (entry) => entry.name === firstWord(words));
    carriedBy(root, carry);
    await root.parseAsync([...words], { from: "user" });
    return exits[state.exit];
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exits.ok;
    // Help that was shown in place of a missing verb.
    if (error instanceof CommanderError && error.code === "commander.help") return exits.usage;
    const out =
      state.out ??
      createOutput(io, { format: guessedFormat(io, words), isColourWanted: !words.includes("--no-color") });
    const failure = error instanceof CommanderError ? misread(error, words) : unwrapped(error);
    tellFailure(failure, out);
    return exits[exitOf(failure)];
  }
}

/**
 * The tree of commands.
 * @param isWanted which parts are loaded; the others have their name and summary alone
 */
export async function assemble(io: Io, isWanted: (entry: Entry) => boolean): Promise<Command> {
  const root = configured(new Command("svc"), io);
  for (const entry of entries) {
    const fill = isWanted(entry) ? await entry.load() : null;
    if (entry.isGroup) await fill?.(addGroup(root, entry.name, entry.summary));
    else await fill?.(root);
    if (fill === null) root.command(entry.name).summary(entry.summary).description(entry.summary);
    root.commands.at(-1)?.helpGroup(entry.section);
  }
  return root;
}

function configured(root: Command, io: Io): Command {
  const colours = coloursFor(io, io.isTerminal, true);
  return addGlobals(root, true)
    .description("Run AI agents and workflows on svc, from the command line.")
    .usage("<command> [words] [options]")
    .version(programVersion, "-v, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand(false)
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp(helpFormat(colours))
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      outputError: () => {},
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    })
    .addHelpText(
      "after",
      `\n${rootExamples}\n${colours.dim("svc <command> --help tells more. Reference: docs/reference/cli.md").text}\n`,
    );
}

const rootExamples = `Examples:
  $ svc agents init hello.yaml      # write a manifest with comments
  $ svc run hello.yaml "Ada"        # deploy it, run it, follow it
  $ svc executions list --watch     # see what runs now
`;

/** `help agents list` is `agents list --help`. */
function helpLast(argv: readonly string[]): readonly string[] {
  const at = firstWordAt(argv);
  if (argv[at] !== "help") return argv;
  const others = argv.toSpliced(at, 1);
  const end = others.indexOf("--");
  return others.toSpliced(end === -1 ? others.length : end, 0, "--help");
}

/** Help is shown by the tree of commands, as is a group without a verb. */
function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  const own = end === -1 ? words : words.slice(0, end);
  return own.includes("--help") || own.includes("-h") || own.at(-1) === "edge";
}

/** Lists of hosts and of what belongs to them are lists like all others. */
function asksForList(words: readonly string[]): boolean {
  const [verb = "", noun = "", next = ""] = words.slice(firstWordAt(words) + 1);
  if (/^(ls|list)$/.test(verb)) return true;
  if (/^(token|group)$/.test(verb)) return /^(ls|list)$/.test(noun);
  return verb === "fleet" && noun === "runs" && (next === "" || next.startsWith("-"));
}

/** Options of the program that have a value, which is no command. */
const valued = new Set(["--context", "--url", "--tenant", "--api-key"]);

function firstWordAt(words: readonly string[]): number {
  let at = 0;
  while (at < words.length && words[at]?.startsWith("-")) at += valued.has(words[at] ?? "") ? 2 : 1;
  return at;
}

const firstWord = (words: readonly string[]): string | undefined => words[firstWordAt(words)];

/** @throws Failure `usage` */
function formatOf(io: Io, { json, yaml }: Pick<Globals, "json" | "yaml">): Format {
  if (json && yaml) throw usageFailure("--json and --yaml do not go together");
  if (json || yaml) return json ? "json" : "yaml";
  const usual = variable(io, "SVC_OUTPUT");
  return usual === "json" || usual === "yaml" ? usual : "text";
}

/** Where the words could not be read. */
function guessedFormat(io: Io, words: readonly string[]): Format {
  const end = words.indexOf("--");
  const own = end === -1 ? words : words.slice(0, end);
  const json = own.includes("--json");
  return formatOf(io, { json, yaml: own.includes("--yaml") && !json });
}

/** The client wraps what a request threw; a failure of ours says more than that the service is away. */
const unwrapped = (error: unknown): unknown =>
  error instanceof Unreachable && error.cause instanceof Failure ? error.cause : error;

function misread({ message }: CommanderError, words: readonly string[]) {
  const names = words.filter((word) => /^[a-z-]+$/.test(word) && !word.startsWith("-")).slice(0, 2);
  const [first = "Wrong words", second] = message.replace(/^error: /, "").split("\n");
  const known = entries.some(({ name }) => name === names[0]) ? ` ${names[0]}` : "";
  return usageFailure(second === undefined ? first : `${first} ${second}`, `See \`svc${known} --help\`.`);
}

function contextOf(io: Io, globals: Globals, out: Output) {
  let connection: ReturnType<Context["connection"]> | null = null;
  const connect = () => {
    connection ??= import("./session/connection.ts").then((session) => session.connect(io, globals));
    return connection;
  };
  const context: Context = {
    io,
    globals,
    out,
    connection: connect,
    client: async () => (await connect()).client,
    tree: () => assemble(io, () => true),
  };
  /** An error that a connection knows more of. */
  const explained = async (error: unknown): Promise<unknown> =>
    (await connection?.catch(() => null))?.explained(error) ?? error;
  return { context, explained };
}
