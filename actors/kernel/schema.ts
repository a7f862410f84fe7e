/** Pieces of TypeBox schemas that several shapes share. */
import { type TSchema, Type } from "@sinclair/typebox";

/** The given shape, or null. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
