/**
 * What of a command remains its author's duty (docs/reference/workflows.md), as far as it shows: programs that read their
 * arguments as a script, where quoting does not keep a value from being read again.
 */
import type { Command } from "../../definition/states.ts";
import { scriptPlace } from "./argv.ts";
import { examine, MARK, type ShellToken } from "./places.ts";
import { markedText } from "./text.ts";

const shells = ["sh", "bash", "dash", "ash", "zsh", "ksh", "hush"];
/** With an option that gives them a script. */
const interpreters = new Set([...shells, "perl", "ruby", "node", "nodejs", "bun", "deno", "php", "lua", "osascript"]);
/** They read every argument so, or pass it to a shell elsewhere. */
const readers = new Set(["awk", "gawk", "mawk", "nawk", "sed", "ssh", "su", "watch", "bc", "m4"]);
/** Built into shells: what they are given is evaluated or becomes a command later. */
const evaluators = new Set(["source", ".", "trap", "alias", "let", "declare", "typeset", "local", "unset", "read"]);
/** They run the program named behind them. */
const wrappers = new Set([
  "exec",
  "command",
  "builtin",
  "env",
  "nohup",
  "nice",
  "setsid",
  "sudo",
  "doas",
  "xargs",
  "time",
]);
const moreWrappers = new Set([
  "timeout",
  "stdbuf",
  "busybox",
  "tini",
  "chroot",
  "unshare",
  "su-exec",
  "gosu",
  "ionice",
]);
const beforeCommands = new Set(["if", "then", "else", "elif", "do", "while", "until", "!", "{"]);

/** One simple command: its program and what is behind it. */
interface Simple {
  readonly program: string;
  readonly rest: readonly string[];
}

/** Warnings for the registration of a command; none for one that cannot be read. */
export function commandWarnings(command: Command): string[] {
  const found = tokensOf(command).flatMap((tokens) => simpleCommands(tokens).flatMap(warningsOf));
  return [...new Set(found)];
}

function tokensOf(command: Command): readonly (readonly ShellToken[])[] {
  if (command.form === "text") return [examine(markedText(command.text)).tokens];
  const list = command.list.map(markedText).map((text) => ({ text, hasValues: text.includes(MARK) }));
  const place = scriptPlace(list);
  const script = "index" in place && place.index !== null ? list[place.index] : undefined;
  if (script !== undefined) return [examine(script.text).tokens];
  return [list.map(({ text }) => ({ operator: false, text }))];
}

function simpleCommands(tokens: readonly ShellToken[]): Simple[] {
  const found: Simple[] = [];
  let program: string | null = null;
  let rest: string[] = [];
  let target = false;
  const close = (): void => {
    if (program !== null) found.push({ program, rest });
    program = null;
    rest = [];
  };
  for (const { operator, text } of tokens) {
    if (operator) {
      target = "<>".includes(text[0] ?? "");
      if (!target) close();
    } else if (target) target = false;
    else if (program !== null) rest.push(text);
    else if (!beforeCommands.has(text) && !/^[A-Za-z_]\w*\+?=/.test(text)) program = text;
  }
  close();
  return found;
}

function warningsOf({ program, rest }: Simple): string[] {
  if (program.includes(MARK)) return ["A value is the name of the program that is run"];
  const name = program.split("/").at(-1) ?? "";
  const hasValue = rest.some((word) => word.includes(MARK));
  if (name === "eval") return ["eval reads its arguments as a script: no value among them is kept one word"];
  if (evaluators.has(name) && hasValue) return [`${name} evaluates what it is given: a value may be read as code`];
  if (readers.has(name) && hasValue) return [`${name} reads its arguments as a script: a value may be read as code`];
  if (isInterpreter(name) && readsScript(rest))
    return [`${name} reads a script of its own: no value in it is kept apart`];
  if (wrappers.has(name) || moreWrappers.has(name)) return warningsBehind(rest);
  const executed = rest.findIndex((word) => /^-(?:exec|ok)(?:dir)?$/.test(word));
  return name === "find" && executed >= 0 ? warningsBehind(rest.slice(executed + 1)) : [];
}

/** Of the program that a wrapper runs: behind its options, variables and numbers. */
function warningsBehind(words: readonly string[]): string[] {
  const at = words.findIndex((word) => !/^(?:-|\d|[A-Za-z_]\w*=)/.test(word));
  const program = words[at];
  return program === undefined ? [] : warningsOf({ program, rest: words.slice(at + 1) });
}

const isInterpreter = (name: string): boolean => interpreters.has(name) || /^python[\d.]*$|^pypy3?$/.test(name);

/** From an option, or from its standard input. */
function readsScript(words: readonly string[]): boolean {
  if (words.some((word) => /^-[A-Za-z]*[cerpE]|^--(?:eval|print|run)\b/.test(word))) return true;
  return words.every((word) => word.startsWith("-"));
}
