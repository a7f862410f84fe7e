/** What a state runs: its text or arguments, and where templates may stand in them. */
import type { Fields } from "../../../manifest/fields.ts";
import { either, list } from "../../../manifest/shape.ts";
import type { Command } from "../../definition/states.ts";
import { checkCommand as commandFault } from "../../run/shell/text.ts";
import { commandWarnings } from "../../run/shell/warnings.ts";
import { filledTemplate, template } from "../members.ts";
import type { Templates } from "../templates.ts";

/** Of a container: always a list. */
export const commandList = list(template, 1024).check((list, _scope, fields, key) =>
  list.every((source) => source.trim() === "") && !fields.findings.hasIssueAt(fields.at(key))
    ? "must name what to run"
    : null,
);

/** Of a System state: a text or a list. */
export const command = either("must be a string", {
  string: filledTemplate.as((text): Command => ({ form: "text", text })),
  array: commandList.as((list): Command => ({ form: "list", list: [...list] })),
});

/** Adds the issues and warnings for what a shell would make of it. */
export function checkCommand(fields: Fields, templates: Templates, command: Command): void {
  // A template that cannot be read has its issue already.
  if (fields.findings.hasIssueAt(fields.at("command"))) return;
  const fault = commandFault(command, templates.spendOnCommand(command));
  if (fault !== null) fields.issue("command", fault.message, fault.code);
  else for (const warning of commandWarnings(command)) fields.warn("command", "command_risk", warning);
}
