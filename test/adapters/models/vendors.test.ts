import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { ModelErrorClass, ModelMessage } from "../../../src/adapters/models/call.ts";
import { createModels } from "../../../src/adapters/models/models.ts";
import { type Behaviour, startVendor } from "../../harness/outside/vendor.ts";
import { until } from "../../harness/until.ts";
import { conversationOf, expectedConversation } from "./conversation.ts";
import { aCall, configOf, failureOf, outcome } from "./fixture.ts";
import { key, kinds, modelsAt, tools } from "./vendor-fixture.ts";

const vendor = await startVendor();
const modelsOf = modelsAt(vendor);

beforeEach(() => vendor.reset());
afterAll(() => vendor.close());

describe.each(kinds)("%s", (type, wire) => {
  test("a text reply, with what was sent and what it cost", async () => {
    vendor.push({ reply: { text: "Good morning, world. 🌍", usage: { input: 100, output: 50 } } });
    const reply = await modelsOf(type, wire).generate(aCall({ temperature: 0.9 }));
    expect(reply).toMatchObject({
      provider: `my-${type}`,
      model: "test-model",
      content: "Good morning, world. 🌍",
      toolCalls: [],
      finishReason: "stop",
      truncated: false,
      streamed: true,
      insteadOf: null,
      usage: { input_tokens: 100, output_tokens: 50 },
      attempts: 1,
      costUsd: 0.2,
    });
    const [request] = vendor.requests;
    const sent = JSON.stringify(request?.body);
    expect(sent).toContain("0.9");
    expect(sent).toContain("8192");
    expect(sent).not.toContain("tester");
    expect(JSON.stringify(request?.headers)).toContain(key);
    expect(request?.headers["accept-encoding"]).toBe("identity");
  });

  test("several tool calls in one turn come back under their dotted names", async () => {
    vendor.push({
      reply: {
        text: "I look.",
        toolCalls: [
          { name: "fs_read", arguments: { path: "/a b/ü.txt" } },
          { name: "cmd_run", arguments: { command: "ls -la", nested: { list: [1, null, true] } } },
          { name: "unknown_tool" },
        ],
      },
    });
    const reply = await modelsOf(type, wire).generate(aCall({ tools }));
    expect(reply.finishReason).toBe("tool_calls");
    expect(reply.content).toBe("I look.");
    expect(reply.toolCalls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ["fs.read", { path: "/a b/ü.txt" }],
      ["cmd.run", { command: "ls -la", nested: { list: [1, null, true] } }],
      ["unknown_tool", {}],
    ]);
    expect(new Set(reply.toolCalls.map((call) => call.id)).size).toBe(3);
    const sent = JSON.stringify(vendor.requests[0]?.body);
    expect(sent).toContain('"fs_read"');
    expect(sent).not.toContain("fs.read");
  });

  test("an answer in one piece is taken although a stream was asked for", async () => {
    const usage = { input: 100, output: 50 };
    vendor.push({ reply: { text: "All at once.", usage, finish: "length" }, whole: true });
    expect(await modelsOf(type, wire).generate(aCall())).toMatchObject({
      content: "All at once.",
      finishReason: "length",
      truncated: true,
      streamed: false,
      usage: { input_tokens: 100, output_tokens: 50 },
      attempts: 1,
    });
    const toolCalls = [{ id: "c1", name: "fs_read", arguments: { path: "/a" } }];
    vendor.push({ reply: { toolCalls }, whole: true });
    const reply = await modelsOf(type, wire).generate(aCall({ tools }));
    expect(reply.toolCalls).toMatchObject([{ name: "fs.read", arguments: { path: "/a" } }]);
    expect([reply.finishReason, reply.streamed]).toEqual(["tool_calls", false]);
    expect(vendor.requests).toHaveLength(2);
    vendor.push({ status: 200, headers: { "content-type": "application/json" }, body: '{"error":{"message":"no"}}' });
    expect((await failureOf(modelsOf(type, wire), aCall())).errorClass).toBe("provider");
  });

  test("a conversation with tool calls and results goes back whole", async () => {
    vendor.push({ reply: { text: "done" } });
    const messages: ModelMessage[] = [
      { role: "system", content: "You are careful." },
      { role: "user", content: "look" },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "c.1", name: "fs.read", arguments: { path: "a" } },
          { id: "c.2", name: "cmd.run", arguments: { command: "ls" } },
        ],
      },
      { role: "tool", tool_call_id: "c.1", content: "text of a" },
      { role: "tool", tool_call_id: "c.2", content: '{"exit_code":0}' },
      { role: "system", content: "And brief." },
    ];
    const reply = await modelsOf(type, wire).generate(aCall({ tools, messages }));
    expect(reply.content).toBe("done");
    expect(conversationOf[wire](vendor.requests[0]?.body ?? {})).toEqual(expectedConversation[wire]);
  });

  test("without a count from the vendor the usage is estimated", async () => {
    vendor.push({ reply: { text: "12345", usage: null } });
    const reply = await modelsOf(type, wire).generate(aCall({ messages: [{ role: "user", content: "123456789" }] }));
    expect(reply.usage).toEqual({ input_tokens: 3, output_tokens: 2 });
  });

  test.each([
    ["length", "length"],
    ["content_filter", "content_filter"],
  ] as const)("finish reason %s", async (finish, expected) => {
    vendor.push({ reply: { text: "cut", finish } });
    expect((await modelsOf(type, wire).generate(aCall())).finishReason).toBe(expected);
  });

  const failures: readonly (readonly [string, Behaviour, ModelErrorClass])[] = [
    ["401", { status: 401, message: `Incorrect API key provided: ${key}` }, "authentication"],
    ["403", { status: 403 }, "authentication"],
    ["404", { status: 404, message: "no such model" }, "model_not_found"],
    ["400", { status: 400, message: `bad ${key} input` }, "invalid_input"],
    ["413", { status: 413 }, "invalid_input"],
    ["429", { status: 429 }, "rate_limit"],
    ["500", { status: 500, message: `boom ${key}` }, "provider"],
    ["502", { status: 502, body: "<html>bad gateway</html>" }, "service_unavailable"],
    ["503", { status: 503 }, "service_unavailable"],
    ["529", { status: 529 }, "service_unavailable"],
    ["504", { status: 504 }, "timeout"],
    ["a redirect", { status: 307, headers: { location: "http://127.0.0.1:1/" } }, "provider"],
    ["a cut before the reply", { cut: "before" }, "network"],
    ["a cut in the middle", { cut: "middle" }, "network"],
    ["a stream that ends early", { cut: "clean" }, "network"],
    ["garbage in the stream", { garbage: "data: {{{ not json\n\n" }, "provider"],
    ["JSON of another shape in the stream", { garbage: 'data: {"hello": [1, 2]}\n\n' }, "provider"],
    ["a page", { garbage: "<html>hello</html>", contentType: "text/html" }, "provider"],
    [
      "an answer compressed unasked",
      { status: 200, headers: { "content-encoding": "br", "content-type": "text/event-stream" }, body: "x" },
      "provider",
    ],
    ["an empty body", { garbage: "" }, "provider"],
    [
      "overload as first event",
      { streamError: { type: "overloaded_error", message: "busy" }, after: "nothing" },
      "service_unavailable",
    ],
    [
      "overload after some text",
      { streamError: { type: "overloaded_error", message: "busy" }, after: "text" },
      "service_unavailable",
    ],
  ];
  test.each(failures)("%s", async (_, behaviour, expected) => {
    vendor.push(behaviour);
    const failure = await failureOf(modelsOf(type, wire), aCall());
    expect(failure.errorClass).toBe(expected);
    expect(failure.message).not.toContain(key);
    expect(failure.facts).toMatchObject({
      provider: `my-${type}`,
      model: "test-model",
      attempts: 1,
      fallbackAttempted: false,
    });
    expect(vendor.requests.length).toBe(1);
  });

  test.each([{ stall: "before" }, { stall: "middle" }, { reply: { text: "late" }, firstByteAfterMs: 3000 }] as const)(
    "%o is a timeout, and the vendor is left",
    async (behaviour) => {
      vendor.push(behaviour);
      const failure = await failureOf(modelsOf(type, wire, 150), aCall());
      expect(failure.errorClass).toBe("timeout");
      await until(() => vendor.departures === 1, { what: "the vendor to see the client leave" });
    },
  );

  test("Retry-After in seconds and as a date", async () => {
    const models = modelsOf(type, wire);
    vendor.push({ status: 429, headers: { "retry-after": "17" } });
    expect((await failureOf(models, aCall())).facts.retryAfterSeconds).toBe(17);
    vendor.push({ status: 503, headers: { "retry-after": new Date(Date.now() + 30_000).toUTCString() } });
    const seconds = (await failureOf(models, aCall())).facts.retryAfterSeconds ?? 0;
    expect(seconds).toBeGreaterThan(25);
    expect(seconds).toBeLessThanOrEqual(30);
  });

  test("a caller that gives up gets its own reason at once; the vendor call ends", async () => {
    vendor.push({ stall: "middle" });
    const controller = new AbortController();
    const pending = outcome(modelsOf(type, wire), aCall({ signal: controller.signal }));
    await until(() => vendor.requests.length === 1, { what: "the request" });
    controller.abort(new Error("cancelled by the test"));
    await expect(pending).rejects.toThrow("cancelled by the test");
    await until(() => vendor.departures === 1, { what: "the vendor to see the client leave" });
  });

  test("hostile text in a reply is made storable", async () => {
    vendor.push({ reply: { text: "a\0b\ud800c", toolCalls: [{ name: "fs_read", arguments: { path: "x\0y" } }] } });
    const reply = await modelsOf(type, wire).generate(aCall({ tools }));
    expect(JSON.stringify(reply)).not.toMatch(/\\u0000|\\ud800/);
    expect(reply.toolCalls[0]?.name).toBe("fs.read");
  });
});

test.each(["openai", "anthropic"] as const)(
  "%s: arguments that are no JSON object are told, not thrown",
  async (wire) => {
    for (const [written, malformed] of [
      ['{"path": ', '{"path": '],
      ["[1,2]", "[1,2]"],
      ['"text"', '"text"'],
      ["null", "null"],
      [`${'{"a":'.repeat(200)}1${"}".repeat(200)}`, expect.any(String)],
    ] as const) {
      vendor.push({ reply: { toolCalls: [{ name: "fs_read", arguments: written }] } });
      const reply = await modelsOf(wire, wire).generate(aCall({ tools }));
      expect(reply.toolCalls).toEqual([{ id: expect.any(String), name: "fs.read", arguments: {}, malformed }]);
    }
  },
);

test("a member named __proto__ is a member like any other", async () => {
  vendor.push({ reply: { toolCalls: [{ name: "fs_read", arguments: '{"__proto__": {"admin": true}}' }] } });
  const reply = await modelsOf("openai", "openai").generate(aCall({ tools }));
  const args = reply.toolCalls[0]?.arguments ?? {};
  expect(Object.keys(args)).toEqual(["__proto__"]);
  expect("admin" in args).toBe(false);
});

test("a tool call without arguments has none", async () => {
  vendor.push({ reply: { toolCalls: [{ name: "fs_read", arguments: "" }] } });
  const reply = await modelsOf("openai", "openai").generate(aCall({ tools }));
  expect(reply.toolCalls[0]).toMatchObject({ name: "fs.read", arguments: {} });
  expect(reply.toolCalls[0]?.malformed).toBeUndefined();
});

test("a conversation without any message for the model is refused before it is sent", async () => {
  const messages: ModelMessage[] = [
    { role: "system", content: "rules" },
    { role: "user", content: "" },
  ];
  expect((await failureOf(modelsOf("anthropic", "anthropic"), aCall({ messages }))).errorClass).toBe("invalid_input");
  expect(vendor.requests.length).toBe(0);
});

test("a vendor's own address without a key is not even asked", async () => {
  const config = configOf({
    llm_providers: [{ name: "o", type: "openai", models: [{ alias: "default", model: "m" }] }],
  });
  expect((await failureOf(createModels({ config }), aCall())).errorClass).toBe("authentication");
});

test("a closed port is a network failure without an address in its message", async () => {
  const config = configOf({
    llm_providers: [
      {
        name: "o",
        type: "openai-compatible",
        endpoint: "http://127.0.0.1:1/v1",
        models: [{ alias: "default", model: "m" }],
      },
    ],
    llm_selection: { max_retries: 0 },
  });
  const failure = await failureOf(createModels({ config }), aCall());
  expect(failure.errorClass).toBe("network");
  expect(failure.message).not.toContain("127.0.0.1");
});

test.each(kinds)("%s: without a key no credentials are sent", async (type, wire) => {
  const models = [{ alias: "default", model: "m" }];
  const config = configOf({ llm_providers: [{ name: "o", type, endpoint: vendor.endpoint(wire), models }] });
  vendor.push({ reply: { text: "hi" } });
  await createModels({ config }).generate(aCall());
  const names = Object.keys(vendor.requests[0]?.headers ?? {});
  expect(names.filter((name) => /authorization|api-key/.test(name))).toEqual([]);
});

test.each(["openai", "openai-compatible"])("%s is asked to count", async (type) => {
  vendor.push({ reply: { text: "hi" } });
  await modelsOf(type, "openai").generate(aCall());
  expect(vendor.requests[0]?.body.stream_options).toEqual({ include_usage: true });
});

test("two calls under one id become two ids", async () => {
  vendor.push({
    reply: {
      toolCalls: [
        { id: "same", name: "fs_read" },
        { id: "same", name: "cmd_run" },
      ],
    },
  });
  const reply = await modelsOf("anthropic", "anthropic").generate(aCall({ tools }));
  expect(reply.toolCalls.map(({ id, name }) => [id, name])).toEqual([
    ["same", "fs.read"],
    ["same_1", "cmd.run"],
  ]);
});

test("the results of two turns stay two messages", async () => {
  vendor.push({ reply: { text: "hi" } });
  const turn = (id: string): ModelMessage[] => [
    { role: "assistant", content: "", tool_calls: [{ id, name: "fs.read", arguments: {} }] },
    { role: "tool", tool_call_id: id, content: `result ${id}` },
  ];
  const messages: ModelMessage[] = [{ role: "user", content: "go" }, ...turn("a"), ...turn("b")];
  await modelsOf("google", "google").generate(aCall({ messages, tools }));
  const contents = vendor.requests[0]?.body.contents;
  expect(Array.isArray(contents) ? contents.map((content) => content.role) : []).toEqual([
    "user",
    "model",
    "user",
    "model",
    "user",
  ]);
});
