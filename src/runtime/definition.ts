/** Schemas of actors and activities, compiled once each; and states of earlier versions in today's shape. */
import type { TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import type { AnyActorDefinition } from "../../actors/kernel/actor.ts";
import type { Json } from "../../actors/kernel/json.ts";
import { RuntimeUnavailable, type StoredActor } from "./port.ts";
import { versionOf } from "./versions/knowledge.ts";

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
 * A stored state for one who reads it, in today's shape.
 * @throws RuntimeUnavailable for one that a later version wrote, which its nodes can read; Error for one that is damaged
 */
export function readable(
  definition: AnyActorDefinition,
  { state, format }: Pick<StoredActor, "state" | "format">,
): Json {
  try {
    return upgraded(definition, state);
  } catch (error) {
    if (format <= versionOf(definition)) throw error;
    throw new RuntimeUnavailable(`A later version of the service wrote this ${definition.kind}`);
  }
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
