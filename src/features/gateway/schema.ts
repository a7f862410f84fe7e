/** The messages of the dispatch gateway and its answers. */
import { type Static, Type } from "@sinclair/typebox";
import { ChatMessage, CommandOutputs, Dispatch, Final } from "../../../actors/execution/messages.ts";

export const GenerateBody = Type.Object({
  type: Type.Literal("generate"),
  execution_id: Type.String(),
  agent_id: Type.String({ default: "" }),
  iteration_number: Type.Integer({ minimum: 1, maximum: 20 }),
  model_alias: Type.String({ minLength: 1, maxLength: 64 }),
  prompt: Type.String(),
  messages: Type.Array(ChatMessage, { maxItems: 1000, default: [] }),
});
export type GenerateBody = Static<typeof GenerateBody>;

export const DispatchResultBody = Type.Object({
  type: Type.Literal("dispatch_result"),
  execution_id: Type.String(),
  dispatch_id: Type.String({ format: "uuid" }),
  exit_code: Type.Integer(),
  stdout: Type.String({ default: "" }),
  stderr: Type.String({ default: "" }),
  duration_ms: Type.Number({ minimum: 0, default: 0 }),
  truncated: Type.Boolean({ default: false }),
  timed_out: Type.Optional(Type.Boolean()),
  signal: Type.Optional(Type.String({ maxLength: 32 })),
  stdout_bytes: Type.Optional(Type.Integer({ minimum: 0 })),
  stderr_bytes: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type DispatchResultBody = Static<typeof DispatchResultBody>;

/** What the command of a dispatch has written while it runs. */
export const DispatchOutputBody = Type.Object({
  type: Type.Literal("dispatch_output"),
  execution_id: Type.String(),
  dispatch_id: Type.String({ format: "uuid" }),
  chunks: CommandOutputs,
});

/** The answer to output: it was taken, or passed the bound and was left out. */
const OutputNoted = Type.Object({ type: Type.Literal("output_noted"), taken: Type.Boolean() });

/** What an instance is told to do, the end of its loop, or that its output was heard. */
export const GatewayMessage = Type.Union([
  Dispatch,
  OutputNoted,
  Type.Composite([Final, Type.Object({ conversation: Type.Array(ChatMessage) })]),
]);
export type GatewayMessage = Static<typeof GatewayMessage>;
