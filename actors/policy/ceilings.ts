/**
 * Ceilings: the security contexts that bind an execution beside its own, because a tool call under them started or
 * deployed it (docs/reference/management-tools.md). Pure.
 */
import { Type } from "@sinclair/typebox";
import { Problem } from "../kernel/problem.ts";
import { Text } from "../kernel/schema.ts";

/** Names that one execution, run or definition carries. */
const maxCeilings = 4;

/** Names of security contexts, each once. */
export const Ceilings = Type.Array(Text, { maxItems: maxCeilings });

/** As a header keeps them: nothing where there are none. */
export const keptCeilings = (names: readonly string[] | undefined): { context_ceilings?: string[] } =>
  names === undefined || names.length === 0 ? {} : { context_ceilings: [...names] };

/**
 * Several lists as one, each name once, in the order in which they come.
 * @returns 422 `too_many_ceilings` above the most that one may carry
 */
export function joinedCeilings(...lists: readonly (readonly string[] | undefined)[]): readonly string[] | Problem {
  const names = [...new Set(lists.flatMap((list) => list ?? []))];
  if (names.length <= maxCeilings) return names;
  const message = `This would be bound by more than ${maxCeilings} security contexts beside its own`;
  return new Problem("too_many_ceilings", message, { context_ceilings: names });
}

/**
 * What a tool call hands on to what it starts or deploys: the context that it is made under, then that one's ceilings.
 * @throws Problem 422 `too_many_ceilings`
 */
export function handedOn(context: string, ceilings: readonly string[]): readonly string[] {
  const names = joinedCeilings([context], ceilings);
  if (names instanceof Problem) throw names;
  return names;
}
