/** One verb of the command line, declared as a table: words, options, examples, what it does. */
import { type Command, Option } from "commander";
import type { Exit } from "../process/exits.ts";
import { addGlobals, type Globals, globalsOf } from "../process/globals.ts";
import type { Context } from "./context.ts";

/** What an option means; with the values that it takes, where they are few. */
export type OptionMeaning = string | { readonly meaning: string; readonly choices: readonly string[] };
/** Flags as commander reads them (`-f, --force`, `--label <name=value...>`) → what they mean. */
export type OptionTable = Readonly<Record<string, OptionMeaning>>;

type Camel<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type LongOf<F extends string> = F extends `${string}--${infer Rest}` ? Rest : never;
type NameOf<F extends string> =
  LongOf<F> extends `${infer Name} ${string}`
    ? Camel<Name>
    : LongOf<F> extends `no-${infer Name}`
      ? Name
      : Camel<LongOf<F>>;
type ValueOf<F extends string> = F extends `${string}...>` | `${string}...]`
  ? readonly string[]
  : F extends `${string}<${string}`
    ? string
    : F extends `${string}[${string}`
      ? string | true
      : boolean;
/** The values of options, by their long names in camel case. */
export type OptionValues<T extends OptionTable> = { readonly [F in keyof T & string as NameOf<F>]?: ValueOf<F> };

type ArgumentOf<W extends string> = W extends `<${string}...>` | `[${string}...]`
  ? [readonly string[]]
  : W extends `<${string}>`
    ? [string]
    : W extends `[${string}]`
      ? [string | undefined]
      : [];
/** The values of a verb's words: `get <agent> [version]` → `[string, string | undefined]`. */
export type Arguments<W extends string> = W extends `${infer First} ${infer Rest}`
  ? [...ArgumentOf<First>, ...Arguments<Rest>]
  : ArgumentOf<W>;

/** How a verb ended; nothing: well. */
export type Ended = Promise<Exit | undefined> | Promise<void>;

type Examples = readonly (readonly [command: string, meaning: string])[];

export interface Verb<W extends string, T extends OptionTable> {
  /** Its name and the words behind it: `get <agent>`. */
  readonly words: W;
  readonly alias?: string;
  /** One line of the group's help: what it does, as an order. */
  readonly summary: string;
  /** What each word behind the name is, in their order. */
  readonly about?: Readonly<Record<string, string>>;
  /** More than the summary says: what happens, what is printed, how it ends. */
  readonly more?: string;
  readonly options?: T;
  /** Command lines, each with what it does. */
  readonly examples: Examples;
  /** Whether words may stand after `--` that are none of the program's. */
  readonly takesRest?: boolean;
  /** @returns how it ended; nothing: well */
  readonly run: (context: Context, words: Arguments<W>, options: OptionValues<T>) => Ended;
}

/** What carries out a verb once its words are read. */
export type Carry = (globals: Globals, run: (context: Context) => Ended) => Promise<void>;

const carriers = new WeakMap<Command, Carry>();
const examplesByCommand = new WeakMap<Command, Examples>();

/** Command lines that show a verb at work, each with what it does. */
export const examplesOf = (command: Command): Examples => examplesByCommand.get(command) ?? [];

/** Tells the root how verbs are carried out. */
export const carriedBy = (root: Command, carry: Carry): void => void carriers.set(root, carry);

/** Adds a verb to a group, or to the program itself. */
export function addVerb<const W extends string, const T extends OptionTable>(
  group: Command,
  verb: Verb<W, T>,
): Command {
  const { words, alias, summary, about = {}, more, options = {}, examples, run } = verb;
  const command = group
    .command(words)
    .summary(summary)
    .description(more === undefined ? summary : `${summary}.\n\n${more}`);
  if (alias !== undefined) command.alias(alias);
  for (const argument of command.registeredArguments) argument.description = about[argument.name()] ?? "";
  for (const [flags, meaning] of Object.entries<OptionMeaning>(options)) command.addOption(optionOf(flags, meaning));
  addGlobals(command);
  examplesByCommand.set(command, examples);
  command.addHelpText("after", () => exampleText(examples));
  command.action(async (...given: unknown[]) => {
    const count = command.registeredArguments.length;
    // Commander has read words and options by the very tables that these types are made of.
    const read = given.slice(0, count) as Arguments<W>;
    const values = command.opts() as OptionValues<T>;
    await carrierOf(command)(globalsOf(command), (context) => run(context, read, values));
  });
  return command;
}

function carrierOf(command: Command): Carry {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const carry = carriers.get(at);
    if (carry !== undefined) return carry;
  }
  throw new Error("A verb stands in no program");
}

/** A group of verbs within a group: `executions files`. */
export function addGroup(group: Command, name: string, summary: string): Command {
  return addGlobals(group.command(name).summary(summary).description(summary).helpCommand(false));
}

/** An option whose value ends with `...` may be repeated; other than commander's, it leaves the words behind it alone. */
function optionOf(flags: string, about: OptionMeaning): Option {
  const { meaning, choices = null } = typeof about === "string" ? { meaning: about } : about;
  const isList = flags.endsWith("...>");
  const option = new Option(flags.replace("...>", ">"), isList ? `${meaning}; may be repeated` : meaning);
  if (isList) return option.argParser((text, former: readonly string[] = []) => [...former, text]);
  return choices === null ? option : option.choices(choices);
}

const exampleText = (examples: Examples): string => {
  if (examples.length === 0) return "";
  return `\nExamples:\n${examples.map(([line, meaning]) => `  # ${meaning}\n  $ ${line}`).join("\n")}\n`;
};
