/** Objects of a manifest: their members, and objects whose members depend on one of them. */
import { isObject } from "../kernel/json.ts";
import type { Fields } from "./fields.ts";
import {
  type AnyShape,
  type Definitions,
  type JsonSchema,
  type Members,
  type ReadOf,
  type ScopeOf,
  Shape,
} from "./shape.ts";
import { mergedTextPaths, type TextPaths } from "./text-paths.ts";

interface Body<M extends object, T, S> {
  readonly members: M;
  /** Makes the value of what was read, and holds rules that concern several members; null only after an issue. */
  readonly build: (read: ReadOf<M>, fields: Fields, scope: S) => T;
  /** What unknown members are not a field of: "a judge"; null: they have no effect, with a warning. */
  readonly strict: string | null;
}

export class ObjectShape<M extends object, T, S> extends Shape<T | null, S> {
  constructor(readonly body: Body<M, T, S>) {
    super({
      read: (fields, key, scope) => {
        const value = fields.raw(key);
        if (value === null) return null;
        if (!isObject(value)) return fields.issue(key, "must be an object");
        return this.readAll(fields.section(key), scope);
      },
      schema: (definitions) => objectSchema(body.members as Members, body.strict !== null, definitions),
      texts: textsOf(body.members as Members),
      expected: "must be an object",
    });
  }

  /** Unknown members are refused. `what` is the whole: "a judge". */
  strict(what: string): ObjectShape<M, T, S> {
    return new ObjectShape({ ...this.body, strict: what });
  }

  /** What the object is read as. The function may add issues and warnings on members of `fields`. */
  build<U, R = unknown>(build: (read: ReadOf<M>, fields: Fields, scope: R) => U): ObjectShape<M, U, ScopeOf<M> & R> {
    return new ObjectShape<M, U, ScopeOf<M> & R>({ ...this.body, build });
  }

  /** Read even where it is absent: every member then has its default. */
  section(): Shape<T, S> {
    const { declared } = this;
    return new Shape({ ...declared, read: (fields, key, scope) => this.readAll(fields.section(key), scope) });
  }

  /** May also be written as the value of its member `key` alone. */
  orOnly(key: string & keyof M): Shape<T | null, S> {
    const { schema, texts, ...declared } = this.declared;
    const { declared: alone } = (this.body.members as Members)[key] as AnyShape;
    return new Shape<T | null, S>({
      ...declared,
      read: (fields, name, scope) => (fields.has(name) ? this.readAll(fields.objectOr(name, key), scope) : null),
      schema: (definitions) => ({ anyOf: [alone.schema(definitions), schema(definitions)] }),
      texts: mergedTextPaths(alone.texts, texts),
    });
  }

  /** Reads all members of an object that is there. */
  readonly readAll = (fields: Fields, scope: S): T => {
    const { members, build, strict } = this.body;
    const value = build(readMembers(members as Members, fields, scope) as ReadOf<M>, fields, scope);
    if (strict === null) fields.close();
    else fields.closeStrictly(strict);
    return value;
  };
}

export const object = <const M extends object>(members: M): ObjectShape<M, ReadOf<M>, ScopeOf<M>> =>
  new ObjectShape({ members, build: (read) => read, strict: null });

function readMembers(members: Members, fields: Fields, scope: unknown): Readonly<Record<string, unknown>> {
  const read: Record<string, unknown> = {};
  for (const [key, { declared }] of Object.entries(members)) {
    // What each of the members may ask of the scope is in the type of the whole.
    read[key] = declared.isRead?.(read) === false ? null : declared.read(fields, key, scope as never);
  }
  return read;
}

function objectSchema(members: Members, isStrict: boolean, definitions: Definitions): JsonSchema {
  const entries = Object.entries(members);
  const required = entries.flatMap(([key, { declared }]) => (declared.isRequired ? [key] : []));
  const properties = entries.map(([key, { declared }]) => {
    const schema = declared.isRead === undefined ? declared.schema(definitions) : {};
    return [key, declared.isRequired ? schema : nullable(schema)] as const;
  });
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    ...(isStrict ? { additionalProperties: false } : {}),
  };
}

/** `null` counts as absent. */
function nullable(schema: JsonSchema): JsonSchema {
  const { type, enum: options } = schema;
  if (Array.isArray(options)) return { ...schema, enum: [...options, null] };
  // What stands beside the type would go on refusing null.
  if (schema.anyOf !== undefined && schema.type !== undefined) return { anyOf: [schema, { type: "null" }] };
  if (typeof type === "string") return { ...schema, type: [type, "null"] };
  if (Array.isArray(type)) return { ...schema, type: [...type, "null"] };
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: "null" }] };
  if (Object.keys(schema).every((keyword) => keyword === "description" || keyword === "default")) return schema;
  return { anyOf: [schema, { type: "null" }] };
}

function textsOf(members: Members): TextPaths | null {
  const below = Object.entries(members).flatMap(([key, { declared }]) =>
    declared.texts === null ? [] : [[key, declared.texts] as const],
  );
  return below.length === 0 ? null : { members: Object.fromEntries(below) };
}

/** One of the objects that {@link variants} tells apart. */
interface Variant<T, S> {
  readonly body: { readonly members: Members; readonly strict: string | null };
  readonly readAll: (fields: Fields, scope: S) => T;
}
type ValueOf<V> = {
  [K in keyof V]: V[K] extends Variant<infer T, never> ? NonNullable<T> : never;
}[keyof V];
type VariantScope<V> = V[keyof V] extends Variant<unknown, infer S> ? S : never;

/**
 * An object whose member `tag` says which others it has.
 *
 * @param common the members that all have, the tag among them
 * @param table for each value of the tag what it has besides
 * @param combine makes one value of both; left out where T is the value of the table, which its default returns
 */
export function variants<const C extends object, const V extends object, T = ValueOf<V>>(
  tag: keyof C & string,
  common: C,
  table: V,
  // Without `combine` T is its default, `ValueOf<V>`, which the compiler does not conclude.
  combine: (value: ValueOf<V>, common: ReadOf<C>) => T = (value) => value as unknown as T,
): Shape<T | null, ScopeOf<C> & VariantScope<V>> {
  // `ScopeOf` and `ReadOf` find the members' types in `C`; here they are a table of shapes of any type.
  const shared = common as unknown as Members;
  const branches = Object.entries(table as Readonly<Record<string, Variant<unknown, never>>>);
  return new Shape<T | null, ScopeOf<C> & VariantScope<V>>({
    read: (fields, key, scope) => {
      const value = fields.raw(key);
      if (value === null) return null;
      if (!isObject(value)) return fields.issue(key, "must be an object");
      const section = fields.section(key);
      const before = readMembers(shared, section, scope);
      // What stands for an absent tag does not stand for a wrong one.
      const isWrong = fields.findings.hasIssueAt(section.at(tag));
      const variant = isWrong ? undefined : branches.find(([name]) => name === before[tag])?.[1];
      const own = variant?.readAll(section, scope as never) ?? null;
      return own === null ? null : combine(own as ValueOf<V>, before as ReadOf<C>);
    },
    schema: (definitions) => ({
      type: "object",
      // Not `oneOf`: validators that compare branches by what they require take two of them for one that may leave out the tag.
      anyOf: branches.map(([name, { body }]) => {
        const schema = objectSchema({ ...shared, ...body.members }, body.strict !== null, definitions);
        const isStandard = schemaOf(shared[tag], definitions).default === name;
        const properties = {
          ...(schema.properties as JsonSchema),
          [tag]: isStandard ? { enum: [name, null] } : { const: name },
        };
        const required = new Set([...((schema.required as string[] | undefined) ?? []), ...(isStandard ? [] : [tag])]);
        return { ...schema, properties, required: [...required] };
      }),
    }),
    texts: branches.map(([, { body }]) => textsOf(body.members)).reduce(mergedTextPaths, textsOf(shared)),
    expected: "must be an object",
  });
}

const schemaOf = (shape: AnyShape | undefined, definitions: Definitions): JsonSchema =>
  shape?.declared.schema(definitions) ?? {};
