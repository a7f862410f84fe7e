/** What can be typed: every command with its subcommands and options, out of the tree of commands. */
import type { Command } from "commander";

export interface Node {
  /** The words that lead to it, without the program's name. */
  readonly path: readonly string[];
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
}
export interface Word {
  readonly word: string;
  readonly meaning: string;
}
export interface OptionWord extends Word {
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

export function nodesOf(command: Command, path: readonly string[] = []): readonly Node[] {
  const helper = command.createHelp();
  const subcommands = helper.visibleCommands(command);
  const options = command.options
    .filter(({ long }) => long !== undefined && long !== null)
    .map(({ long, description, required, optional, argChoices }) => ({
      word: long ?? "",
      meaning: description,
      takesValue: required || optional,
      choices: argChoices ?? [],
    }));
  const node: Node = {
    path,
    commands: subcommands.map((each) => ({ word: each.name(), meaning: each.summary() || each.description() })),
    options: [...options, { word: "--help", meaning: "show help", takesValue: false, choices: [] }],
  };
  return [node, ...subcommands.flatMap((each) => nodesOf(each, [...path, each.name()]))];
}
