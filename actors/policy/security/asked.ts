/** Which people a call waits for: those that its contexts ask, in their order. */
import type { Json } from "../../kernel/json.ts";
import { ExpressionError, evaluateExpression, parseExpression } from "../../template/expression.ts";
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
