/** `workflows graph`: the states of a workflow and the ways between them, as text. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { addVerb } from "../../frame/verb.ts";
import type { Colours } from "../../output/colours.ts";
import { inline, Safe, say } from "../../output/inert.ts";

export interface GraphState {
  readonly name: string;
  readonly kind: string;
  readonly isInitial: boolean;
  /** What a state is made of besides: its agent, its branches, what undoes it. */
  readonly notes: readonly string[];
  readonly transitions: readonly { readonly condition: string; readonly target: string }[];
  readonly undoneBy: string | null;
  /** How a terminal state ends the run; null: it is none. */
  readonly outcome: string | null;
}

export function addGraph(workflows: Command): void {
  addVerb(workflows, {
    words: "graph <workflow>",
    summary: "Show the states of a workflow and the ways between them",
    about: { workflow: "name or id" },
    options: { "--version <version>": "an earlier version" },
    examples: [["svc workflows graph release", "See it as text"]],
    async run({ out, client }, [ref], { version }) {
      const params = { path: { ref }, query: given({ version }) };
      const workflow = answer((await client()).GET("/v1/workflows/{ref}", { params }));
      const { manifest_yaml, name, version: shown } = await workflow;
      const { parse } = await import("yaml");
      const states = statesOf(parse(manifest_yaml));
      await out.data({ workflow: name, version: shown, states });
      for (const line of graphLines(states, out.colours)) out.line(line);
    },
  });
}

/** The states of a manifest, in the order in which they are reached; those that nothing leads to are last. */
export function statesOf(manifest: unknown): readonly GraphState[] {
  const spec = membersOf(membersOf(manifest).spec);
  const initial = String(spec.initial_state ?? "");
  const states = new Map(
    Object.entries(membersOf(spec.states)).map(([name, value]) => [name, stateOf(name, initial, value)]),
  );
  const order: string[] = [];
  const reach = (names: readonly string[]) => {
    for (const name of names) {
      const state = states.get(name);
      if (state === undefined || order.includes(name)) continue;
      order.push(name);
      reach(state.transitions.map(({ target }) => target));
    }
  };
  reach([initial, ...states.keys()]);
  const undoing = new Set([...states.values()].map(({ undoneBy }) => undoneBy));
  const shown = order.flatMap((name) => states.get(name) ?? []);
  // A state that undoes another one ends nothing.
  return shown.map((state) => (undoing.has(state.name) ? { ...state, outcome: null } : state));
}

function stateOf(name: string, initial: string, value: unknown): GraphState {
  const state = membersOf(value);
  const rules = Array.isArray(state.transitions) ? state.transitions : [];
  const transitions = rules.map((rule: unknown) => {
    const { condition, target } = membersOf(rule);
    return { condition: typeof condition === "string" ? condition : "always", target: String(target ?? "") };
  });
  const notes = ["agent", "workflow", "tool", "signal", "state", "compensate"].flatMap((member) =>
    typeof state[member] === "string"
      ? [member === "compensate" ? `undone by ${state[member]}` : `${member} ${state[member]}`]
      : [],
  );
  const kind = String(state.kind ?? "");
  const outcome = rules.length > 0 ? null : String(state.outcome ?? "completed");
  const undoneBy = typeof state.compensate === "string" ? state.compensate : null;
  return { name, kind, isInitial: name === initial, notes, transitions, undoneBy, outcome };
}

export function graphLines(states: readonly GraphState[], { bold, dim, cyan, green, red }: Colours): readonly Safe[] {
  return states.flatMap(({ name, kind, isInitial, notes, transitions, outcome }) => {
    const mark = isInitial ? cyan("▶") : outcome === null ? " " : (outcome === "failed" ? red : green)("■");
    const beside = [kind, ...notes, ...(outcome === null ? [] : [`ends the run: ${outcome}`])].join(", ");
    const widest = Math.max(0, ...transitions.map(({ condition }) => condition.length));
    return [
      say`${mark} ${bold(name)}  ${dim(beside)}`,
      ...transitions.map(({ condition, target }) => say`    ${new Safe(inline(condition).padEnd(widest))} → ${target}`),
    ];
  });
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
