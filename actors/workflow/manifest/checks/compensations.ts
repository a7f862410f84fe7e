/** States that undo others: nothing leads to them, and nothing undoes them. */
import type { Findings } from "../../../manifest/findings.ts";
import type { Definition } from "../../definition.ts";
import { type Paths, pathOf, type States, stateIn, type Ways } from "./ways.ts";

/** Adds the issues and warnings of all compensations. */
export function checkCompensations(
  { initial_state, compensate_on }: Pick<Definition, "initial_state" | "compensate_on">,
  ways: Ways,
  paths: Paths,
  findings: Findings,
): void {
  const { states, undoing } = ways;
  if (compensate_on !== undefined && undoing.size === 0) {
    findings.warn("spec.compensate_on", "no_effect", "No state has a compensation");
  }
  const inCircle = new Set(Object.keys(states).filter((name) => circleFrom(name, states) !== null));
  for (const name of inCircle) {
    const circle = (circleFrom(name, states) ?? []).slice(0, 10).join(", ");
    findings.issue(`${pathOf(name, paths)}.compensate`, `states undo each other (${circle})`, "compensation_cycle");
  }
  for (const name of undoing) {
    if (!inCircle.has(name)) checkUndoing(name, states, pathOf(name, paths), findings);
  }
  if (undoing.has(initial_state)) findings.issue("spec.initial_state", toldOf(initial_state));
  for (const [name, state] of Object.entries(states)) checkTargets(name, ways, pathOf(name, paths), findings, state);
}

/** The states that undo each other, from this one on; null: it is in no circle. */
function circleFrom(name: string, states: States): readonly string[] | null {
  const circle = [name];
  for (let at = stateIn(states, name)?.compensate; at !== undefined; at = stateIn(states, at)?.compensate) {
    if (at === name) return circle;
    if (circle.includes(at)) return null;
    circle.push(at);
  }
  return null;
}

const toldOf = (name: string): string => `${name} undoes another state: a run comes to it only when it has ended`;

function checkUndoing(name: string, states: States, path: string, findings: Findings): void {
  const state = stateIn(states, name);
  if (state === undefined) return;
  if (state.compensate !== undefined) findings.issue(`${path}.compensate`, "a state that undoes another is not undone");
  if (state.continue_as !== undefined) {
    findings.issue(`${path}.continue_as`, "no run completes at a state that undoes another");
  }
  if (state.transitions.length > 0) {
    findings.warn(`${path}.transitions`, "no_effect", "A state that undoes another leads nowhere");
  }
  if (state.outcome === "failed") {
    findings.warn(`${path}.outcome`, "no_effect", "The run keeps the status that it had come to");
  }
}

function checkTargets(name: string, { states, undoing }: Ways, path: string, findings: Findings, state = states[name]) {
  if (state === undefined || undoing.has(name)) return;
  for (const [at, { target }] of state.transitions.entries()) {
    if (undoing.has(target)) findings.issue(`${path}.transitions.${at}.target`, toldOf(target));
  }
  if (state.kind !== "Branch") return;
  for (const [at, { initial_state }] of state.branches.entries()) {
    if (undoing.has(initial_state)) findings.issue(`${path}.branches.${at}.initial_state`, toldOf(initial_state));
  }
}
