/** A tool call that waits, for readers of a mail or of a page. */
import type { ShownToolCall } from "../../../actors/approval/tool-call.ts";

/** The question, the arguments, and what the model said, marked as its words. */
export function callText(prompt: string, { arguments: given, truncated, model_reason }: ShownToolCall): string {
  const shown = typeof given === "string" ? given : JSON.stringify(given, null, 2);
  const cut = truncated ? ["(cut: the rest is shown to who is signed in)"] : [];
  const reason = model_reason === null ? [] : ["", "The model's own words, which nothing vouches for:", model_reason];
  return [prompt, "", shown, ...cut, ...reason].join("\n");
}
