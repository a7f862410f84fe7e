/** From words to an exit code: finds the verb, reads its flags, runs it, tells what went wrong. */
import { EdgeFailure } from "../../../edge-daemon/state/failure.ts";
import { type Exit, exits } from "../../process/exits.ts";
import { type Environment, variable } from "./environment.ts";
import { exitNamed, Failure, usageFailure } from "./exit.ts";
import { readWords } from "./flags.ts";
import { createOutput, type Streams } from "./output.ts";
import type { AnyVerb } from "./verb.ts";

/** One line of the table of verbs. */
export interface VerbEntry {
  /** The words that name it: `token create`. */
  readonly name: string;
  readonly meaning: string;
  /** Its code is loaded when it is needed: the program starts quickly, and the daemon stays small. */
  readonly load: () => Promise<AnyVerb>;
  /** The program's own: no help tells of it. */
  readonly isInternal?: boolean;
}

export interface Program {
  /** What stands before the verbs: `svc edge`. */
  readonly name: string;
  readonly version: string;
  readonly verbs: readonly VerbEntry[];
}

/** @param words after the program's name @returns the exit code */
export async function runCommand(
  program: Program,
  words: readonly string[],
  environment: Environment,
  streams: Streams,
): Promise<number> {
  const wantsJson = variable(environment, "SVC_OUTPUT") === "json" || beforeRest(words).includes("--json");
  const output = createOutput(wantsJson, streams);
  try {
    return exits[await run(program, words, environment, output, streams)];
  } catch (error) {
    const failure = failureOf(error);
    if (output.isJson) {
      const { code, message, exit } = failure;
      streams.error(`${JSON.stringify({ error: { code, message, exit: exits[exit] } })}\n`);
    } else output.note(failure.message);
    return exits[failure.exit];
  }
}

async function run(
  program: Program,
  words: readonly string[],
  environment: Environment,
  output: ReturnType<typeof createOutput>,
  { out }: Streams,
): Promise<Exit> {
  const [first = "help"] = words;
  if (first === "--version" || first === "version") {
    out(`${program.version}\n`);
    return "ok";
  }
  const wantsHelp = first === "help" || first === "--help" || first === "-h";
  if (wantsHelp) {
    out(await helpOf(program, words.slice(1)));
    return "ok";
  }
  const entry = findVerb(program.verbs, words);
  if (entry === null) throw unknownVerb(program, words);
  const own = words.slice(entry.name.split(" ").length);
  if (beforeRest(own).some((word) => word === "--help" || word === "-h")) {
    out(await verbHelp(program, entry));
    return "ok";
  }
  const verb = await entry.load();
  const read = readWords(own, verb.flags);
  const [least, most] = verb.positions;
  const isFull = read.positions.length >= least && read.positions.length <= most;
  if (!isFull || (read.rest !== null && verb.takesRest !== true))
    throw usageFailure(`usage: ${usageLine(program, entry, verb)}`);
  return verb.run({ ...read, environment, output });
}

/** The verb with the longest name that the words begin with. */
function findVerb(verbs: readonly VerbEntry[], words: readonly string[]): VerbEntry | null {
  const fitting = verbs.filter(({ name }) => name.split(" ").every((word, at) => words[at] === word));
  return fitting.sort((one, other) => other.name.length - one.name.length)[0] ?? null;
}

const beforeRest = (words: readonly string[]): readonly string[] => {
  const end = words.indexOf("--");
  return end === -1 ? words : words.slice(0, end);
};

function unknownVerb({ name, verbs }: Program, words: readonly string[]): Failure {
  const [first = ""] = words;
  const near = verbs.filter((verb) => verb.name.split(" ")[0] === first).map((verb) => verb.name);
  const said = near.length > 0 ? `one of: ${near.join(", ")}` : `see ${name} help`;
  return usageFailure(`there is no verb ${words.slice(0, near.length > 0 ? 2 : 1).join(" ")}; ${said}`);
}

/** Of one verb, of all that begin alike, or of the whole program. */
async function helpOf(program: Program, words: readonly string[]): Promise<string> {
  const entry = words.length > 0 ? findVerb(program.verbs, words) : null;
  if (entry !== null) return verbHelp(program, entry);
  const verbs = program.verbs.filter(
    ({ name, isInternal }) => isInternal !== true && words.every((word, at) => name.split(" ")[at] === word),
  );
  if (verbs.length === 0) throw unknownVerb(program, words);
  const width = Math.max(...verbs.map(({ name }) => name.length));
  return [
    `${program.name} ${program.version}`,
    "",
    ...verbs.map(({ name, meaning }) => `  ${name.padEnd(width)}  ${meaning}`),
    "",
    `${program.name} help <verb> tells its flags.`,
    "",
  ].join("\n");
}

async function verbHelp(program: Program, entry: VerbEntry): Promise<string> {
  const verb = await entry.load();
  const flags = Object.entries(verb.flags).map(
    ([name, { value, meaning }]) => [`--${name}${value === undefined ? "" : ` ${value}`}`, meaning] as const,
  );
  const width = Math.max(...flags.map(([flag]) => flag.length));
  return [
    `usage: ${usageLine(program, entry, verb)}`,
    "",
    `${entry.meaning}.`,
    "",
    ...flags.map(([flag, meaning]) => `  ${flag.padEnd(width)}  ${meaning}`),
    "",
  ].join("\n");
}

const usageLine = ({ name }: Program, entry: VerbEntry, { usage }: AnyVerb): string =>
  [name, entry.name, usage].filter((part) => part !== "").join(" ");

/** What is thrown on purpose stays; anything else is told by its message. */
function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof EdgeFailure) return new Failure(exitNamed(error.exit), error.message);
  return new Failure("failed", error instanceof Error ? error.message : String(error), "internal");
}
