/**
 * Paths that templates of a manifest print and that no run has: typing errors, mostly. What a run is started with can
 * bring any key to the blackboard, so most of it is a warning; what can never be is an issue under `strict_templates`.
 */
import { suggestion } from "../../kernel/nearest.ts";
import type { Findings } from "../../manifest/findings.ts";
import { type KnownMembers, knownMembers } from "../../manifest/json-schema/input-schema.ts";
import { compile } from "../../template/template.ts";
import type { Definition } from "../definition.ts";
import { systemKeys } from "../run/blackboard/variables.ts";
import type { Templates } from "./templates.ts";

const code = "template_path_missing";

/** Members that the system gives its keys, in every run. */
const systemMembers: Readonly<Record<string, readonly string[]>> = {
  execution: ["id", "started_at"],
  state: ["name", "feedback", "visit"],
  human: ["feedback", "response", "decision", "approver"],
};

/** Known in some templates beside the blackboard: those of judges and output handlers. */
const elsewhere = ["output", "iteration_number"];

interface Missing {
  readonly message: string;
  /** No start can bring it. */
  readonly isCertain: boolean;
}

/** Adds the warnings and issues `template_path_missing`, one for each template and path. */
export function findMissingPaths(definition: Definition, templates: Templates, findings: Findings): void {
  const roots = new Set(rootsOf(definition));
  for (const { path, source } of templates.read) {
    const printed = new Map(
      compile(source)
        .printed()
        .map((names) => [names.join("."), names]),
    );
    for (const [written, names] of printed) {
      const missing = missingOf(names, definition, roots);
      if (missing === null) continue;
      const message = `${written.slice(0, 200)} ${missing.message}`;
      if (missing.isCertain && definition.strict_templates) findings.issue(path, message, code);
      else findings.warn(path, code, message);
    }
  }
}

/** Null: it may be there. */
function missingOf(names: readonly string[], definition: Definition, roots: ReadonlySet<string>): Missing | null {
  const [root = "", member, ...rest] = names;
  if (root === "blackboard") return member === undefined ? null : missingOf([member, ...rest], definition, roots);
  if (!roots.has(root)) {
    const message = `is written by nothing in this workflow; a start may bring it${suggestion(root, roots)}`;
    return { message, isCertain: false };
  }
  if (member === undefined) return null;
  const known = root === "input" ? knownMembers(definition.input_schema) : closed(systemMembers[root]);
  if (known === null || known.names.includes(member)) return null;
  return { message: `does not exist${suggestion(member, known.names)}`, isCertain: known.isClosed };
}

const closed = (names: readonly string[] | undefined): KnownMembers | null =>
  names === undefined ? null : { names, isClosed: true };

/** Keys of the blackboard that the manifest itself brings, or the system. */
function rootsOf({ context, states, storage }: Definition): readonly string[] {
  const { workspace, shared_volumes } = storage;
  const written = Object.values(states).flatMap((state) => {
    if (state.kind === "Subworkflow") return state.result_key ?? [];
    if (state.kind !== "System" || state.command.form !== "text") return [];
    return state.command.text.trim() === "update_blackboard" ? Object.keys(state.env) : [];
  });
  return [
    ...systemKeys,
    ...elsewhere,
    ...Object.keys(context),
    ...Object.keys(states),
    ...shared_volumes.map(({ name }) => `${name}_volume_id`),
    ...(workspace === null ? [] : [workspace.blackboard_key]),
    ...written,
  ];
}
