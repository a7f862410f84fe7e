/**
 * Paths that templates of a manifest print and that no run has: typing errors, mostly. What a run is started with can
 * bring any key to the blackboard, so most of it is a warning; what can never be is an issue under `strict_templates`.
 */
import { suggestion } from "../../../kernel/nearest.ts";
import type { Findings } from "../../../manifest/findings.ts";
import { type KnownMembers, knownMembers } from "../../../manifest/json-schema/input-schema.ts";
import { compile } from "../../../template/template.ts";
import type { Definition } from "../../definition.ts";
import type { Templates } from "../templates.ts";
import { type Scope, scopesOf } from "./known-roots.ts";
import { membersOfResult } from "./result-members.ts";
import { type Paths, stateIn, type Ways } from "./ways.ts";

const code = "template_path_missing";

/** Members that the system gives its keys, in every run. */
const systemMembers: Readonly<Record<string, readonly string[]>> = {
  execution: ["id", "started_at"],
  state: ["name", "feedback", "visit"],
  human: ["feedback", "response", "decision", "approver"],
};
/** What a state that undoes another is told of that one. */
const membersOfUndone = ["name", "visit", "result"];

interface Missing {
  readonly message: string;
  /** No start can bring it. */
  readonly isCertain: boolean;
}

/** Adds the warnings and issues `template_path_missing`, one for each template and path. */
export function findMissingPaths(
  definition: Definition,
  templates: Templates,
  ways: Ways,
  paths: Paths,
  findings: Findings,
): void {
  const scopeAt = scopesOf(definition, ways, paths);
  for (const { path, source } of templates.read) {
    const scope = scopeAt(path);
    const printed = new Map(
      compile(source)
        .printed()
        .map((names) => [names.join("."), names]),
    );
    for (const [written, names] of printed) {
      const missing = missingOf(names, definition, scope);
      if (missing === null) continue;
      const message = `${written.slice(0, 200)} ${missing.message}`;
      if (missing.isCertain && definition.strict_templates) findings.issue(path, message, code);
      else findings.warn(path, code, message);
    }
  }
}

/** Null: it may be there. */
function missingOf(names: readonly string[], definition: Definition, scope: Scope): Missing | null {
  const [root = "", member, ...rest] = names;
  if (root === "blackboard") return member === undefined ? null : missingOf([member, ...rest], definition, scope);
  if (!scope.roots.has(root)) {
    const message = `is written by nothing ${placeOf(root, definition)}; a start may bring it`;
    return { message: `${message}${suggestion(root, scope.roots)}`, isCertain: false };
  }
  if (scope.late.has(root)) {
    return { message: "is written by no state that comes before; a start may bring it", isCertain: false };
  }
  if (member === undefined) return null;
  if (root === "state" && scope.isUndoing) return memberMissing(undone(member, rest), true);
  if (root === "input") {
    const known = knownMembers(definition.input_schema);
    return known === null ? null : memberMissing([member, known.names], known.isClosed);
  }
  const system = systemMembers[root];
  if (system !== undefined) return memberMissing([member, system], true);
  return resultMissing(root, [member, ...rest], definition);
}

/** Where a key is looked for. */
const placeOf = (root: string, { states }: Definition): string =>
  stateIn(states, root)?.branch === undefined
    ? "in this workflow"
    : "that is seen from here: a branch keeps its results";

type Looked = readonly [member: string, among: KnownMembers["names"]];

function undone(member: string, [below]: readonly string[]): Looked {
  return member === "of" && below !== undefined
    ? [below, membersOfUndone]
    : [member, [...(systemMembers.state ?? []), "of"]];
}

function memberMissing([member, among]: Looked, isCertain: boolean): Missing | null {
  return among.includes(member) ? null : { message: `does not exist${suggestion(member, among)}`, isCertain };
}

/** A start may have brought what stands in the place of a result. */
function resultMissing(root: string, path: readonly string[], { states }: Definition): Missing | null {
  const state = stateIn(states, root);
  if (state === undefined) return null;
  for (const [at, member] of path.entries()) {
    const among = membersOfResult(state, path.slice(0, at));
    if (among === null) return null;
    const missing = memberMissing([member, among], false);
    if (missing !== null) return missing;
  }
  return null;
}
