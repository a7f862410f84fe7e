/** How help looks: what it is, its commands, its options. */
import type { Command, HelpConfiguration } from "commander";
import type { Colours } from "../output/colours.ts";
import { Safe } from "../output/inert.ts";

export function helpFormat({ bold, cyan }: Colours): HelpConfiguration {
  const shown = (paint: Colours["bold"]) => (text: string) => paint(new Safe(text)).text;
  return {
    styleTitle: shown(bold),
    styleSubcommandTerm: shown(cyan),
    styleOptionTerm: shown(cyan),
    styleArgumentTerm: shown(cyan),
    // Its words and options are told by the command's own help.
    subcommandTerm: (command) => command.name(),
    commandUsage: (command) => `${pathOf(command)} ${command.usage()}`,
    formatHelp(command, helper) {
      const width = helper.padWidth(command, helper);
      const item = (term: string, meaning: string) => helper.formatItem(term, width, meaning, helper);
      const part = (title: string, items: readonly string[]) =>
        items.length === 0 ? [] : [helper.styleTitle(title), ...items, ""];
      const description = helper.commandDescription(command);
      const commands = helper.groupItems(
        [...command.commands],
        helper.visibleCommands(command),
        (one) => one.helpGroup() || "Commands:",
      );
      const options = helper.groupItems(
        [...command.options],
        helper.visibleOptions(command),
        (one) => one.helpGroupHeading ?? "Options:",
      );
      return [
        ...(description === "" ? [] : [helper.boxWrap(description, helper.helpWidth ?? 80), ""]),
        `${helper.styleTitle("Usage:")} ${helper.commandUsage(command)}`,
        "",
        ...[...commands].flatMap(([title, ones]) =>
          part(
            title,
            ones.map((one) => item(helper.styleSubcommandTerm(one.name()), helper.subcommandDescription(one))),
          ),
        ),
        ...part(
          "Words:",
          helper
            .visibleArguments(command)
            .map((one) => item(helper.styleArgumentTerm(one.name()), helper.argumentDescription(one))),
        ),
        ...[...options].flatMap(([title, ones]) =>
          part(
            title,
            ones.map((one) => item(helper.styleOptionTerm(helper.optionTerm(one)), helper.optionDescription(one))),
          ),
        ),
      ].join("\n");
    },
  };
}

/** The words that lead to a command, the program's name included. */
function pathOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}
