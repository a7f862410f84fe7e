/**
 * Targets as people type them: `@<uuid>`, `group:<name>`, `all`, or terms of a selector such as
 * `os=linux tags=web,AnyOf(a,b)`. All terms must hold. What is not understood is refused: a typo must never widen a
 * target.
 */
import { invalidField } from "../kernel/problem.ts";
import { readSelector, type Selector } from "./selector.ts";
import { folded } from "./words.ts";

/** As the service reads it. */
export type WrittenTarget =
  | { readonly Node: string }
  | { readonly Nodes: readonly string[] }
  | { readonly Group: string }
  | { readonly Selector: Selector }
  | { readonly All: null };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const fields = ["os", "arch", "tools", "labels", "tags"] as const;
type Field = (typeof fields)[number];

/** Whether a word is a term of a selector, so that several of them in a row are one target. */
export const isSelectorTerm = (word: string): boolean => /^(?:os|arch|tools|labels|tags)=/i.test(word.trim());

/** @throws Problem 422 */
export function readTargetText(text: string): WrittenTarget {
  const written = text.trim();
  if (written === "") throw invalidField("target", "is empty");
  if (folded(written) === "all") return { All: null };
  if (written.startsWith("@")) return hosts(written);
  const [, group] = /^group:(.*)$/is.exec(written) ?? [];
  if (group !== undefined) {
    if (group.trim() === "") throw invalidField("target", "names no group after group:");
    return { Group: group.trim() };
  }
  return { Selector: readSelectorText(written) };
}

/** `@a` or `@a,@b`. */
function hosts(written: string): WrittenTarget {
  const ids = written.split(",").map((part) => {
    const id = part.trim().replace(/^@/, "").toLowerCase();
    if (!uuid.test(id)) throw invalidField("target", `${part.trim()} is not @ and a host's id`);
    return id;
  });
  const [only = "", ...more] = ids;
  return more.length === 0 ? { Node: only } : { Nodes: ids };
}

/** Terms with blanks between them. @throws Problem 422 */
export function readSelectorText(text: string): Selector {
  const written: Record<Field, unknown[]> = { os: [], arch: [], tools: [], labels: [], tags: [] };
  for (const term of parted(text, " ")) {
    const split = term.indexOf("=");
    const field = fields.find((name) => name === term.slice(0, Math.max(split, 0)).toLowerCase());
    if (field === undefined)
      throw invalidField("target", `${term} is not @id, group:name, all, or a term as os= arch= tools= labels= tags=`);
    const values = parted(term.slice(split + 1), ",");
    if (values.length === 0) throw invalidField(`target.${field}`, "has no value");
    written[field].push(...values.map((value) => readers[field](value)));
  }
  const one = (field: "os" | "arch") => {
    if (written[field].length > 1) throw invalidField(`target.${field}`, "is there twice");
    return written[field][0] ?? null;
  };
  const { tools, labels, tags } = written;
  return readSelector({ os: one("os"), arch: one("arch"), tools, labels, tags }, "target");
}

const plainWord = (field: Field) => (value: string) => {
  if (/[()|]/.test(value)) throw invalidField(`target.${field}`, `${value} is no value`);
  return value;
};

const readers: Readonly<Record<Field, (value: string) => unknown>> = {
  os: plainWord("os"),
  arch: plainWord("arch"),
  tools: plainWord("tools"),
  tags(value) {
    const call = callOf(value);
    if (call === null) return { Has: plainWord("tags")(value) };
    const [word, members] = call;
    const kind = ({ anyof: "AnyOf", allof: "AllOf", noneof: "NoneOf", has: "Has" } as const)[folded(word)];
    if (kind === undefined) throw invalidField("target.tags", `${word} is not AnyOf, AllOf or NoneOf`);
    if (kind === "Has" && members.length !== 1) throw invalidField("target.tags", "Has takes one tag");
    return { [kind]: kind === "Has" ? members[0] : members };
  },
  labels(value) {
    const call = callOf(value);
    if (call === null) {
      const split = value.indexOf("=");
      if (split <= 0 || value.includes("|"))
        throw invalidField("target.labels", `${value} is not name=value, Exists(name) or In(name,…)`);
      return { Equals: { [value.slice(0, split)]: value.slice(split + 1) } };
    }
    const [word, [name = "", ...values]] = call;
    const kind = folded(word);
    if (name === "") throw invalidField("target.labels", `${word} names no label`);
    if (kind === "exists" && values.length === 0) return { Exists: name };
    if (kind === "in" && values.length > 0) return { In: { [name]: values } };
    throw invalidField("target.labels", `${value} is not Exists(name) or In(name,value,…)`);
  },
};

/** `Word(a,b)` as its word and members; null for what is no call. */
function callOf(value: string): readonly [word: string, members: readonly string[]] | null {
  const [, word, inner] = /^([A-Za-z_-]+)\((.*)\)$/s.exec(value) ?? [];
  if (word === undefined || inner === undefined) return null;
  const members = inner.trim() === "" ? [] : inner.split(",").map((member) => member.trim());
  const odd = members.find((member) => member === "" || /[()]/.test(member));
  if (odd !== undefined) throw invalidField("target", `${value} has a member that is none`);
  return [word, members];
}

/** Parts of a text between separators that are not inside parentheses. @throws Problem 422 for unequal parentheses */
function parted(text: string, separator: " " | ","): readonly string[] {
  const parts: string[] = [];
  let [part, depth] = ["", 0];
  for (const sign of text) {
    if (sign === "(") depth += 1;
    if (sign === ")") depth -= 1;
    if (depth < 0) throw invalidField("target", "has a ) without its (");
    const isBlank = separator === " " && /\s/.test(sign);
    if (depth === 0 && (sign === separator || isBlank)) {
      parts.push(part);
      part = "";
    } else part += sign;
  }
  if (depth > 0) throw invalidField("target", "has a ( without its )");
  parts.push(part);
  const trimmed = parts.map((one) => one.trim());
  if (separator === "," && trimmed.length > 1 && trimmed.includes(""))
    throw invalidField("target", "has an empty value between commas");
  return trimmed.filter((one) => one !== "");
}
