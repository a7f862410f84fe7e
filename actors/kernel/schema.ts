/** Pieces of TypeBox schemas that several shapes share. */
import { KindGuard, type TObject, type TSchema, Type } from "@sinclair/typebox";

/** The given shape, or null. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A message without content. An empty object by itself would be `{}` to the compiler, which every value fits. */
export const Nothing = Type.Unsafe<Readonly<Record<string, never>>>(Type.Object({}));

export const Text = Type.String();
/** ISO 8601, UTC. */
export const Time = Type.String({ format: "date-time" });
export const Milliseconds = Type.Integer({ minimum: 0 });

/**
 * The schema of what a caller writes: a member with a default is filled in when it is left out, so it is not required.
 * TypeBox lists it as required, because the value that was read always has it.
 */
export function asWritten(schema: TSchema): TSchema {
  if (KindGuard.IsArray(schema)) return { ...schema, items: asWritten(schema.items) } as TSchema;
  if (KindGuard.IsUnion(schema)) return { ...schema, anyOf: schema.anyOf.map(asWritten) } as TSchema;
  if (KindGuard.IsIntersect(schema)) return { ...schema, allOf: schema.allOf.map(asWritten) } as TSchema;
  if (!KindGuard.IsObject(schema)) return schema;
  const required = (schema.required ?? []).filter((name) => mustBeWritten(schema, name));
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => [name, asWritten(property)]),
  );
  const written = { ...schema, properties, required };
  if (required.length > 0) return written as TSchema;
  const { required: _, ...rest } = written;
  return rest as TSchema;
}

/** Whether a caller has to give the member. */
export const mustBeWritten = (schema: TObject, name: string): boolean =>
  (schema.required?.includes(name) ?? false) && schema.properties[name]?.default === undefined;

/** The arguments of a tool as models are shown them: plain JSON Schema. */
export const toolSchema = (schema: TSchema): Record<string, unknown> => JSON.parse(JSON.stringify(asWritten(schema)));
