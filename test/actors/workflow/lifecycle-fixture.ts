/** Small workflows for rows of the state table. */
import type { State } from "../../../actors/workflow/definition.ts";
import { agent, definitionOf, human, noop, ways } from "./fixture.ts";
import { type Beginning, RunStory } from "./scenario.ts";

export const told = (states: Record<string, State>, beginning: Beginning = {}, change = {}) =>
  new RunStory(definitionOf(states, change), beginning).start();

export const two = { A: noop(["always", "B"]), B: noop() };

export const asks = { ASK: human(ways(["approved", "DONE"], ["rejected", "REFUSED"])), DONE: noop(), REFUSED: noop() };

export const works = {
  WORK: agent(ways(["on_success", "DONE"], ["on_failure", "SORRY"])),
  DONE: noop(),
  SORRY: noop(),
};
