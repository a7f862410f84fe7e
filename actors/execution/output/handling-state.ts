/** What an execution keeps of its output handler. */

import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../kernel/schema.ts";

/** The part of an output handler that stays in the state. */
export const HandlerRule = Type.Object({
  type: Type.Union([Type.Literal("agent"), Type.Literal("webhook")]),
  /** Of an agent: UUID or name. */
  agent: Nullable(Type.String()),
  timeout_ms: Type.Integer(),
  required: Type.Boolean(),
});
export type HandlerRule = Static<typeof HandlerRule>;

/** From the acceptance of the output on. */
export const Handling = Type.Union([
  Type.Literal("handling"),
  /** The handler failed and was optional: the accepted output is being fetched. */
  Type.Literal("recalling"),
]);
export type Handling = Static<typeof Handling>;
