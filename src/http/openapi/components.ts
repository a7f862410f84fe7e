/** The named schemas of the API document: features name them, and every place that holds one of them refers to it. */

type Schema = Readonly<Record<string, unknown>>;

/** Schemas by the name clients know them by. */
export type NamedSchemas = Readonly<Record<string, unknown>>;

export class Components {
  /** The text of a schema → its name. */
  private readonly names = new Map<string, string>();
  readonly schemas: Record<string, unknown> = {};

  /**
   * @param named as answers carry them
   * @param written how a schema looks where a caller writes it: members with defaults may be left out
   * @throws Error for two schemas of one shape or one name
   */
  constructor(named: NamedSchemas, written: (schema: never) => unknown) {
    const definitions: [string, unknown][] = [];
    for (const [name, schema] of Object.entries(named)) {
      if (Object.hasOwn(schema as object, "$defs")) {
        this.adopt(name, schema as Schema);
        continue;
      }
      const plain = plainSchema(schema);
      const asWritten = plainSchema(written(schema as never));
      this.name(name, plain);
      definitions.push([name, plain]);
      if (JSON.stringify(plain) === JSON.stringify(asWritten)) continue;
      this.name(`${name}Input`, asWritten);
      definitions.push([`${name}Input`, asWritten]);
    }
    for (const [name, schema] of definitions) this.schemas[name] = this.inside(schema);
  }

  /** A JSON Schema document of its own: its `$defs` become components, named behind it. */
  private adopt(name: string, schema: Schema): void {
    const { $defs = {}, $schema: _, $id: __, ...rest } = plainSchema(schema) as Record<string, unknown>;
    const local = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', `"#/components/schemas/${name}.`));
    this.schemas[name] = local(rest);
    for (const [key, definition] of Object.entries($defs as Record<string, unknown>)) {
      this.schemas[`${name}.${key}`] = local(definition);
    }
  }

  /** The schema as it stands in the document. */
  refer(schema: unknown): unknown {
    return this.replaced(plainSchema(schema));
  }

  private name(name: string, plain: unknown): void {
    if ([...this.names.values()].includes(name)) throw new Error(`two schemas are called ${name}`);
    const text = JSON.stringify(plain);
    const known = this.names.get(text);
    if (known !== undefined) throw new Error(`the schemas ${known} and ${name} are the same`);
    this.names.set(text, name);
  }

  private replaced(plain: unknown): unknown {
    if (plain === null || typeof plain !== "object") return plain;
    const name = mayBeNamed(plain) ? this.names.get(JSON.stringify(plain)) : undefined;
    return name === undefined ? this.inside(plain) : { $ref: `#/components/schemas/${name}` };
  }

  private inside(plain: unknown): unknown {
    if (Array.isArray(plain)) return plain.map((each) => this.replaced(each));
    const members = Object.entries(plain as Schema).map(([key, value]) => [
      key,
      key === "examples" || key === "default" ? value : this.replaced(value),
    ]);
    return Object.fromEntries(members);
  }
}

/** Only these are looked up by their text: it is long. */
const mayBeNamed = (schema: object): boolean =>
  "properties" in schema || "anyOf" in schema || "allOf" in schema || "patternProperties" in schema;

/** As JSON: marks of TypeBox, and ours, stay inside; tuples are written as JSON Schema 2020-12 has them. */
function plainSchema(schema: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      if (/^x-(code|message|raw)$/.test(key)) return undefined;
      const name = (value as Schema | null)?.["x-ref"];
      if (typeof name === "string") return { $ref: `#/components/schemas/${name}` };
      return isTuple(value) ? tupleSchema(value) : value;
    }),
  );
}

/** TypeBox writes a tuple as an array `items`, which drafts before 2020-12 had. */
const isTuple = (value: unknown): value is Schema & { readonly items: readonly unknown[] } =>
  Array.isArray((value as Schema | null)?.items) && (value as Schema).additionalItems === false;

function tupleSchema({ items, additionalItems: _, ...rest }: Schema & { readonly items: readonly unknown[] }): Schema {
  return { ...rest, prefixItems: items, items: false };
}
