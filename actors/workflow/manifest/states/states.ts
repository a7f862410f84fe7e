/** `spec.states`: their names, what all kinds have in common, and the kind of each. */

import { isObject, type Json } from "../../../kernel/json.ts";
import { Fields } from "../../../manifest/fields.ts";
import type { Findings } from "../../../manifest/findings.ts";
import type { State, StateKind } from "../../definition.ts";
import { reservedKeys } from "../../run/blackboard/reserved.ts";
import type { Of, Reading } from "../reading.ts";
import { readAgentState, readParallelAgents } from "./agents.ts";
import { readContainerRun, readParallelContainers, readSystem } from "./commands.ts";
import { readHuman } from "./human.ts";
import { readSubworkflow } from "./subworkflow.ts";
import { mixesScores, readTransitions } from "./transitions.ts";

const maxStates = 100;
const stateName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** A state as it is written, not yet read. */
export interface WrittenState {
  readonly name: string;
  readonly fields: Fields;
}

/** The states by name or in a list where each says its own. Those without a usable name are issues and left out. */
export function writtenStates(spec: Fields): readonly WrittenState[] {
  const value = spec.raw("states");
  if (value === null) spec.issue("states", "is required");
  else if (Array.isArray(value)) return counted(spec, value, () => listed(spec));
  else if (isObject(value)) return counted(spec, Object.keys(value), () => mapped(spec, value));
  else spec.issue("states", "must be a map or a list of states");
  return [];
}

function counted(spec: Fields, { length }: readonly unknown[], read: () => WrittenState[]): WrittenState[] {
  if (length === 0) spec.issue("states", "must have a state");
  if (length <= maxStates) return read();
  spec.issue("states", `may have at most ${maxStates} states`);
  return [];
}

function mapped(spec: Fields, states: { readonly [name: string]: Json }): WrittenState[] {
  return Object.entries(states).flatMap(([name, value]) => {
    const path = spec.at(`states.${name}`);
    const fault = nameFault(name);
    if (fault !== null) spec.findings.issue(path, `the name ${fault}`);
    return written(spec.findings, name, path, value);
  });
}

function listed(spec: Fields): WrittenState[] {
  const names = new Set<string>();
  return spec.sections("states", maxStates).flatMap((fields) => {
    const name = fields.requiredText("name");
    if (name === null) return [];
    const fault = names.has(name) ? "is the name of another state" : nameFault(name);
    if (fault !== null) return fields.issue("name", fault) ?? [];
    names.add(name);
    return { name, fields };
  });
}

function nameFault(name: string): string | null {
  if (reservedKeys.has(name)) return `${name} is a reserved key of the blackboard`;
  if (stateName.test(name)) return null;
  return "must be 1 to 64 letters, digits, _ and -, beginning with a letter or _";
}

function written(findings: Findings, name: string, path: string, value: Json): WrittenState[] {
  if (isObject(value)) return [{ name, fields: Fields.of(value, path, findings) }];
  findings.issue(path, "must be an object");
  return [];
}

const readers: { readonly [K in StateKind]: (fields: Fields, reading: Reading) => Of<State & { kind: K }> } = {
  Agent: readAgentState,
  System: readSystem,
  Human: readHuman,
  ParallelAgents: readParallelAgents,
  ContainerRun: readContainerRun,
  ParallelContainerRun: readParallelContainers,
  Subworkflow: readSubworkflow,
};

/** Null only after an issue. */
export function readState(fields: Fields, reading: Reading): State | null {
  const transitions = readTransitions(fields, reading);
  const max_state_visits = fields.integer("max_state_visits", { min: 1, max: 20 }) ?? 5;
  const outcome = readOutcome(fields);
  if (mixesScores(transitions)) {
    fields.warn("transitions", "mixed_score_rules", "Without a score only the rules that ask for none can match");
  }
  if (!fields.has("kind")) return fields.issue("kind", "is required");
  const kind = fields.choice("kind", Object.keys(readers) as StateKind[]);
  if (kind === null) return null;
  const state = readers[kind](fields, reading);
  fields.closeStrictly(`${/^A/.test(kind) ? "an" : "a"} ${kind} state`);
  return { ...state, transitions, max_state_visits, outcome } as State;
}

function readOutcome(fields: Fields): State["outcome"] {
  const outcome = fields.choice("outcome", ["completed", "failed"]);
  const transitions = fields.raw("transitions");
  const goesOn = Array.isArray(transitions) && transitions.length > 0;
  if (outcome !== null && goesOn) fields.issue("outcome", "belongs to states without transitions");
  return outcome ?? "completed";
}
