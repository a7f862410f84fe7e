/** What people are asked about a tool call that waits for them, and how the question is put together. */

import { type Static, Type } from "@sinclair/typebox";
import { AnyJson, type Json, JsonObject } from "../kernel/json.ts";
import { Nullable, Text } from "../kernel/schema.ts";
import { cutArguments, escapedJson, escapedText, maxReasonBytes, startOf } from "./shown.ts";

/**
 * What an approver may grant beside the decision: that calls of the tool with equal arguments (`execution`), or with any
 * (`tool`), are not asked about again in the same execution or session.
 */
export const Remember = Type.Union([Type.Literal("none"), Type.Literal("execution"), Type.Literal("tool")]);
export type Remember = Static<typeof Remember>;

const grants: readonly Remember[] = ["none", "execution", "tool"];

/** Whether a grant is within another. */
export const isWithin = (asked: Remember, most: Remember): boolean => grants.indexOf(asked) <= grants.indexOf(most);

/** The narrowest of several grants: what all who agreed have granted. */
export const narrowest = (all: readonly Remember[]): Remember =>
  all.reduce((least, one) => (isWithin(one, least) ? one : least), "tool");

/** The question, as an approval keeps it. Texts are escaped, arguments redacted. */
export const ToolCallAsked = Type.Object({
  tool: Text,
  /** The start of their JSON text where they are truncated. */
  arguments: AnyJson,
  /** Of the arguments as they are, in hex. */
  arguments_sha256: Text,
  truncated: Type.Boolean(),
  editable: Type.Boolean(),
  /** The most an approver may grant. */
  remember: Remember,
  /** What the model said in the turn of the call: its own words, which nothing vouches for. */
  model_reason: Nullable(Text),
  agent_name: Nullable(Text),
  iteration_number: Nullable(Type.Integer()),
  invocation_id: Text,
  /** Whose capability asks; null: the manifest of the agent does. */
  security_context: Nullable(Text),
  capability_index: Nullable(Type.Integer()),
});
export type ToolCallAsked = Static<typeof ToolCallAsked>;

/** The arguments of a call: as they are, and with the values of secrets left out. */
export const CallArguments = Type.Object({ given: JsonObject, redacted: JsonObject, sha256: Text });
export type CallArguments = Static<typeof CallArguments>;

/** The question as it is shown: with what came of the call. */
export const ShownToolCall = Type.Object({
  ...ToolCallAsked.properties,
  /** Whether an approver has changed the arguments; they are shown as changed. */
  edited: Type.Boolean(),
  /** Whether the call was run; null while that is open. */
  executed: Nullable(Type.Boolean()),
});
export type ShownToolCall = Static<typeof ShownToolCall>;

/** A call that is to be asked about. */
export interface CallToAsk {
  readonly tool: string;
  readonly arguments: CallArguments;
  readonly editable: boolean;
  readonly remember: Remember;
  readonly model_reason: string | null;
  readonly agent_name: string | null;
  readonly iteration_number: number | null;
  readonly invocation_id: string;
  readonly security_context: string | null;
  readonly capability_index: number | null;
}

/** The question about a call. Arguments that do not fit are cut, and cannot be edited. */
export function askedCall({ arguments: given, tool, agent_name, model_reason, ...call }: CallToAsk): ToolCallAsked {
  const shown = shownArguments(given);
  return {
    ...call,
    ...shown,
    tool: escapedText(tool),
    agent_name: agent_name === null ? null : escapedText(agent_name),
    editable: call.editable && !shown.truncated,
    model_reason: model_reason === null ? null : startOf(escapedText(model_reason), maxReasonBytes),
  };
}

/** The members of a question that its arguments make up. */
export function shownArguments({ redacted, sha256 }: Pick<CallArguments, "redacted" | "sha256">) {
  return { ...cutArguments(escapedJson(redacted as Json)), arguments_sha256: sha256 };
}

/** One line for lists of what is asked. */
export function promptOf({ tool, agent_name }: Pick<ToolCallAsked, "tool" | "agent_name">): string {
  return agent_name === null ? `May ${tool} be called?` : `May the agent ${agent_name} call ${tool}?`;
}
