/** What selects hosts, as rows that a form shows. */
import type { Schemas } from "../../../../programs/client/client.ts";
import { partsOf } from "../words.ts";

export type Selector = NonNullable<Schemas["EdgeGroup"]["selector"]>;

export interface Condition {
  readonly id: number;
  readonly kind: "all" | "any" | "none" | "label" | "exists" | "in" | "tools";
  readonly text: string;
}

/** A selector that is being written. */
export interface Draft {
  readonly os: string;
  readonly arch: string;
  readonly conditions: readonly Condition[];
}

export const emptyDraft: Draft = { os: "", arch: "", conditions: [] };

export const kinds: readonly { readonly value: Condition["kind"]; readonly label: string; readonly example: string }[] =
  [
    { value: "all", label: "has every one of the tags", example: "web eu" },
    { value: "any", label: "has one of the tags", example: "web api" },
    { value: "none", label: "has none of the tags", example: "canary" },
    { value: "label", label: "its label is", example: "zone=b" },
    { value: "in", label: "its label is one of", example: "zone=a,b" },
    { value: "exists", label: "has a label", example: "gpu" },
    { value: "tools", label: "has the programs or tools", example: "git docker" },
  ];

let nextId = 1;
export const condition = (kind: Condition["kind"] = "all", text = ""): Condition => ({ id: nextId++, kind, text });

/** Conditions without a value constrain nothing, and are left out. */
export function selectorOf({ os, arch, conditions }: Draft): Selector {
  const of = (...of: readonly Condition["kind"][]) =>
    conditions.filter(({ kind, text }) => of.includes(kind) && text.trim() !== "");
  return {
    os: os === "" ? null : os,
    arch: arch === "" ? null : arch,
    tools: of("tools").flatMap(({ text }) => partsOf(text)),
    labels: of("label", "exists", "in").map(({ kind, text }) => labelOf(kind, text.trim())),
    tags: of("all", "any", "none").map(({ kind, text }) => {
      const tags = [...partsOf(text)];
      return kind === "any" ? { AnyOf: tags } : kind === "none" ? { NoneOf: tags } : { AllOf: tags };
    }),
  };
}

function labelOf(kind: Condition["kind"], text: string): Selector["labels"][number] {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  const value = at < 0 ? "" : text.slice(at + 1);
  if (kind === "exists") return { Exists: name };
  return kind === "in" ? { In: { [name]: [...partsOf(value)] } } : { Equals: { [name]: value } };
}

export function draftOf(selector: Selector | null): Draft {
  if (selector === null) return emptyDraft;
  const tags = selector.tags.map((one) => {
    if ("Has" in one) return condition("all", one.Has);
    if ("AllOf" in one) return condition("all", one.AllOf.join(" "));
    return "AnyOf" in one ? condition("any", one.AnyOf.join(" ")) : condition("none", one.NoneOf.join(" "));
  });
  const labels = selector.labels.flatMap((one) => {
    if ("Exists" in one) return [condition("exists", one.Exists)];
    if ("In" in one)
      return Object.entries(one.In).map(([name, values]) =>
        condition("in", `${name}=${(values as string[]).join(",")}`),
      );
    return Object.entries(one.Equals).map(([name, value]) => condition("label", `${name}=${value}`));
  });
  const tools = selector.tools.length === 0 ? [] : [condition("tools", selector.tools.join(" "))];
  return { os: selector.os ?? "", arch: selector.arch ?? "", conditions: [...tags, ...labels, ...tools] };
}

/** How a condition reads behind "hosts". */
const said: Readonly<Record<Condition["kind"], (parts: readonly string[]) => string>> = {
  all: (tags) => `with the ${tags.length === 1 ? "tag" : "tags"} ${joined.format(tags)}`,
  any: (tags) => `with ${tags.length === 1 ? "the tag" : "one of the tags"} ${tags.join(", ")}`,
  none: (tags) => `without the ${tags.length === 1 ? "tag" : "tags"} ${tags.join(", ")}`,
  label: (parts) => `with the label ${parts.join(" ")}`,
  in: (parts) => `with one of the labels ${parts.join(", ")}`,
  exists: (parts) => `with a label ${parts.join(" ")}`,
  tools: (tools) => `with ${joined.format(tools)}`,
};
const joined = new Intl.ListFormat("en");

/** What a selector asks for, in words: `linux hosts with the tags web and eu`. */
export function selectorWords(selector: Selector | null): string {
  if (selector === null) return "pinned hosts only";
  const { os, arch, conditions } = draftOf(selector);
  const wanted = conditions.map(({ kind, text }) => said[kind](partsOf(text)));
  if (os === "" && arch === "" && wanted.length === 0) return "every host";
  return [[os, arch, "hosts"].filter((part) => part !== "").join(" "), joined.format(wanted)].join(" ").trim();
}
