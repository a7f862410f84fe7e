/** Arguments of the `fs.*` tools: what models are shown, and what calls are checked against. */
import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { shapeIssues } from "../../../actors/kernel/shape-issues.ts";
import { ToolFailure } from "./outcome.ts";

/** Most bytes one `fs.*` call reads, writes or edits. */
export const maxFileBytes = 10 * 1024 * 1024;
/** Most matches of `fs.grep` and `fs.glob`. */
export const maxMatches = 1000;

const path = Type.String({
  minLength: 1,
  description: "Path under /workspace; a relative one starts there",
});
const folder = Type.String({
  minLength: 1,
  default: "/workspace",
  description: "Directory to start from",
});
const edit = Type.Object({
  target_content: Type.String({
    minLength: 1,
    description: "Text to replace; must occur exactly once",
  }),
  replacement_content: Type.String(),
});

const shape = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: true });

export const fsArguments = {
  "fs.read": shape({
    path,
    offset: Type.Integer({
      minimum: 0,
      default: 0,
      description: "Byte to start at",
    }),
    max_bytes: Type.Integer({
      minimum: 1,
      maximum: maxFileBytes,
      default: 1_048_576,
    }),
  }),
  "fs.write": shape({
    path,
    content: Type.String(),
    encoding: Type.Union([Type.Literal("utf-8"), Type.Literal("base64")], {
      default: "utf-8",
    }),
    mode: Type.Union([Type.Literal("overwrite"), Type.Literal("append"), Type.Literal("create_new")], {
      default: "overwrite",
    }),
    create_parents: Type.Boolean({ default: true }),
  }),
  "fs.list": shape({
    path: folder,
    recursive: Type.Boolean({ default: false }),
    limit: Type.Integer({ minimum: 1, maximum: 10_000, default: 1000 }),
  }),
  "fs.create_dir": shape({ path }),
  "fs.delete": shape({ path, recursive: Type.Boolean({ default: false }) }),
  "fs.edit": shape({
    path,
    ...edit.properties,
    replace_all: Type.Boolean({ default: false }),
  }),
  "fs.multi_edit": shape({
    path,
    edits: Type.Array(edit, { minItems: 1, maxItems: 1000 }),
  }),
  "fs.grep": shape({
    pattern: Type.String({
      minLength: 1,
      maxLength: 10_000,
      description: "Regular expression, matched line by line",
    }),
    path: folder,
    include: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: "Glob that file names must match",
      }),
    ),
    case_sensitive: Type.Boolean({ default: true }),
  }),
  "fs.glob": shape({
    pattern: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: "For example **/*.ts",
    }),
    path: folder,
  }),
} as const;

export type FsTool = keyof typeof fsArguments;
export type FsArguments<T extends FsTool> = Static<(typeof fsArguments)[T]>;

/** What models are told of each; which of them only look says the catalogue. */
export const fsDescriptions: Readonly<Record<FsTool, string>> = {
  "fs.read": "Read a file. Binary content comes as base64.",
  "fs.write": "Write a file: replace it, append to it, or create it only if absent.",
  "fs.list": "List a directory.",
  "fs.create_dir": "Create a directory and its parents.",
  "fs.delete": "Delete a file or a directory.",
  "fs.edit": "Replace one occurrence of a text in a file, or all of them.",
  "fs.multi_edit": "Apply several replacements to one file, all or none.",
  "fs.grep": "Search files for lines that match a regular expression.",
  "fs.glob": "Find files by a glob pattern.",
};

/**
 * Fills in defaults and checks the arguments of one tool.
 * @throws ToolFailure `invalid_arguments` naming every member that does not fit
 */
export function checkArguments<T extends FsTool>(tool: T, given: Readonly<Record<string, unknown>>): FsArguments<T> {
  const schema = fsArguments[tool];
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const value = Value.Default(schema, present);
  if (Value.Check(schema, value)) return value as FsArguments<T>;
  const issues = shapeIssues(Value.Errors(schema, value), 20).map((issue) => ({ ...issue }));
  const text = issues.map((issue) => `${issue.path}: ${issue.message}`).join("; ");
  throw new ToolFailure("invalid_arguments", `${tool}: ${text}`, { issues });
}
