/** The templates of one manifest: each is parsed once, and all together only so far. */
import type { Json } from "../../kernel/json.ts";
import { type Fields, textFault } from "../../manifest/fields.ts";
import { maxTemplateCharacters, templateFault } from "../../manifest/members.ts";
import { tagCharacters } from "../../template/nesting.ts";
import type { Command } from "../definition/states.ts";

/** Between braces, in all of a manifest; parsing takes about 2 µs for each, and more for each text. */
const maxTagCharacters = 96 * 1024;
const charactersPerText = 16;
/** Of all commands, where blocks make several texts of one. */
const maxVariantCharacters = 1_000_000;
const mostVariants = 64;

/** Of what states expect; compiling takes about 10 ms for each KiB. */
const maxSchemaCharacters = 32 * 1024;

const plain = { max: maxTemplateCharacters };

/** Whether a text says the same for every blackboard. */
export const isLiteral = (source: string): boolean => !source.includes("{{");

export class Templates {
  /** Those that can be read, and where they stand. */
  readonly read: { readonly path: string; readonly source: string }[] = [];
  private left = maxTagCharacters;
  private leftOfVariants = maxVariantCharacters;
  private leftOfSchemas = maxSchemaCharacters;

  /** Adds issues for every text in a value, at any depth. */
  walk(fields: Fields, at: string, value: Json): void {
    if (typeof value === "string") {
      const fault = textFault(value, plain);
      if (fault === null) this.check(fields, at, value);
      else fields.issue(at, fault);
    }
    if (value === null || typeof value !== "object") return;
    for (const [name, child = null] of Object.entries(value)) this.walk(fields, `${at}.${name.slice(0, 80)}`, child);
  }

  /** Whether a text can be read; an issue when not. */
  check(fields: Fields, at: string, source: string): boolean {
    if (isLiteral(source)) return true;
    if (!this.spend(fields, at, tagCharacters(source))) return false;
    const fault = templateFault(source);
    if (fault !== null) fields.issue(at, fault, "invalid_template");
    else this.read.push({ path: fields.at(at), source });
    return fault === null;
  }

  /** Whether there is still time to read so much; once there is not, nothing more is read. */
  spend(fields: Fields, at: string, characters: number): boolean {
    const before = this.left;
    this.left -= characters + charactersPerText;
    const isEnough = this.left >= 0;
    // One issue is enough.
    if (!isEnough && before >= 0) {
      fields.issue(at, "the templates of the manifest are too long together", "invalid_template");
    }
    return isEnough;
  }

  /** Whether a JSON Schema of so many characters may still be compiled: all of the states share one bound. */
  spendOnSchema(fields: Fields, at: string, characters: number): boolean {
    this.leftOfSchemas -= characters;
    if (this.leftOfSchemas >= 0) return true;
    fields.issue(at, `the schemas of all states may have at most ${maxSchemaCharacters / 1024} KiB`, "invalid_schema");
    return false;
  }

  /**
   * How many characters may be looked at for all the texts that a command's blocks can make of it. What is not looked
   * at here is found when the command is rendered.
   */
  spendOnCommand(command: Command): number {
    const text = command.form === "text" ? command.text : command.list.join(" ");
    const blocks = text.match(/\{\{~?[#^]/g)?.length ?? 0;
    const allotted = this.leftOfVariants;
    this.leftOfVariants = Math.max(0, allotted - text.length * Math.min(mostVariants, 2 ** blocks));
    return allotted;
  }
}
