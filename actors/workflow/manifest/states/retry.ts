/** `retry` of a state: further attempts within one visit. */
import type { Fields } from "../../../manifest/fields.ts";
import { second } from "../../../manifest/members.ts";
import { ObjectShape, object } from "../../../manifest/object.ts";
import { integer, list, number, type ReadOf, text } from "../../../manifest/shape.ts";
import type { Retry } from "../../definition/parts.ts";
import { duration } from "../members.ts";

const day = 24 * 3600 * second;
const code = { min: 1, max: 128, pattern: /^[A-Za-z0-9_.-]+$/, form: "the code of an error" };

const retry = object({
  attempts: integer(1, 10).or(1),
  delay: duration({ min: 0, max: day, said: "0 s to 1 day" }).or(second),
  backoff: number(1, 100).or(2),
  max_delay: duration({ min: 0, max: day, said: "0 s to 1 day" }).or(300 * second),
  on: list(text(code), 64, "must name an error, or all").or(["all"]),
})
  .strict("the retry of a state")
  .build(({ attempts, delay, backoff, max_delay, on }, fields): Retry => {
    if (attempts === 1) fields.warn("attempts", "no_effect", "The first attempt is the only one");
    if (delay > max_delay) fields.warn("delay", "no_effect", "No attempt waits longer than max_delay");
    return { attempts, delay_ms: delay, backoff, max_delay_ms: max_delay, on: [...new Set(on)] };
  });

/** A kind of state, with `retry` among its members. */
export function withRetry<const M extends object, T extends object, S>(
  kind: ObjectShape<M, T, S>,
): ObjectShape<M & { readonly retry: typeof retry }, T & { readonly retry?: Retry }, S> {
  const { members, build, strict } = kind.body;
  return new ObjectShape<M & { readonly retry: typeof retry }, T & { readonly retry?: Retry }, S>({
    members: { ...members, retry },
    // What is read of both has the members of both; the compiler does not take `ReadOf` of them apart.
    build: (read, fields: Fields, scope: S) => {
      const { retry: again, ...rest } = read as unknown as ReadOf<M> & { readonly retry: Retry | null };
      const own = build(rest as unknown as ReadOf<M>, fields, scope);
      return again === null ? own : { ...own, retry: again };
    },
    strict,
  });
}
