/** Which people a call waits for: those that its contexts ask, in their order. */
import type { Json } from "../../kernel/json.ts";
import { ExpressionError, evaluateExpression, parseExpression } from "../../template/expression.ts";
import type { AskedApproval } from "./clearance.ts";
import type { Governing } from "./evaluate.ts";
import type { ToolApproval } from "./spec.ts";

/** Who wants a person to be asked. */
export interface AskedBy {
  readonly context: string;
  readonly capability_index: number;
}

/** The approvals that the governing capabilities ask for about these arguments, in order. */
export function asksOf(
  governing: readonly Governing[],
  given: { readonly [name: string]: Json | undefined },
): { readonly from: AskedBy; readonly approval: ToolApproval }[] {
  return governing.flatMap(({ context, index, capability: { approval } }) =>
    approval && asks(approval, given) ? [{ from: { context, capability_index: index }, approval }] : [],
  );
}

/** Whether a person is asked about a call with these arguments. A condition that cannot be told counts as true. */
export function asks(
  { when }: Pick<ToolApproval, "when">,
  given: { readonly [name: string]: Json | undefined },
): boolean {
  if (when === null) return true;
  try {
    let isFaulty = false;
    const holds = evaluateExpression(parseExpression(when), given, () => {
      isFaulty = true;
    });
    return holds || isFaulty;
  } catch (error) {
    if (error instanceof ExpressionError) return true;
    throw error;
  }
}

/** What a person has granted: that calls of a tool are not asked about again by who asked. */
export interface Grant {
  readonly tool: string;
  readonly from: string;
  /** Of the arguments; null: any. */
  readonly sha256: string | null;
}

/** Who asks, so that a grant to one never answers for another. */
export const sourceOf = ({ from }: AskedApproval): string =>
  from === "manifest" ? from : JSON.stringify([from.context, from.capability_index]);

/** @param sha256 of the arguments; null: not known yet */
export function isGranted(grants: readonly Grant[], tool: string, ask: AskedApproval, sha256: string | null): boolean {
  const from = sourceOf(ask);
  return grants.some((one) => one.tool === tool && one.from === from && (one.sha256 === null || one.sha256 === sha256));
}

/**
 * Who is asked about arguments that an approver has changed, and how many of them have agreed already: the approver alone.
 * Who agreed before agreed to other arguments, and whom only those concerned is asked no more.
 * @param asked whom the changed arguments concern
 */
export function askedAnew(
  editor: AskedApproval | undefined,
  asked: readonly AskedApproval[],
): { readonly asks: AskedApproval[]; readonly agreed: 0 | 1 } {
  const known = JSON.stringify(editor ?? null);
  const at = asked.findIndex((one) => JSON.stringify(one) === known);
  const first = asked[at];
  if (first === undefined) return { asks: [...asked], agreed: 0 };
  return { asks: [first, ...asked.filter((_, place) => place !== at)], agreed: 1 };
}
