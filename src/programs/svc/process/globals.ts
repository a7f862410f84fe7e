/** The options that every verb has, wherever they stand. */
import { type Command, Option } from "commander";

/** Null: not given. */
export interface Globals {
  readonly context: string | null;
  readonly url: string | null;
  readonly tenant: string | null;
  readonly apiKey: string | null;
  readonly allowPlaintext: boolean;
  readonly json: boolean;
  readonly yaml: boolean;
  readonly color: boolean;
  readonly yes: boolean;
}

const globalOptions: readonly (readonly [flags: string, meaning: string])[] = [
  ["--context <name>", "use this context instead of the current one"],
  ["--url <url>", "call the service at this address"],
  ["--tenant <slug>", "act in this tenant"],
  ["--api-key <key>", "sign calls by this API key or token"],
  ["--allow-plaintext", "call a service on another machine over plain http"],
  ["--json", "print JSON"],
  ["--yaml", "print YAML"],
  ["--no-color", "print without colours"],
  ["-y, --yes", "answer every question with yes"],
];

/** The options of every verb. They may stand before and after it; help shows them at the program alone. */
export function addGlobals(command: Command, isShown = false): Command {
  for (const [flags, meaning] of globalOptions) {
    const option = new Option(flags, meaning).helpGroup("Global options:");
    if (!isShown) option.hideHelp();
    command.addOption(option);
  }
  return command;
}

/** What stands next to the verb is stronger than what stands before its group. */
export function globalsOf(command: Command): Globals {
  const given: Record<string, unknown> = {};
  for (let at: Command | null = command; at !== null; at = at.parent) {
    for (const [flags] of globalOptions) {
      const name = new Option(flags).attributeName();
      const source = at.getOptionValueSource(name);
      if (source !== undefined && source !== "default" && !(name in given)) given[name] = at.getOptionValue(name);
    }
  }
  const text = (name: string) => (typeof given[name] === "string" ? String(given[name]) : null);
  return {
    context: text("context"),
    url: text("url"),
    tenant: text("tenant"),
    apiKey: text("apiKey"),
    allowPlaintext: given.allowPlaintext === true,
    json: given.json === true,
    yaml: given.yaml === true,
    color: given.color !== false,
    yes: given.yes === true,
  };
}
