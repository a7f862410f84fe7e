import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AttemptError, type Provider } from "../../../src/adapters/models/attempt.ts";
import { ModelError, type ModelErrorClass, type ToolDescription } from "../../../src/adapters/models/call.ts";
import { defaultSelection, type SelectionConfig } from "../../../src/adapters/models/config.ts";
import { createModels } from "../../../src/adapters/models/models.ts";
import { callModel } from "../../../src/adapters/models/retries.ts";
import { Latencies } from "../../../src/adapters/models/selection.ts";
import { retryAfterMs } from "../../../src/adapters/models/vendors/failures.ts";
import { startVendor } from "../../harness/outside/vendor.ts";
import { aCall, configOf, failureOf, quickTiming } from "./fixture.ts";

const vendor = await startVendor();
beforeEach(() => vendor.reset());
afterAll(() => vendor.close());

const retried: readonly ModelErrorClass[] = ["rate_limit", "service_unavailable", "network", "provider", "timeout"];
const terminal: readonly ModelErrorClass[] = ["authentication", "model_not_found", "invalid_input"];
const tool: ToolDescription = { name: "cmd.run", description: "", inputSchema: { type: "object" } };

/** Two scripted providers; the first fails as told, the second answers "second". */
function pair(error: Record<string, unknown> | null, selection: Record<string, unknown> = {}) {
  const timing = quickTiming();
  const script = (name: string, reply: unknown, alias = "default") => ({
    name,
    type: "scripted",
    models: [{ alias, model: `${name}-model` }],
    rules: [{ reply }],
  });
  const config = configOf({
    llm_providers: [
      script("first", error ? { content: "first", error } : { content: "first" }),
      script("second", { content: "second" }),
    ],
    llm_selection: selection,
  });
  return { models: createModels({ config, timing }), timing };
}

describe("retries", () => {
  test.each(retried)(
    "%s is retried three times with doubling pauses, then the next provider answers",
    async (errorClass) => {
      const { models, timing } = pair({ class: errorClass }, { fallback_provider: "second" });
      const reply = await models.generate(aCall());
      expect(reply).toMatchObject({ provider: "second", content: "second", attempts: 5 });
      expect(timing.pauses).toEqual([1000, 2000, 4000]);
    },
  );

  test.each(terminal)("%s is neither retried nor handed on", async (errorClass) => {
    const { models, timing } = pair({ class: errorClass }, { fallback_provider: "second" });
    const failure = await failureOf(models, aCall());
    expect(failure.errorClass).toBe(errorClass);
    expect(failure.facts).toMatchObject({ provider: "first", attempts: 1, fallbackAttempted: false });
    expect(timing.pauses).toEqual([]);
  });

  test.each([
    [1, 2],
    [3, 4],
  ])("a failure of %i attempts is overcome at try %i", async (attempts, tries) => {
    const { models } = pair({ class: "service_unavailable", attempts });
    expect(await models.generate(aCall())).toMatchObject({ provider: "first", attempts: tries });
  });

  test("pauses grow to 30 s at most", async () => {
    const { models, timing } = pair(
      { class: "network" },
      { max_retries: 8, retry_delay_ms: 1000, fallback_provider: "second" },
    );
    await models.generate(aCall({ budgetMs: 600_000 }));
    expect(timing.pauses).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
  });

  test("jitter adds at most a quarter and never exceeds 30 s", async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 0.999, noNaN: true }), async (chance) => {
        const timing = { ...quickTiming(), random: () => chance };
        const failing: Provider = { name: "p", attempt: async () => Promise.reject(new AttemptError("network", "no")) };
        await expect(
          callModel(
            aCall({ budgetMs: 900_000 }),
            [candidate(failing)],
            { ...defaultSelection, maxRetries: 7 },
            new Latencies(),
            timing,
          ),
        ).rejects.toThrow(ModelError);
        timing.pauses.forEach((pause, index) => {
          const least = Math.min(30_000, 1000 * 2 ** index);
          expect(pause).toBeGreaterThanOrEqual(least);
          expect(pause).toBeLessThanOrEqual(Math.min(30_000, Math.ceil(least * 1.25)));
        });
      }),
      { numRuns: 30 },
    );
  });
});

describe("Retry-After", () => {
  const endpoint = () => ({
    name: "v",
    type: "openai-compatible",
    endpoint: vendor.endpoint("openai"),
    models: [{ alias: "default", model: "m" }],
  });

  test("is waited for instead of our own pause", async () => {
    const timing = quickTiming();
    vendor.push(
      { status: 429, headers: { "retry-after": "7" } },
      { status: 503, headers: { "retry-after": "0" } },
      { reply: { text: "ok" } },
    );
    const models = createModels({ config: configOf({ llm_providers: [endpoint()] }), timing });
    expect(await models.generate(aCall())).toMatchObject({ content: "ok", attempts: 3 });
    expect(timing.pauses).toEqual([7000, 0]);
  });

  test("longer than the time left is told instead of waited for", async () => {
    const timing = quickTiming();
    vendor.always({ status: 429, headers: { "retry-after": "120" } });
    const models = createModels({ config: configOf({ llm_providers: [endpoint()] }), timing });
    const failure = await failureOf(models, aCall({ budgetMs: 60_000 }));
    expect(failure).toMatchObject({ errorClass: "rate_limit", facts: { attempts: 1, retryAfterSeconds: 120 } });
    expect(timing.pauses).toEqual([]);
  });

  test("longer than our longest pause goes to the fallback at once", async () => {
    const timing = quickTiming();
    vendor.always({ status: 429, headers: { "retry-after": "31" } });
    const config = configOf({
      llm_providers: [endpoint(), { name: "s", type: "scripted", models: [{ alias: "default", model: "m" }] }],
      llm_selection: { fallback_provider: "s" },
    });
    expect(await createModels({ config, timing }).generate(aCall())).toMatchObject({ provider: "s", attempts: 2 });
  });

  const now = Date.parse("2026-01-01T00:00:00Z");
  test.each([
    ["5", 5000],
    [" 1.5 ", 1500],
    ["Thu, 01 Jan 2026 00:00:09 GMT", 9000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["-5", undefined],
    ["soon", undefined],
    ["", undefined],
    [null, undefined],
  ])("%p reads as %p", (header, expected) => expect(retryAfterMs(header, now)).toBe(expected));
});

function candidate(provider: Provider) {
  const cost = { input: 0, output: 0 };
  const served = {
    alias: "default",
    model: "m",
    capabilities: [],
    contextWindow: null,
    maxOutputTokens: 1,
    temperature: 0,
    cost,
  };
  return { provider, local: false, served };
}

describe("time", () => {
  const selection: SelectionConfig = { ...defaultSelection, callTimeoutMs: 40 };
  const deaf: Provider = { name: "deaf", attempt: () => new Promise(() => {}) };

  test("each try has its own time, even at a provider that does not heed its signal", async () => {
    const error = await callModel(aCall(), [candidate(deaf)], selection, new Latencies(), quickTiming()).catch(
      (cause) => cause,
    );
    expect(error).toMatchObject({ errorClass: "timeout", facts: { attempts: 4 } });
  });

  test("the whole never outlives its budget", async () => {
    // Room for a machine that stalls between the two tries.
    const error = await callModel(
      aCall({ budgetMs: 580 }),
      [candidate(deaf), candidate(deaf)],
      { ...selection, callTimeoutMs: 300 },
      new Latencies(),
      quickTiming(),
    ).catch((cause) => cause);
    expect(error).toMatchObject({ errorClass: "timeout", facts: { attempts: 2, fallbackAttempted: true } });
  });

  test("a try takes no longer than what is left of the budget", async () => {
    const long = { ...selection, callTimeoutMs: 60_000 };
    const error = await callModel(
      aCall({ budgetMs: 50 }),
      [candidate(deaf)],
      long,
      new Latencies(),
      quickTiming(),
    ).catch((cause) => cause);
    expect(error).toMatchObject({ errorClass: "timeout" });
  });

  test("a stall leaves the next candidate its time", async () => {
    const prompt: Provider = {
      name: "p",
      attempt: async () => ({
        content: "ok",
        toolCalls: [],
        finishReason: "stop",
        truncated: false,
        streamed: true,
        usage: {},
      }),
    };
    const reply = await callModel(
      aCall({ budgetMs: 1_400 }),
      [candidate(deaf), candidate(prompt)],
      { ...selection, callTimeoutMs: 500, retryDelayMs: 1 },
      new Latencies(),
      quickTiming(),
    );
    expect(reply).toMatchObject({ provider: "p", attempts: 2 });
  });

  test("an abort ends a pause and a try at once with the caller's reason", async () => {
    for (const error of [{ class: "network" }, null] as const) {
      const controller = new AbortController();
      const config = configOf({
        llm_providers: [
          {
            name: "s",
            type: "scripted",
            models: [{ alias: "default", model: "m" }],
            rules: [{ reply: error ? { error } : { delay_ms: 60_000 } }],
          },
        ],
      });
      const pending = createModels({ config }).generate(aCall({ signal: controller.signal }));
      setTimeout(() => controller.abort(new Error("enough")), 20);
      await expect(pending).rejects.toThrow("enough");
    }
  });
});

describe("selection", () => {
  const scripted = (name: string, extra: Record<string, unknown> = {}) => ({
    name,
    type: "scripted",
    models: [{ alias: "default", model: name, ...extra }],
  });
  const cloud = (name: string, extra: Record<string, unknown> = {}) => ({
    name,
    type: "openai",
    endpoint: "https://models.example.com",
    models: [{ alias: "default", model: name, ...extra }],
  });
  const first = (providers: unknown[], llm_selection: Record<string, unknown> = {}) =>
    createModels({ config: configOf({ llm_providers: providers, llm_selection }) }).describeDefault();

  test.each([
    ["prefer-local is the default", [cloud("c"), scripted("s")], {}, "s at s"],
    ["prefer-cloud", [scripted("s"), cloud("c")], { strategy: "prefer-cloud" }, "c at c"],
    ["a private endpoint is local", [cloud("c"), { ...cloud("p"), endpoint: "http://10.1.2.3/v1" }], {}, "p at p"],
    [
      "cost-optimized",
      [scripted("s", { cost_per_1k_tokens: 3 }), cloud("c", { cost_per_1k_tokens: { input: 1, output: 2 } })],
      { strategy: "cost-optimized" },
      "c at c",
    ],
    ["ties keep the order", [scripted("a"), scripted("b")], {}, "a at a"],
    ["ties go to default_provider", [scripted("a"), scripted("b")], { default_provider: "b" }, "b at b"],
    ["default_provider breaks ties only", [scripted("a"), cloud("b")], { default_provider: "b" }, "a at a"],
    ["the fallback stands last", [scripted("a"), cloud("b")], { fallback_provider: "a" }, "b at b"],
    ["a disabled provider does not count", [{ ...scripted("a"), enabled: false }, cloud("b")], {}, "b at b"],
  ])("%s", (_, providers, selection, expected) => expect(first(providers, selection)).toBe(`default → ${expected}`));

  test("latency-optimized asks the fastest by recent median once all were measured", async () => {
    const rules = (delay_ms: number) => [{ reply: { content: "x", delay_ms } }];
    const config = configOf({
      llm_providers: [
        { ...scripted("slow"), rules: rules(500) },
        { ...scripted("quick"), rules: rules(5) },
      ],
      llm_selection: { strategy: "latency-optimized" },
    });
    const models = createModels({ config, timing: quickTiming() });
    const asked: string[] = [];
    for (let round = 0; round < 4; round++) asked.push((await models.generate(aCall())).provider);
    expect(asked).toEqual(["slow", "quick", "quick", "quick"]);
  });

  test("the fallback answers under its alias default when it has not the alias itself", async () => {
    const config = configOf({
      llm_providers: [
        {
          name: "a",
          type: "scripted",
          models: [{ alias: "smart", model: "a" }],
          rules: [{ reply: { error: { class: "provider" } } }],
        },
        scripted("b"),
      ],
      llm_selection: { fallback_provider: "b", max_retries: 0 },
    });
    const models = createModels({ config, timing: quickTiming() });
    expect(await models.generate(aCall({ alias: "smart" }))).toMatchObject({
      provider: "b",
      attempts: 2,
      insteadOf: { provider: "a", model: "a", errorClass: "provider" },
    });
    expect((await failureOf(models, aCall({ alias: "other" }))).errorClass).toBe("model_not_found");
  });

  test("when all fail, the last failure tells of the fallback", async () => {
    const failing = { rules: [{ reply: { error: { class: "provider" } } }] };
    const config = configOf({
      llm_providers: [
        { ...scripted("a"), ...failing },
        { ...scripted("b"), ...failing },
      ],
      llm_selection: { fallback_provider: "b", max_retries: 1 },
    });
    const failure = await failureOf(createModels({ config, timing: quickTiming() }), aCall());
    expect(failure.facts).toMatchObject({ provider: "b", attempts: 4, fallbackAttempted: true });
  });

  test("models that cannot call tools are skipped when there are tools", async () => {
    const config = configOf({
      llm_providers: [
        scripted("a", { capabilities: ["vision"] }),
        scripted("b", { capabilities: ["tools"] }),
        scripted("c"),
      ],
    });
    const models = createModels({ config });
    expect((await models.generate(aCall())).provider).toBe("a");
    expect((await models.generate(aCall({ tools: [tool] }))).provider).toBe("b");
    const only = createModels({ config: configOf({ llm_providers: [scripted("a", { capabilities: ["vision"] })] }) });
    expect(only.serves("default")).toBe(true);
    expect(await failureOf(only, aCall({ tools: [tool] }))).toMatchObject({
      errorClass: "model_not_found",
      facts: { attempts: 0 },
    });
  });

  test("aliases are listed once, as the first to answer has them", () => {
    const config = configOf({
      llm_providers: [
        cloud("c", { context_window: 1000 }),
        scripted("s", { capabilities: ["tools"], max_output_tokens: 5 }),
      ],
    });
    expect(createModels({ config }).aliases()).toEqual([
      { alias: "default", capabilities: ["tools"], context_window: null, max_output_tokens: 5 },
    ]);
  });
});
