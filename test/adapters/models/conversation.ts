/** A conversation with tool calls and their results as each wire carries it. */
import { expect } from "bun:test";
import type { Wire } from "../../harness/outside/vendor.ts";

type Body = Record<string, unknown>;

/** The part of each wire's request that carries the conversation. */
export const conversationOf: Record<Wire, (body: Body) => unknown> = {
  openai: (body) => body.messages,
  anthropic: ({ system, messages }) => ({ system, messages }),
  google: ({ systemInstruction, contents }) => ({ systemInstruction, contents }),
};

const system = "You are careful.\n\nAnd brief.";
/** What `conversationOf` yields for it. */
export const expectedConversation: Record<Wire, unknown> = {
  openai: [
    { role: "system", content: system },
    { role: "user", content: "look" },
    expect.objectContaining({
      role: "assistant",
      tool_calls: [
        { id: "c_1", type: "function", function: { name: "fs_read", arguments: '{"path":"a"}' } },
        { id: "c_2", type: "function", function: { name: "cmd_run", arguments: '{"command":"ls"}' } },
      ],
    }),
    { role: "tool", tool_call_id: "c_1", content: "text of a" },
    { role: "tool", tool_call_id: "c_2", content: '{"exit_code":0}' },
  ],
  anthropic: {
    system: [{ type: "text", text: system }],
    messages: [
      { role: "user", content: [{ type: "text", text: "look" }] },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "c_1", name: "fs_read", input: { path: "a" } },
          { type: "tool_use", id: "c_2", name: "cmd_run", input: { command: "ls" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c_1", content: "text of a" },
          { type: "tool_result", tool_use_id: "c_2", content: '{"exit_code":0}' },
        ],
      },
    ],
  },
  google: {
    systemInstruction: { parts: [{ text: system }] },
    contents: [
      { role: "user", parts: [{ text: "look" }] },
      {
        role: "model",
        parts: [
          { functionCall: expect.objectContaining({ name: "fs_read", args: { path: "a" } }) },
          { functionCall: expect.objectContaining({ name: "cmd_run", args: { command: "ls" } }) },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: expect.objectContaining({
              name: "fs_read",
              response: expect.objectContaining({ content: "text of a" }),
            }),
          },
          {
            functionResponse: expect.objectContaining({
              name: "cmd_run",
              response: expect.objectContaining({ content: '{"exit_code":0}' }),
            }),
          },
        ],
      },
    ],
  },
};
