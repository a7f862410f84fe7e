/**
 * Commands against allowlists. An entry without `/` is the bare name of a program, one with `/` an exact path: a program
 * of that name elsewhere is another program.
 */
import type { Capability } from "./spec.ts";

/** A command as it will run: no shell reads it, unless it is one. */
export interface CallCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** The line needed a shell, so `sh -c` is what policy sees. */
  readonly shell: boolean;
}

type Rules = Pick<Capability, "command_allowlist" | "subcommand_allowlist">;

/** The programs that may run; null: any. A map of subcommands alone allows the commands that it names. */
export function allowedCommands({ command_allowlist: commands, subcommand_allowlist: subcommands }: Rules) {
  if (commands !== undefined && commands !== null) return commands;
  if (subcommands === undefined || subcommands === null || Array.isArray(subcommands)) return null;
  return Object.keys(subcommands);
}

export function commandAllowed(rules: Rules, { program }: CallCommand): boolean {
  return allowedCommands(rules)?.includes(program) ?? true;
}

/**
 * What the first argument may be; null: anything. In a map an empty list stands for anything; a list for every command
 * allows what it lists and nothing else.
 */
export function allowedSubcommands({ subcommand_allowlist: given }: Rules, program: string): readonly string[] | null {
  if (given === undefined || given === null) return null;
  if (Array.isArray(given)) return given;
  const listed = Object.hasOwn(given, program) ? given[program] : undefined;
  return listed === undefined || listed.length === 0 ? null : listed;
}

/** A listed empty text allows a call without arguments, and nothing else. */
export function subcommandAllowed(rules: Rules, { program, args }: CallCommand): boolean {
  const allowed = allowedSubcommands(rules, program);
  if (allowed === null) return true;
  const [first] = args;
  return first === undefined ? allowed.includes("") : first !== "" && allowed.includes(first);
}
