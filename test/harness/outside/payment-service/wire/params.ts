/** The parameters of one request, read with the strictness of the provider. */
import { invalid } from "./errors.ts";
import type { Form } from "./form.ts";

export class Params {
  constructor(
    private readonly form: Readonly<Record<string, Form>>,
    /** Of this object inside of the request: `items[0]`; "" for the request itself. */
    private readonly at = "",
  ) {}

  has(name: string): boolean {
    return this.form[name] !== undefined;
  }

  /** Unset by the empty string. */
  isEmptied(name: string): boolean {
    return this.form[name] === "";
  }

  text(name: string): string | null {
    const value = this.form[name];
    if (value === undefined || value === "") return null;
    if (typeof value !== "string") throw invalid("Invalid string", this.named(name));
    return value;
  }

  requireText(name: string): string {
    const value = this.text(name);
    if (value === null) {
      throw invalid(`Missing required param: ${this.named(name)}.`, this.named(name), "parameter_missing");
    }
    return value;
  }

  choice<const W extends string>(name: string, words: readonly W[], fallback: W): W {
    const value = this.text(name);
    if (value === null) return fallback;
    const found = words.find((word) => word === value);
    if (found === undefined) throw invalid(`Invalid ${name}: must be one of ${words.join(", ")}`, this.named(name));
    return found;
  }

  integer(name: string): number | null {
    const value = this.text(name);
    if (value === null) return null;
    if (!/^-?\d+$/.test(value))
      throw invalid(`Invalid integer: ${value}`, this.named(name), "parameter_invalid_integer");
    return Number(value);
  }

  flag(name: string): boolean | null {
    const value = this.text(name);
    if (value === null) return null;
    if (value !== "true" && value !== "false") throw invalid(`Invalid boolean: ${value}`, this.named(name));
    return value === "true";
  }

  object(name: string): Params | null {
    const value = this.form[name];
    if (value === undefined || value === "") return null;
    if (typeof value !== "object" || Array.isArray(value)) throw invalid("Invalid object", this.named(name));
    return new Params(value, this.named(name));
  }

  objects(name: string): readonly Params[] | null {
    const value = this.form[name];
    if (value === undefined || value === "") return null;
    if (!Array.isArray(value)) throw invalid("Invalid array", this.named(name));
    return value.map((one, index) => {
      if (typeof one !== "object" || Array.isArray(one))
        throw invalid("Invalid object", `${this.named(name)}[${index}]`);
      return new Params(one, `${this.named(name)}[${index}]`);
    });
  }

  texts(name: string): readonly string[] {
    const value = this.form[name];
    if (value === undefined || value === "") return [];
    if (!Array.isArray(value)) throw invalid("Invalid array", this.named(name));
    return value.map((one) => {
      if (typeof one !== "string") throw invalid("Invalid string", this.named(name));
      return one;
    });
  }

  /** What stands there, changed as asked: an empty value removes a key, an empty `metadata` all of them. */
  metadata(former: Readonly<Record<string, string>> = {}): Record<string, string> {
    if (this.isEmptied("metadata")) return {};
    const asked = this.form.metadata;
    if (asked === undefined) return { ...former };
    if (typeof asked !== "object" || Array.isArray(asked)) throw invalid("Invalid object", this.named("metadata"));
    const entries = Object.entries(asked).map(([key, value]): [string, string] => {
      if (typeof value !== "string") throw invalid("Metadata values must be strings", this.named("metadata"));
      return [key, value];
    });
    return Object.fromEntries([...Object.entries(former), ...entries].filter(([, value]) => value !== ""));
  }

  /** @throws ApiError for a name that this object does not have */
  only(names: readonly string[]): this {
    const unknown = Object.keys(this.form).find((name) => !names.includes(name));
    if (unknown !== undefined) {
      throw invalid(`Received unknown parameter: ${this.named(unknown)}`, this.named(unknown), "parameter_unknown");
    }
    return this;
  }

  /** As it is compared with a former request under the same key. */
  toString(): string {
    return JSON.stringify(this.form);
  }

  private named(name: string): string {
    return this.at === "" ? name : `${this.at}[${name}]`;
  }
}
