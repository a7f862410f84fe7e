/** Schemas of actors and activities, compiled once each; and states of earlier versions in today's shape. */
import type { TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import type { AnyActorDefinition } from "../../actors/kernel/actor.ts";
import type { Json } from "../../actors/kernel/json.ts";

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>();

function checkOf(schema: TSchema): TypeCheck<TSchema> {
  let check = compiled.get(schema);
  if (check === undefined) {
    check = TypeCompiler.Compile(schema);
    compiled.set(schema, check);
  }
  return check;
}

/** What is wrong with a value for this schema, or null. */
export function faultIn(schema: TSchema, value: unknown): string | null {
  const check = checkOf(schema);
  if (check.Check(value)) return null;
  const first = check.Errors(value).First();
  return first === undefined ? "does not fit its schema" : `${first.path || "/"}: ${first.message}`;
}

/**
 * A stored state, written by this version or an earlier one, in today's shape.
 * @throws Error when it fits no version's shape
 */
export function upgraded({ state: schema, upgrade }: AnyActorDefinition, stored: Json): Json {
  const state = upgrade === undefined ? stored : upgrade(stored);
  const fault = faultIn(schema, state);
  if (fault !== null) throw new Error(fault);
  return state;
}
