/** What templates and expressions see of the blackboard. */
import type { Json } from "../../../kernel/json.ts";

type Values = { readonly [name: string]: Json };

/** Any key, and all of them under `blackboard` once more. */
export function variablesOf(blackboard: Values, extra: Values): Values {
  return { ...blackboard, ...extra, blackboard };
}
