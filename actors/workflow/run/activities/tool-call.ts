/** The call of a tool that a state asks for: its own, or the one that sends a fleet run on its way. */
import { type Static, Type } from "@sinclair/typebox";
import { Starter } from "../../../identity/starter.ts";
import { defineActivity, type Outcome, outcomeOf } from "../../../kernel/activity.ts";
import { JsonObject } from "../../../kernel/json.ts";
import { message } from "../../../kernel/message.ts";
import { Nullable, Text } from "../../../kernel/schema.ts";
import { Ceilings } from "../../../policy/ceilings.ts";
import { CountedFor } from "../../../policy/rates/counted.ts";
import { CallingRun } from "../../../tool/calling-run.ts";
import { CallOutcome, callerMessages } from "../../../tool-call/messages.ts";

/** One call, rendered already. */
export const ToolCall = Type.Object({
  /** Names the record of the call, and the actor that makes it should it wait for people. */
  invocation_id: Text,
  /** UUID; the same whenever the call is tried again. */
  key: Text,
  tool: Text,
  arguments: JsonObject,
  run: CallingRun,
  /** Security context; null: the tenant's default one. */
  context: Nullable(Text),
  ceilings: Ceilings,
  /** For whom management tools act; null: there are none. */
  starter: Nullable(Starter),
  counted_for: Nullable(CountedFor),
});
export type ToolCall = Static<typeof ToolCall>;

const ToolAnswer = Type.Union([
  Type.Object({ is: Type.Literal("ended"), outcome: CallOutcome }),
  /** People are asked: the call's own actor tells the run of it from now on. */
  Type.Object({ is: Type.Literal("waiting") }),
  /** A rate or a number of calls refuses it now (2005, 2008); nothing was run. */
  Type.Object({ is: Type.Literal("later"), after_ms: Type.Integer({ minimum: 0 }), outcome: CallOutcome }),
]);

/**
 * Outcome: `tool_called`. Makes a call as the pipeline of tool calls has it. A call that may have been made is made again
 * only where that does no harm.
 */
export const toolCall = defineActivity({ name: "workflow.tool", input: ToolCall, output: ToolAnswer });
export type ToolCalled = Outcome<typeof toolCall>;

export const toolMessages = { tool_called: message({ body: outcomeOf(toolCall) }), ...callerMessages };
