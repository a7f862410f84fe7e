/** What the command line writes: lines and tables for people, JSON or YAML for programs; remarks to standard error. */
import type { Io } from "../process/io.ts";
import { type CellKind, cell } from "./cells.ts";
import { type Colours, coloursFor, painted } from "./colours.ts";
import { escaped, inline, lines, Safe, say, steers } from "./inert.ts";
import { tableLines } from "./table.ts";

export type Format = "text" | "json" | "yaml";

/** A column of a list, or a line of a record. */
export interface Field<T> {
  readonly name: string;
  readonly value: (item: T) => unknown;
  readonly kind?: CellKind;
}

export interface Output {
  readonly format: Format;
  /** Of standard output, and of standard error. */
  readonly colours: Colours;
  readonly noteColours: Colours;
  /** The answer for programs; nothing where people read. */
  data(value: unknown): Promise<void>;
  /** One of many answers, as they come: a line of JSON, or a document of YAML. */
  event(value: unknown): Promise<void>;
  /** A line for people; nothing where programs read. */
  line(text: Safe): void;
  /** Rows under heads; nothing where programs read. */
  table<T>(fields: readonly Field<T>[], items: readonly T[]): void;
  /** One record, a line for each field that has a value; nothing where programs read. */
  record<T>(fields: readonly Field<T>[], item: T): void;
  /** Bytes or text of the caller's own, as a file or a script, as they are. */
  raw(text: string): void;
  /** A text that a record or an answer holds, and nothing else: as it is, but inert where a terminal shows it. */
  content(text: string): void;
  /** A remark or progress, on standard error. */
  note(text: Safe): void;
}

export interface OutputOptions {
  readonly format: Format;
  readonly isColourWanted: boolean;
}

export function createOutput(io: Io, { format, isColourWanted }: OutputOptions): Output {
  const colours = coloursFor(io, io.isTerminal, isColourWanted);
  const isText = format === "text";
  const relativeTo = () => (io.isTerminal ? io.now() : null);
  const line = (text: Safe) => {
    if (isText) io.out(`${text.text}\n`);
  };
  return {
    format,
    colours,
    noteColours: coloursFor(io, io.isErrTerminal, isColourWanted),
    async data(value) {
      if (format === "json") io.out(jsonOf(value, 2));
      if (format === "yaml") io.out(await yamlOf(value));
    },
    async event(value) {
      if (format === "json") io.out(jsonOf(value));
      if (format === "yaml") io.out(`---\n${await yamlOf(value)}`);
    },
    line,
    table(fields, items) {
      const now = relativeTo();
      const rows = items.map((item) => fields.map(({ value, kind = "text" }) => cell(value(item), kind, now)));
      const heads = fields.map(({ name }) => name.toUpperCase());
      const style = (text: string, row: number, column: number) => {
        if (row < 0) return colours.dim(new Safe(text));
        return fields[column]?.kind === "status" ? painted(text, colours) : new Safe(text);
      };
      for (const row of tableLines(heads, rows, io.isTerminal ? io.columns : null, style)) line(row);
    },
    record(fields, item) {
      const now = relativeTo();
      const shown = fields
        .map(({ name, value, kind = "text" }) => ({ name, kind, value: value(item) }))
        .filter(({ value }) => value !== null && value !== undefined && value !== "")
        .filter(({ value }) => !Array.isArray(value) || value.length > 0);
      const width = Math.max(0, ...shown.map(({ name }) => name.length)) + 2;
      for (const { name, value, kind } of shown) {
        const text = cell(value, kind, now);
        const told = kind === "status" ? painted(text, colours) : text;
        line(say`${colours.dim(new Safe(`${inline(name)}:`.padEnd(width)))} ${told}`);
      }
    },
    raw: (text) => io.out(text),
    content: (text) => io.out(io.isTerminal ? lines(text).text : text),
    note: (text) => io.err(`${text.text}\n`),
  };
}

const jsonOf = (value: unknown, indent = 0): string => `${escaped(JSON.stringify(value ?? null, null, indent))}\n`;

const yamlOf = async (value: unknown): Promise<string> => (await yamlWriter())(value);

/** @returns what writes a value as a document of YAML that holds nothing that would steer a terminal */
export async function yamlWriter(): Promise<(value: unknown) => string> {
  const { Document, visit } = await import("yaml");
  return (value) => {
    const document = new Document(value ?? null, { aliasDuplicateObjects: false });
    visit(document, {
      Scalar(_, node) {
        if (typeof node.value === "string" && steers(node.value)) node.type = "QUOTE_DOUBLE";
      },
    });
    return escaped(document.toString({ lineWidth: 0 }));
  };
}
