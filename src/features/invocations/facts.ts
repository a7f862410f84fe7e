/** Writes what turns of executions state of their tool calls, in the statement that commits the turns. */
import { type InvocationFact, invocationFact } from "../../../actors/tool/invocation.ts";
import type { FactWriter } from "../../runtime/port.ts";
import { changeInvocations, gathered, insertInvocations } from "./statements.ts";

export const invocationFacts: FactWriter = {
  name: invocationFact.name,
  write(facts) {
    // Actors make them by the definition alone.
    const { begun, changed } = gathered(facts.map((one) => ({ ...one, fact: one.fact as InvocationFact })));
    return [
      ...(begun.length === 0 ? [] : [insertInvocations(begun)]),
      ...(changed.length === 0 ? [] : [changeInvocations(changed)]),
    ];
  },
};
