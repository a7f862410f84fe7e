/** Our conversation in the SDK's form, arranged so that every vendor's wire takes it. */
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { ModelMessage, ToolDescription } from "../call.ts";
import { type ToolNames, toolNames } from "./tool-names.ts";

/** The SDK's interface to one model of one vendor. */
export type VendorModel = LanguageModelV3;
export type VendorCall = Parameters<VendorModel["doStream"]>[0];
type Prompt = VendorCall["prompt"];
type PromptMessage = Prompt[number];
type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;
type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
type ToolPart = Extract<PromptMessage, { role: "tool" }>["content"][number];

/** The names of the call's tools and of those that only the conversation mentions. */
export function namesOf(tools: readonly ToolDescription[], messages: readonly ModelMessage[]): ToolNames {
  const names = tools.map((tool) => tool.name);
  for (const message of messages) {
    if (message.role === "assistant") names.push(...(message.tool_calls ?? []).map((call) => call.name));
  }
  return toolNames(names);
}

/**
 * The conversation as a prompt. Some vendors take one system text at the very start only, no empty texts,
 * all results of a turn together, and ids of a narrow alphabet; the others do not mind.
 */
export function toPrompt(messages: readonly ModelMessage[], names: ToolNames): Prompt {
  const ids = toolNames(idsOf(messages));
  const toolOfId = new Map<string, string>();
  const prompt: Prompt = [];
  let results: ToolPart[] | null = null;
  for (const message of messages) {
    if (message.role === "system") continue;
    if (message.role === "tool") {
      if (!results) {
        results = [];
        prompt.push({ role: "tool", content: results });
      }
      results.push(toResult(message, ids, toolOfId));
      continue;
    }
    results = null;
    if (message.role === "assistant") {
      for (const call of message.tool_calls ?? []) toolOfId.set(call.id, names.toVendor(call.name));
      const content = assistantParts(message, ids, names);
      if (content.length > 0) prompt.push({ role: "assistant", content });
    } else if (message.content !== "") {
      prompt.push({ role: "user", content: [{ type: "text", text: message.content }] });
    }
  }
  const system = messages.filter((message) => message.role === "system" && message.content !== "");
  if (system.length === 0) return prompt;
  return [{ role: "system", content: system.map((message) => message.content).join("\n\n") }, ...prompt];
}

function assistantParts(message: AssistantMessage, ids: ToolNames, names: ToolNames): AssistantPart[] {
  const text: AssistantPart[] = message.content === "" ? [] : [{ type: "text", text: message.content }];
  const calls = (message.tool_calls ?? []).map((call): AssistantPart => {
    const toolName = names.toVendor(call.name);
    return { type: "tool-call", toolCallId: ids.toVendor(call.id), toolName, input: call.arguments };
  });
  return [...text, ...calls];
}

function toResult(message: ToolMessage, ids: ToolNames, toolOfId: ReadonlyMap<string, string>): ToolPart {
  return {
    type: "tool-result",
    toolCallId: ids.toVendor(message.tool_call_id),
    toolName: toolOfId.get(message.tool_call_id) ?? "unknown",
    output: { type: "text", value: message.content },
  };
}

/** The tools of the call, described but never run by the SDK. */
export function toTools(tools: readonly ToolDescription[], names: ToolNames): NonNullable<VendorCall["tools"]> {
  return tools.map((tool) => ({
    type: "function",
    name: names.toVendor(tool.name),
    description: tool.description,
    inputSchema: tool.inputSchema,
  }));
}

function* idsOf(messages: readonly ModelMessage[]): Generator<string> {
  for (const message of messages) {
    if (message.role === "assistant") for (const call of message.tool_calls ?? []) yield call.id;
    if (message.role === "tool") yield message.tool_call_id;
  }
}
