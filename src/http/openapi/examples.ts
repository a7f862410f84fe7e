/** Examples of bodies, made from their schemas: a schema's own `examples` count, then what its keywords and names say. */

type Schema = Readonly<Record<string, unknown>>;

/** Deeper members are left empty: shapes may be long. */
const maxDepth = 8;

/** A value that fits the schema; undefined where the schema says nothing of a value. */
export function exampleOf(schema: unknown, name = "", depth = 0): unknown {
  const { examples, anyOf, allOf, oneOf, type, ...rest } = schema as Schema;
  if (Array.isArray(examples)) return examples[0];
  for (const keyword of ["default", "const"]) if (rest[keyword] !== undefined) return rest[keyword];
  if (Array.isArray(rest.enum)) return rest.enum[0];
  if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map((part) => exampleOf(part, name, depth)));
  const options = anyOf ?? oneOf;
  if (Array.isArray(options))
    return exampleOf(options.find((option) => option.type !== "null") ?? options[0], name, depth);
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return exampleText(rest, name);
    case "integer":
    case "number":
      return typeof rest.minimum === "number" ? rest.minimum : 1;
    case "boolean":
      return false;
    case "null":
      return null;
    case "array":
      return depth < maxDepth || Number(rest.minItems ?? 0) > 0 ? exampleList(rest, name, depth) : [];
    case "object":
      return exampleObject(rest, depth);
    default:
      return {};
  }
}

function exampleList({ items, minItems }: Schema, name: string, depth: number): unknown[] {
  // A tuple lists the schema of each of its elements.
  if (Array.isArray(items)) return items.map((item) => exampleOf(item, name, depth + 1));
  if (items === undefined) return [];
  const one = exampleOf(items, name.replace(/s$/, ""), depth + 1);
  return Array.from({ length: Math.max(1, Number(minItems ?? 1)) }, () => one);
}

function exampleObject({ properties, required }: Schema, depth: number): Record<string, unknown> {
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries((properties ?? {}) as Record<string, Schema>).filter(
    ([name]) => depth < maxDepth || needed.has(name),
  );
  return Object.fromEntries(members.map(([name, property]) => [name, exampleOf(property, name, depth + 1)]));
}

const id = "0190f3c4-6d1e-7a55-9c1f-2f6d0c5b8e11";
const time = "2031-05-02T06:00:09.120Z";

/** What a member's name says of its text; the first that fits. */
const namedTexts: readonly (readonly [RegExp, string])[] = [
  [/^(tenant_id|tenant|home_tenant)$/, "acme"],
  [/sha256/, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
  [/(^|_)id$|_sub$|^sub$/, id],
  [/_at$|^timestamp$|^(from|to)$/, time],
  [/version$/, "1.0.0"],
  [/(^|_)url$|_uri$/, "https://svc.example"],
  [/path$/, "/workspace/report.md"],
  [/mime_type|media_type/, "text/plain"],
  [/_?yaml$/, "apiVersion: svc.dev/v1\n"],
  [/email|recipient/, "person@acme.example"],
  [/source$/, "ci"],
  [/model/, "default"],
  [/name$|^agent$|^workflow$/, "hello"],
];

function exampleText({ format, minLength, pattern }: Schema, name: string): string {
  if (format === "uuid") return id;
  if (format === "date-time") return time;
  const said = namedTexts.find(([names]) => names.test(name))?.[1] ?? "text";
  const long = typeof minLength === "number" ? said.padEnd(minLength, "x") : said;
  return typeof pattern === "string" && !new RegExp(pattern).test(long) ? id : long;
}
