/** What a JSON Schema asks for, to read: each member with its type, its bounds and what it is for. */
import { useState } from "react";
import { Code } from "../../../kit/code/code.tsx";
import { Button } from "../../../kit/controls/button.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";

type Schema = Readonly<Record<string, unknown>>;

/** Deeper members are read as JSON. */
const deepest = 5;
/** Members that are shown of one object. */
const most = 200;

interface Row {
  readonly path: string;
  readonly name: string;
  readonly level: number;
  readonly type: string;
  readonly isRequired: boolean;
  readonly about: string;
  readonly bounds: readonly string[];
}

export function SchemaTable({ schema }: { readonly schema: unknown }) {
  const [isJson, setJson] = useState(false);
  const rows = rowsOf(schema);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {isJson ? (
        <div className="overflow-hidden rounded-control border border-line">
          <Code label="Schema" language="json" value={inert(JSON.stringify(schema, null, 2))} />
        </div>
      ) : rows.length === 0 ? (
        <p className="m-0 text-ink-soft">{isObject(schema) ? "It takes no arguments." : "It takes anything."}</p>
      ) : (
        <ul className="m-0 list-none divide-y divide-line p-0">
          {rows.map((row) => (
            <li
              key={row.path}
              className="flex flex-col gap-0.5 py-1.5 first:pt-0"
              style={{ paddingLeft: `${row.level * 1.25}rem` }}
            >
              <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
                <code className="font-medium text-xs">{inert(row.name)}</code>
                <span className="text-ink-soft text-xs">{inert(row.type)}</span>
                {row.isRequired && <Badge tone="warn">required</Badge>}
                {row.bounds.map((bound) => (
                  <span key={bound} className="break-all text-ink-faint text-xs">
                    {inert(bound)}
                  </span>
                ))}
              </span>
              {row.about !== "" && (
                <span dir="auto" className="max-w-prose break-words text-ink-soft text-xs">
                  {inert(row.about)}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      <Button small look="ghost" className="self-start" onClick={() => setJson(!isJson)}>
        {isJson ? "Show as a list" : "Show as JSON"}
      </Button>
    </div>
  );
}

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function rowsOf(root: unknown): readonly Row[] {
  return isObject(root) ? membersOf(root, resolved(root, root), "", 0) : [];
}

function membersOf(root: Schema, schema: Schema, path: string, level: number): Row[] {
  if (level > deepest) return [];
  const { properties, required, items } = schema;
  if (isObject(properties)) {
    const needed = new Set(Array.isArray(required) ? required : []);
    return Object.entries(properties)
      .slice(0, most)
      .flatMap(([name, member]) => {
        const below = resolved(root, member);
        const here = `${path}.${name}`;
        const row = { path: here, name, level, isRequired: needed.has(name), ...told(root, below) };
        return [row, ...membersOf(root, below, here, level + 1)];
      });
  }
  return items === undefined ? [] : membersOf(root, resolved(root, items), `${path}[]`, level);
}

/** Follows a reference within the schema, once. */
function resolved(root: Schema, schema: unknown): Schema {
  if (!isObject(schema)) return {};
  const { $ref: reference } = schema;
  if (typeof reference !== "string" || !reference.startsWith("#/")) return schema;
  const found = reference
    .slice(2)
    .split("/")
    .reduce<unknown>(
      (at, part) => (isObject(at) ? at[part.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined),
      root,
    );
  return isObject(found) ? { ...found, ...schema, $ref: undefined } : schema;
}

function told(root: Schema, schema: Schema): Pick<Row, "type" | "about" | "bounds"> {
  const { description, title } = schema;
  const about = [title, description].filter((one): one is string => typeof one === "string" && one !== "");
  return { type: typeOf(root, schema, 0), about: [...new Set(about)].join(": "), bounds: boundsOf(schema) };
}

function typeOf(root: Schema, schema: Schema, level: number): string {
  const { type, items, enum: values, const: only, anyOf, oneOf, format } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
  const forms = [anyOf, oneOf].find(Array.isArray);
  if (Array.isArray(forms) && level < deepest)
    return [...new Set(forms.map((form) => typeOf(root, resolved(root, form), level + 1)))].join(" or ");
  if (type === "array" && level < deepest) return `list of ${typeOf(root, resolved(root, items), level + 1)}`;
  const plain = Array.isArray(type) ? type.join(" or ") : typeof type === "string" ? type : "anything";
  return typeof format === "string" ? `${plain} (${format})` : plain;
}

const bounds = [
  ["default", "default"],
  ["minimum", "≥"],
  ["exclusiveMinimum", ">"],
  ["maximum", "≤"],
  ["exclusiveMaximum", "<"],
  ["minLength", "at least, characters:"],
  ["maxLength", "at most, characters:"],
  ["minItems", "at least, entries:"],
  ["maxItems", "at most, entries:"],
  ["pattern", "matches"],
] as const;

function boundsOf(schema: Schema): readonly string[] {
  return bounds.flatMap(([member, words]) => {
    const value = schema[member];
    if (value === undefined) return [];
    return [`${words} ${typeof value === "string" && member === "pattern" ? value : JSON.stringify(value)}`];
  });
}
