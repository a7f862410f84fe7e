/** A workflow's manifest as the console reads it: leniently, for it may be half written. The node alone judges it. */
import { parse } from "yaml";
import { type Rule, readRule } from "./rules.ts";

/** One state, as far as it could be read. */
export interface StateDefinition {
  readonly name: string;
  /** Where it stands in the manifest: dotted. */
  readonly path: string;
  readonly kind: string;
  readonly rules: readonly Rule[];
  /** The state that undoes it. */
  readonly compensate: string | null;
  readonly outcome: "completed" | "failed";
  /** The Branch and its branch that it stands in. */
  readonly branch: { readonly state: string; readonly name: string } | null;
  /** Of a Branch: where its branches begin. */
  readonly begins: readonly string[];
  /** As it is written. */
  readonly written: Readonly<Record<string, unknown>>;
}

export interface Definition {
  readonly name: string | null;
  readonly version: string | null;
  readonly initial: string | null;
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
  /** In the order of the manifest; those of branches behind their Branch. */
  readonly states: readonly StateDefinition[];
  /** All of it, as it is written. */
  readonly document: Readonly<Record<string, unknown>>;
}

/** As many states are drawn of a text that the service has not judged yet. */
const mostStates = 300;

/** @returns null for what is no manifest of a workflow */
export function readDefinition(text: string): Definition | null {
  let written: unknown;
  try {
    written = parse(text, { logLevel: "silent", maxAliasCount: 100 });
  } catch {
    return null;
  }
  const manifest = objectOf(written);
  const spec = objectOf(manifest?.spec);
  if (manifest === null || spec === null) return null;
  const metadata = objectOf(manifest.metadata) ?? {};
  return {
    name: textOf(metadata.name),
    version: textOf(metadata.version),
    initial: textOf(spec.initial_state),
    inputSchema: objectOf(metadata.input_schema),
    states: readStates(spec.states, null, "spec.states").slice(0, mostStates),
    document: manifest,
  };
}

function readStates(states: unknown, branch: StateDefinition["branch"], below: string): StateDefinition[] {
  const entries: (readonly [string, Readonly<Record<string, unknown>>, string])[] = Array.isArray(states)
    ? states.flatMap((one, place) => {
        const state = objectOf(one);
        const name = textOf(state?.name);
        return state === null || name === null ? [] : [[name, state, `${below}.${place}`] as const];
      })
    : Object.entries(objectOf(states) ?? {}).flatMap(([name, one]) => {
        const state = objectOf(one);
        return state === null ? [] : [[name, state, `${below}.${name}`] as const];
      });
  return entries.flatMap(([name, state, path]) => {
    const branches = Array.isArray(state.branches) && branch === null ? state.branches.map(objectOf) : [];
    const inside = branches.flatMap((one, place) =>
      one === null
        ? []
        : readStates(
            one.states,
            { state: name, name: textOf(one.name) ?? "branch" },
            `${path}.branches.${place}.states`,
          ),
    );
    const rules = Array.isArray(state.transitions)
      ? state.transitions.flatMap((one) => readRule(objectOf(one)) ?? [])
      : [];
    return [
      {
        name,
        path,
        kind: textOf(state.kind) ?? "",
        rules,
        compensate: textOf(state.compensate),
        outcome: state.outcome === "failed" ? ("failed" as const) : ("completed" as const),
        branch,
        begins: branches.flatMap((one) => textOf(one?.initial_state) ?? []),
        written: state,
      },
      ...inside,
    ];
  });
}

/** What a state does, in a few words. */
export function aboutOf({ kind, written }: StateDefinition): string {
  const text = (value: unknown): string => textOf(value) ?? (typeof value === "number" ? String(value) : "");
  const line = (value: unknown): string => text(value).split("\n", 1)[0] ?? "";
  switch (kind) {
    case "Agent":
      return text(written.agent);
    case "System":
      return Array.isArray(written.command) ? written.command.map(text).join(" ") : line(written.command);
    case "Human":
      return "a person decides";
    case "ParallelAgents":
      return `${Array.isArray(written.agents) ? written.agents.length : 0} agents`;
    case "ContainerRun":
      return text(written.image);
    case "ParallelContainerRun":
      return `${Array.isArray(written.steps) ? written.steps.length : 0} containers`;
    case "Subworkflow":
      return text(written.workflow_id);
    case "Wait":
      return waitAbout(written);
    case "Map": {
      const each = objectOf(written.state);
      return each === null ? `each: ${text(written.workflow)}` : `each: ${text(each.kind)}`;
    }
    case "Branch":
      return `joins ${text(written.join) || "all"}`;
    case "Tool":
      return text(written.tool);
    case "Fleet":
      return text(written.tool) || (Array.isArray(written.command) ? written.command.map(text).join(" ") : "");
    case "Http":
      return `${text(written.method) || "GET"} ${text(written.url)}`;
    default:
      return "";
  }
}

function waitAbout(written: StateDefinition["written"]): string {
  const stimulus = objectOf(written.stimulus);
  if (typeof written.signal === "string") return `for signal ${written.signal}`;
  if (stimulus !== null) return `for ${textOf(stimulus.source) ?? "a stimulus"}`;
  if (written.until !== undefined) return `until ${String(written.until)}`;
  return written.seconds === undefined ? "" : `${String(written.seconds)} s`;
}

export const objectOf = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
