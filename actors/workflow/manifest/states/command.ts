/** What a state runs: its text or arguments, and where templates may stand in them. */
import type { Fields } from "../../../manifest/fields.ts";
import type { Command } from "../../definition.ts";
import { checkCommand } from "../../shell/text.ts";
import { commandWarnings } from "../../shell/warnings.ts";
import type { Reading } from "../reading.ts";

const maxArguments = 1024;

/** Of a System state: a text or a list. */
export function readCommand(fields: Fields, reading: Reading): Command {
  if (Array.isArray(fields.raw("command"))) {
    const command = { form: "list", list: readList(fields, reading) } as const;
    check(fields, reading, command);
    return command;
  }
  const text = reading.templates.required(fields, "command");
  const command = { form: "text", text: text ?? "" } as const;
  if (text !== null) check(fields, reading, command);
  return command;
}

/**
 * Of a container: always a list.
 * @param shell whether its elements are one text for a shell
 */
export function readArguments(fields: Fields, reading: Reading, shell: boolean): string[] {
  if (!fields.has("command")) fields.issue("command", "is required");
  const list = readList(fields, reading);
  check(fields, reading, shell ? { form: "text", text: list.join(" ") } : { form: "list", list });
  return list;
}

function readList(fields: Fields, { templates }: Reading): string[] {
  const list = templates.list(fields, "command", maxArguments);
  const isBlank = fields.has("command") && list.every((source) => source.trim() === "");
  if (isBlank && !fields.findings.hasIssueAt(fields.at("command"))) fields.issue("command", "must name what to run");
  return list;
}

function check(fields: Fields, { templates }: Reading, command: Command): void {
  // A template that cannot be read has its issue already.
  if (fields.findings.hasIssueAt(fields.at("command"))) return;
  const fault = checkCommand(command, templates.spendOnCommand(command));
  if (fault !== null) fields.issue("command", fault.message, fault.code);
  else for (const warning of commandWarnings(command)) fields.warn("command", "command_risk", warning);
}
