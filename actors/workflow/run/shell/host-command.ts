/**
 * The command of a Fleet state, as hosts run it by `cmd.run`. No value of a template stands in text that a shell parses:
 * it is an argument of its own, or a parameter of the script.
 */
import type { Json } from "../../../kernel/json.ts";
import type { Part } from "../../../template/template.ts";
import { StateFault } from "../kind.ts";
import type { RunTurn } from "../turn.ts";
import { scriptPlace } from "./argv.ts";
import { renderShell, requireArgument } from "./text.ts";

/**
 * @param command a text, or a list of the program and its arguments
 * @returns the arguments of `cmd.run`
 * @throws StateFault `template_resolved_empty`, `template_value_invalid`, `unsafe_template_position`; TemplateError
 */
export function hostCommand(run: RunTurn, command: Json): { readonly [name: string]: Json } {
  if (typeof command === "string") return ofText(run.renderParts(command));
  if (Array.isArray(command)) return ofList(command.map((one: Json) => run.renderParts(String(one))));
  throw new StateFault("template_value_invalid", "The command is neither a text nor a list");
}

function ofText(parts: readonly Part[]): { readonly [name: string]: Json } {
  const text = textOf(parts);
  if (text.trim() === "") throw new StateFault("template_resolved_empty", "The command is empty once rendered");
  // Without values the host reads it as it reads every line: a program and its arguments, or a line for its shell.
  if (parts.every(({ by }) => by === "author")) return { command: text };
  const { script, env } = renderShell(parts);
  const values = Object.values(env);
  const named = Object.keys(env).map((name, index) => `${name}=\${${index + 1}}`);
  return { command: "/bin/sh", args: ["-c", `${named.join("; ")}; ${script}`, "sh", ...values] };
}

function ofList(list: readonly (readonly Part[])[]): { readonly [name: string]: Json } {
  const elements = list.map((parts) => {
    return { parts, text: textOf(parts), hasValues: parts.some(({ by }) => by === "value") };
  });
  const [program = "", ...args] = elements.map(({ text }) => text);
  if (program.trim() === "") throw new StateFault("template_resolved_empty", "The command is empty once rendered");
  for (const argument of [program, ...args]) requireArgument("An argument of the command", argument);
  const place = scriptPlace(elements);
  const isScript = !("unsafe" in place) && place.index !== null && elements[place.index]?.hasValues === true;
  if ("unsafe" in place || isScript) {
    const message =
      "A value stands in the script of a shell: give it as an argument behind the script, which is $1 there";
    throw new StateFault("unsafe_template_position", message);
  }
  return { command: program, args };
}

const textOf = (parts: readonly Part[]): string => parts.map(({ text }) => text).join("");
