/** What the model is told: the service's own words, and the conversation as the loop log holds it. */
import type { Json } from "../../kernel/json.ts";
import type { ChatMessage, Generate, LoopEntry } from "../messages.ts";

/**
 * The service's message before every conversation. Never part of what a bootstrap gets back.
 * @param hasFiles false for an agent without a sandbox
 */
export function preamble(agentName: string, tools: readonly string[], hasFiles = true): string {
  const opening = hasFiles
    ? `You are the agent ${agentName}, working on your own in a sandbox. Your files are under /workspace; ` +
      "they stay between attempts at the same task."
    : `You are the agent ${agentName}, working on your own.`;
  const acting =
    tools.length === 0
      ? "You have no tools: answer with text."
      : `Use your tools to act (${tools.join(", ")}). A refused call stays refused: do not repeat it.`;
  return `${opening}\n${acting}\nYour last message, the one without tool calls, is taken as your result.`;
}

/** The messages a `generate` opens its conversation with. */
export function openingMessages({ messages, prompt }: Pick<Generate, "messages" | "prompt">): ChatMessage[] {
  const last = messages.at(-1);
  const alreadySaid = prompt === "" || (last?.role === "user" && last.content === prompt);
  return alreadySaid ? [...messages] : [...messages, { role: "user", content: prompt }];
}

/**
 * The conversation in a stretch of the loop log. Tool messages are logged as their calls finish; here
 * they stand in the order of the calls.
 */
export function conversationOf(entries: readonly Json[]): ChatMessage[] {
  const conversation: ChatMessage[] = [];
  let order: string[] = [];
  let start = 0;
  const sortAnswers = () => {
    const answers = conversation.splice(start);
    const place = ({ tool_call_id: id }: ChatMessage) => order.indexOf(id ?? "");
    conversation.push(...answers.sort((one, other) => place(one) - place(other)));
  };
  for (const entry of entries as readonly LoopEntry[]) {
    if (entry.entry !== "message") continue;
    const { message } = entry;
    if (message.role !== "tool") {
      sortAnswers();
      order = message.tool_calls?.map(({ id }) => id) ?? [];
      start = conversation.length + 1;
    }
    conversation.push(message);
  }
  sortAnswers();
  return conversation;
}

/** What the model has not seen before: everything after its last own message, as text. */
export function newsOf(conversation: readonly ChatMessage[]): string {
  const last = conversation.findLastIndex(({ role }) => role === "assistant");
  return conversation
    .slice(last + 1)
    .map(({ content }) => content)
    .join("\n\n");
}
