/** Branches that can end, and a join that enough of them can meet. */
import type { Findings } from "../../../manifest/findings.ts";
import type { State } from "../../definition.ts";
import { type Paths, pathOf, stateIn, type Ways } from "./ways.ts";

type BranchState = Extract<State, { kind: "Branch" }>;

/** Adds the issues `branch_without_end` and `join_unreachable`. */
export function checkBranches(ways: Ways, paths: Paths, findings: Findings): void {
  for (const [name, state] of Object.entries(ways.states)) {
    const path = pathOf(name, paths);
    // What could not be read all of says nothing of the rest.
    if (state.kind === "Branch" && !findings.hasIssueAt(path)) checkBranch(state, ways, path, findings);
  }
}

function checkBranch(state: BranchState, ways: Ways, path: string, findings: Findings): void {
  const ends = state.branches.map(({ initial_state }) => {
    const reached = [initial_state, ...ways.from(initial_state)].map((name) => stateIn(ways.states, name));
    return reached.filter((one) => one !== undefined);
  });
  for (const [at, reached] of ends.entries()) {
    if (reached.some(canEnd)) continue;
    const message = "cannot end: no terminal state can be reached, and every state leads on";
    findings.issue(`${path}.branches.${at}`, message, "branch_without_end");
  }
  const good = ends.filter((reached) => reached.some(canSucceed)).length;
  if (good >= state.join || findings.hasIssueAt(path)) return;
  const message = `${state.join} branches must succeed, and ${good} of ${ends.length} can: the others end as failed`;
  findings.issue(`${path}.join`, message, "join_unreachable");
}

/** Whether what it leads to may be the end of its branch. */
function canEnd({ kind, transitions }: State): boolean {
  // A rejection is not taken by `always`.
  return transitions.length === 0 || kind === "Human" || !transitions.some(({ rule }) => rule.on === "always");
}

/** Whether its branch may end here as a run would complete. */
function canSucceed({ kind, transitions, outcome }: State): boolean {
  if (transitions.length === 0) return outcome === "completed";
  const taking = new Set(["always", "on_success", ...(kind === "Human" ? ["approved"] : [])]);
  return !transitions.some(({ rule }) => taking.has(rule.on));
}
