/** Whether a value has nothing that a schema does not name. */
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/**
 * A schema may admit members that it does not name; a handler of that version drops them. A state of a later version may
 * be taken only where nothing of it would be lost.
 */
export function namesAll(schema: TSchema, value: unknown): boolean {
  return Value.Equal(Value.Clean(schema, Value.Clone(value)), value);
}
