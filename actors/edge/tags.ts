/** Tags of hosts: the service's word about a host, by which privileged commands are aimed. */
import { Type } from "@sinclair/typebox";
import { invalidField } from "../kernel/problem.ts";

export const maxTags = 64;

export const Tag = Type.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$",
  description: "1–128 letters, digits and `._:/@+-`, a letter or digit first",
});
/** Longer than what is kept, since duplicates fall away. */
export const Tags = Type.Array(Tag, { maxItems: 1024 });

/** Sorted, each once. @throws Problem 422 for more than 64 */
export function tagSet(tags: Iterable<string>, path = "tags"): readonly string[] {
  const all = [...new Set(tags)].sort();
  if (all.length > maxTags) throw invalidField(path, `must have at most ${maxTags} tags`);
  return all;
}

/** How the tags of a host change, in this order: all are replaced, some are added, some taken away. */
export interface TagChange {
  readonly replace?: readonly string[] | undefined;
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

/** @throws Problem 422 for a tag that is both added and removed, and for more than 64 */
export function changedTags(tags: readonly string[], { replace, add = [], remove = [] }: TagChange): readonly string[] {
  const both = add.find((tag) => remove.includes(tag));
  if (both !== undefined) throw invalidField("remove", `${both} is to be added as well`);
  const gone = new Set(remove);
  return tagSet([...(replace ?? tags), ...add].filter((tag) => !gone.has(tag)));
}
