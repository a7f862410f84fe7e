/**
 * Commands that a shell runs (docs/reference/workflows.md): no value is ever placed in the text that it parses.
 *
 * Value n becomes the environment variable `SVC_ARG_n`, and the script refers to it, quoted so that it stays one word.
 * `grep -c {{a}} '{{b}}'` runs as `grep -c "${SVC_ARG_1}" ''"${SVC_ARG_2}"''`.
 */
import type { Outline, Part } from "../../../template/template.ts";
import { compile } from "../../../template/template.ts";
import type { Command } from "../../definition/states.ts";
import { StateFault } from "../kind.ts";
import { scriptPlace } from "./argv.ts";
import { examine, MARK, type Place } from "./places.ts";

export interface ShellText {
  /** For `/bin/sh -c`. */
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

const maxValues = 256;
/** What Linux lets one argument or variable have, its name and the closing NUL included. */
export const maxArgumentBytes = 131_072;

/**
 * The script and the variables of a rendered template.
 *
 * @throws StateFault `unsafe_template_position` where a value stands that could not be kept one word;
 *   `template_value_invalid` for more than 256 values, NUL, or texts longer than a process may be given
 */
export function renderShell(parts: readonly Part[]): ShellText {
  const values = parts.filter(({ by }) => by === "value").map(({ text }) => text);
  if (values.length > maxValues) throw invalidValue(`The command has more than ${maxValues} values`);
  const literals = parts.filter(({ by }) => by === "author");
  if (literals.some(({ text }) => text.includes(MARK))) throw invalidValue("The command holds a NUL character");
  const marked = parts.map(({ by, text }) => (by === "value" ? MARK : text)).join("");
  const script = replaced(marked, examine(marked).places);
  requireArgument("The script", script);
  const named = values.map((value, index) => [`SVC_ARG_${index + 1}`, value] as const);
  for (const [name, value] of named) requireVariable(name, value);
  return { script, env: Object.fromEntries(named) };
}

function replaced(marked: string, places: readonly Place[]): string {
  const [first = "", ...rest] = marked.split(MARK);
  const pieces = rest.map((literal, index) => reference(places[index], index + 1) + literal);
  return first + pieces.join("");
}

function reference(place: Place | undefined, number: number): string {
  const variable = `\${SVC_ARG_${number}}`;
  if (place === "bare") return `"${variable}"`;
  if (place === "double") return variable;
  if (place === "single") return `'"${variable}"'`;
  throw new StateFault("unsafe_template_position", unsafeMessage(number, place?.unsafe ?? ""));
}

function unsafeMessage(number: number, where: string): string {
  return `Value ${number} of the command stands ${where}: put it in env and refer to the variable`;
}

const invalidValue = (message: string): StateFault => new StateFault("template_value_invalid", message);

/** @throws StateFault `template_value_invalid` */
export function requireVariable(name: string, value: string): void {
  requireArgument(name, `${name}=${value}`);
}

/** @throws StateFault `template_value_invalid` when no program can be given this text */
export function requireArgument(what: string, text: string): void {
  if (text.includes("\0")) throw invalidValue(`${what} holds a NUL character`);
  if (Buffer.byteLength(text) >= maxArgumentBytes) {
    throw invalidValue(`${what} has more bytes than the ${maxArgumentBytes} that a program can be given`);
  }
}

const mostVariants = 64;
/** Characters, of all variants of a text together; the first variant is examined in any case. */
const mostExamined = 2_000_000;

/**
 * Whether every value of a command's template has a place where it can stand, for its registration: a value is refused
 * when it is unsafe however the blocks around it are evaluated. What depends on that is found by `renderShell`.
 *
 * @param most characters of scripts to look through; what is left then is found when it is rendered
 * @throws TemplateError when the text is no template
 */
export function checkCommandText(
  text: string,
  most = mostExamined,
): { readonly code: string; readonly message: string } | null {
  return checkOutline(compile(text).outline(), most);
}

/** As `checkCommandText`, of a command in either form. */
export function checkCommand(command: Command, most = mostExamined): ReturnType<typeof checkCommandText> {
  if (command.form === "text") return checkCommandText(command.text, most);
  const list = command.list.map(markedText).map((text) => ({ text, hasValues: text.includes(MARK) }));
  const place = scriptPlace(list);
  if ("unsafe" in place) return { code: "unsafe_template_position", message: `A value stands ${place.unsafe}` };
  return place.index === null ? null : checkCommandText(command.list[place.index] ?? "", most);
}

function checkOutline(outline: Outline, most: number): ReturnType<typeof checkCommandText> {
  const safe = new Set<object>();
  const unsafe = new Map<object, string>();
  let examined = 0;
  for (const { script, values } of variants(outline)) {
    if (script.split(MARK).length - 1 !== values.length) {
      return { code: "template_value_invalid", message: "The command holds a NUL character" };
    }
    examine(script).places.forEach((place, index) => {
      const value = values[index];
      if (value === undefined) return;
      if (typeof place === "string") safe.add(value);
      else if (!unsafe.has(value)) unsafe.set(value, unsafeMessage(index + 1, place.unsafe));
    });
    examined += script.length;
    if (examined > most) break;
  }
  const message = [...unsafe].find(([value]) => !safe.has(value))?.[1];
  return message === undefined ? null : { code: "unsafe_template_position", message };
}

/** A command's text as a shell would get it when every block is entered once. */
export function markedText(text: string): string {
  const [first] = variants(compile(text).outline());
  return first?.script ?? "";
}

/** The texts that come of entering blocks or not, each as one script whose values are marks. */
function* variants(outline: Outline): Generator<{ script: string; values: readonly object[] }> {
  const choices: boolean[] = [];
  for (let count = 0; count < mostVariants; count += 1) {
    const pieces: string[] = [];
    const values: object[] = [];
    let made = 0;
    const write = (within: Outline): void => {
      for (const part of within) {
        if (part.is === "text") pieces.push(part.text);
        else if (part.is === "value") {
          pieces.push(MARK);
          values.push(part);
        } else {
          choices[made] ??= true;
          made += 1;
          write(choices[made - 1] === true ? part.body : part.otherwise);
        }
      }
    };
    write(outline);
    yield { script: pieces.join(""), values };
    choices.length = made;
    while (choices.at(-1) === false) choices.pop();
    if (choices.length === 0) return;
    choices[choices.length - 1] = false;
  }
}
