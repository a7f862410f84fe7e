/** Schemas for values whose inside is nobody's business here. */
import { Type } from "@sinclair/typebox";
import type { Json } from "./actor.ts";

/** Any JSON value. */
export const AnyJson = Type.Unsafe<Json>(Type.Any());

/** Any JSON object. */
export const JsonObject = Type.Record(Type.String(), AnyJson);
