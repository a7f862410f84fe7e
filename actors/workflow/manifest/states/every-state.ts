/** What states of all kinds have: what comes next, how often they may be visited, what undoes them. */
import { object } from "../../../manifest/object.ts";
import { choice, integer, text } from "../../../manifest/shape.ts";
import type { State } from "../../definition.ts";
import { type Reading, templateTree } from "../members.ts";
import { targetFault, transitions } from "./transitions.ts";

const goesOn = (transitions: unknown): boolean => Array.isArray(transitions) && transitions.length > 0;

/** The run that follows one that completes here. */
const continueAs = object({ input: templateTree })
  .strict("a continuation")
  .build(({ input }) => ({ input: input ?? {} }))
  .check((_next, { isInBranch }: Reading, fields) => {
    if (goesOn(fields.raw("transitions"))) return "belongs to states without transitions";
    if (isInBranch) return "has no place in a branch: its end is not the run's";
    return fields.raw("outcome") === "failed" ? "belongs to states at which a run completes" : null;
  });

export const everyState = {
  transitions,
  max_state_visits: integer(1, 20).or(5),
  outcome: choice("completed", "failed")
    .check((_outcome, _scope, fields) =>
      goesOn(fields.raw("transitions")) ? "belongs to states without transitions" : null,
    )
    .or("completed"),
  /** Which of the states it may be is known when all of them are read. */
  compensate: text().check((name, reading: Reading) => (reading.names.has(name) ? null : targetFault(name, reading))),
  continue_as: continueAs,
};

interface Read {
  readonly transitions: State["transitions"] | null;
  readonly max_state_visits: number;
  readonly outcome: State["outcome"];
  readonly compensate: string | null;
  readonly continue_as: State["continue_as"] | null;
}

/** The members that a state has only where they are written. */
export const stateOf = <Own extends object>(
  own: Own,
  { transitions, max_state_visits, outcome, compensate, continue_as }: Read,
) => ({
  ...own,
  transitions: transitions ?? [],
  max_state_visits,
  outcome,
  ...(compensate === null ? {} : { compensate }),
  ...(continue_as === null || continue_as === undefined ? {} : { continue_as }),
});
