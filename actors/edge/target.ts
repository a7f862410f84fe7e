/** Targets: which hosts a command is for. */
import { type Static, Type } from "@sinclair/typebox";
import { invalidField } from "../kernel/problem.ts";
import { Text } from "../kernel/schema.ts";
import { isStorable } from "../manifest/storable.ts";
import { maxTargets } from "./policy.ts";
import { readSelector, Selector } from "./selector.ts";
import { isRecord, readMembers, readTagged, type Written } from "./written.ts";

/** As it is kept and shown. A group is named by its id, once it is known. */
export const Target = Type.Union([
  Type.Object({ Node: Text }),
  Type.Object({ Nodes: Type.Array(Text) }),
  Type.Object({ Group: Text }),
  Type.Object({ Selector }),
  Type.Object({ All: Type.Null() }),
]);
export type Target = Static<typeof Target>;

const words = new Set(["node", "nodes", "group", "selector", "all"]);
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const maxName = 256;

/** Whether a group is named by its id. */
export const isGroupId = (group: string): boolean => uuid.test(group);

/** Reads any of its written forms. @throws Problem 422 */
export function readTarget(value: unknown, path = "target"): Target {
  const { word, of, form } = readTagged(value, path, words);
  const own = (...names: readonly string[]): Written => (form === "kind" ? only(of, names) : of);
  if (word === "node") return { Node: nodeOf(own("node_id")) };
  if (word === "nodes") return { Nodes: nodesOf(own("node_ids")) };
  if (word === "group") return { Group: groupOf(own("group_id", "group_name")) };
  if (word === "selector") return { Selector: selectorOf(of, form) };
  if (of.value !== null) readMembers(of.value, of.path, new Set());
  return { All: null };
}

/** The only member, which must have one of the names. */
function only({ value, path }: Written, names: readonly string[]): Written {
  const members = readMembers(value, path, new Set(names.map((name) => name.replaceAll("_", ""))));
  const [one, ...more] = [...members.values()];
  if (one === undefined) throw invalidField(`${path}.${names[0]}`, "is required");
  if (more[0] !== undefined) throw invalidField(more[0].path, "is one too many");
  return one;
}

function nodeOf({ value, path }: Written): string {
  if (typeof value === "string" && uuid.test(value)) return value.toLowerCase();
  throw invalidField(path, "must be a UUID");
}

function nodesOf({ value, path }: Written): string[] {
  if (!Array.isArray(value)) throw invalidField(path, "must be a list");
  if (value.length > maxTargets) throw invalidField(path, `must have at most ${maxTargets} items`);
  return [...new Set(value.map((id, at) => nodeOf({ value: id, path: `${path}.${at}` })))];
}

function groupOf({ value, path }: Written): string {
  const text = typeof value === "string" ? value.trim() : "";
  if (text === "" || text.length > maxName || !isStorable(text))
    throw invalidField(path, "must be the id or the name of a group");
  return uuid.test(text) ? text.toLowerCase() : text;
}

/** Beside a kind the selector's own members stand, or the selector as a whole. */
function selectorOf({ value, path }: Written, form: "word" | "member" | "kind"): Selector {
  if (form === "word") throw invalidField(path, "must have a selector");
  const whole = form === "kind" && isRecord(value) ? Object.entries(value) : [];
  const [name, inner] = whole.length === 1 ? (whole[0] ?? []) : [];
  if (name?.toLowerCase() === "selector") return readSelector(inner, `${path}.${name}`);
  return readSelector(value, path);
}

/** Whether a selector leaves some hosts out: one that does not means all of them. */
export const isEffective = ({ os, arch, tools, labels, tags }: Selector): boolean =>
  os !== null ||
  arch !== null ||
  tools.length > 0 ||
  labels.length > 0 ||
  tags.some(
    (term) => !(("AllOf" in term && term.AllOf.length === 0) || ("NoneOf" in term && term.NoneOf.length === 0)),
  );
