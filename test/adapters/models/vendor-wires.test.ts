import { afterAll, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { startVendor } from "../../harness/outside/vendor.ts";

const vendor = await startVendor();
afterAll(() => vendor.close());

const settings = (wire: "openai" | "anthropic" | "google") => ({ apiKey: "k", baseURL: vendor.endpoint(wire) });

test.each([
  ["openai", createOpenAI(settings("openai")).chat("m")],
  ["anthropic", createAnthropic(settings("anthropic")).messages("m")],
  ["google", createGoogleGenerativeAI(settings("google")).chat("m")],
] as const)("%s: the local vendor also answers without a stream", async (_, model) => {
  vendor.push({
    reply: { text: "whole", toolCalls: [{ name: "t", arguments: { a: 1 } }], usage: { input: 3, output: 4 } },
  });
  const answer = await model.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] });
  expect(answer.content[0]).toMatchObject({ type: "text", text: "whole" });
  expect(answer.content[1]).toMatchObject({ type: "tool-call", toolName: "t", input: '{"a":1}' });
  expect(answer.usage.inputTokens.total).toBe(3);
  expect(answer.usage.outputTokens.total).toBe(4);
});

test("a behaviour can depend on the request, and nothing queued is a 500 that says so", async () => {
  const post = (body: unknown) =>
    fetch(`${vendor.endpoint("openai")}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
  vendor.push((request) => ({ reply: { text: `to ${request.body.model}` } }));
  expect(await (await post({ model: "x" })).text()).toContain("to x");
  const unplanned = await post({ model: "x" });
  expect([unplanned.status, await unplanned.text()]).toEqual([500, expect.stringContaining("queued no behaviour")]);
});
