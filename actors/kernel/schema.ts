/** Pieces of TypeBox schemas that several shapes share. */
import { type TSchema, Type } from "@sinclair/typebox";

/** The given shape, or null. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A message without content. An empty object by itself would be `{}` to the compiler, which every value fits. */
export const Nothing = Type.Unsafe<Readonly<Record<string, never>>>(Type.Object({}));

export const Text = Type.String();
/** ISO 8601, UTC. */
export const Time = Type.String({ format: "date-time" });
export const Milliseconds = Type.Integer({ minimum: 0 });
