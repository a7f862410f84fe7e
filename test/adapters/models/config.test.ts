import { describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import { readModelsConfig } from "../../../src/adapters/models/config.ts";
import { openModels } from "../../../src/adapters/models/open.ts";
import { isPrivateEndpoint } from "../../../src/adapters/models/vendors/endpoint.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { startVendor } from "../../harness/outside/vendor.ts";
import { aCall, configOf } from "./fixture.ts";

const options = {
  development: true,
  environment: (name: string) => (name === "KEY" ? "sk-secret-value" : undefined),
  readFile: (): string => {
    throw new Error("none");
  },
};
const model = { alias: "default", model: "m" };
const provider = { name: "p", type: "ollama", models: [model] };

describe("what is refused, with its path", () => {
  test.each<[string, unknown, string[]]>([
    ["no object", [], [""]],
    ["no list", { llm_providers: {} }, ["llm_providers"]],
    ["no name and no type", { llm_providers: [{}] }, ["llm_providers.0.name", "llm_providers.0.type"]],
    ["an unknown type", { llm_providers: [{ ...provider, type: "oracle" }] }, ["llm_providers.0.type"]],
    ["an unknown field", { llm_providers: [{ ...provider, keys: 1 }] }, ["llm_providers.0.keys"]],
    ["a name twice", { llm_providers: [provider, provider] }, ["llm_providers.1.name"]],
    [
      "an alias twice",
      { llm_providers: [{ ...provider, models: [model, model] }] },
      ["llm_providers.0.models.1.alias"],
    ],
    ["no alias", { llm_providers: [{ ...provider, models: [{ model: "m" }] }] }, ["llm_providers.0.models.0.alias"]],
    [
      "a temperature",
      { llm_providers: [{ ...provider, models: [{ ...model, temperature: 3 }] }] },
      ["llm_providers.0.models.0.temperature"],
    ],
    [
      "a negative cost",
      { llm_providers: [{ ...provider, models: [{ ...model, cost_per_1k_tokens: -1 }] }] },
      ["llm_providers.0.models.0.cost_per_1k_tokens"],
    ],
    ["no endpoint", { llm_providers: [{ ...provider, type: "openai-compatible" }] }, ["llm_providers.0.endpoint"]],
    [
      "an endpoint that is no address",
      { llm_providers: [{ ...provider, endpoint: "nowhere" }] },
      ["llm_providers.0.endpoint"],
    ],
    [
      "an endpoint of another kind",
      { llm_providers: [{ ...provider, endpoint: "ftp://x/y" }] },
      ["llm_providers.0.endpoint"],
    ],
    [
      "an endpoint with credentials",
      { llm_providers: [{ ...provider, endpoint: "http://a@x/" }] },
      ["llm_providers.0.endpoint"],
    ],
    [
      "a key from an unset variable",
      { llm_providers: [{ ...provider, api_key: "env:NONE" }] },
      ["llm_providers.0.api_key"],
    ],
    [
      "a reference that is none",
      { llm_providers: [{ ...provider, api_key: "secret:a/../b" }] },
      ["llm_providers.0.api_key"],
    ],
    ["a key with line breaks", { llm_providers: [{ ...provider, api_key: "a\r\nX: y" }] }, ["llm_providers.0.api_key"]],
    ["rules at a vendor", { llm_providers: [{ ...provider, rules: [] }] }, ["llm_providers.0.rules"]],
    [
      "a key at a script",
      { llm_providers: [{ name: "s", type: "scripted", api_key: "x", endpoint: "http://x" }] },
      ["llm_providers.0.endpoint", "llm_providers.0.api_key"],
    ],
    [
      "a bad rule",
      {
        llm_providers: [
          { name: "s", type: "scripted", rules: [{ content: "a" }, { when: { moon: 1 }, content: "a" }] },
        ],
      },
      ["llm_providers.0.rules.1"],
    ],
    [
      "a bad pattern",
      { llm_providers: [{ name: "s", type: "scripted", rules: [{ when: { prompt_matches: "(" }, content: "a" }] }] },
      ["llm_providers.0.rules.0"],
    ],
    [
      "a bad template",
      { llm_providers: [{ name: "s", type: "scripted", rules: [{ content: "{{> x}}" }] }] },
      ["llm_providers.0.rules.0"],
    ],
    [
      "a rules file that is not there",
      { llm_providers: [{ name: "s", type: "scripted", rules_file: "x" }] },
      ["llm_providers.0.rules_file"],
    ],
    ["an unknown strategy", { llm_selection: { strategy: "dice" } }, ["llm_selection.strategy"]],
    [
      "providers that are not there",
      { llm_selection: { default_provider: "x", fallback_provider: "y" } },
      ["llm_selection.default_provider", "llm_selection.fallback_provider"],
    ],
    [
      "all problems at once",
      {
        llm_providers: [{ ...provider, api_key: "env:NONE", endpoint: "x" }, provider],
        llm_selection: { default_provider: "z" },
      },
      ["llm_providers.0.endpoint", "llm_providers.0.api_key", "llm_providers.1.name", "llm_selection.default_provider"],
    ],
  ])("%s", (_, document, paths) => {
    const result = readModelsConfig(document, options);
    expect(result.ok ? [] : result.issues.map((issue) => issue.path)).toEqual(paths);
  });

  test("scripted outside development, unless it is allowed or disabled", () => {
    const production = { ...options, development: false };
    const scripted = { name: "s", type: "scripted", models: [model] };
    const accepted = (extra: object) => readModelsConfig({ llm_providers: [{ ...scripted, ...extra }] }, production).ok;
    expect([accepted({}), accepted({ allow_in_production: true }), accepted({ enabled: false })]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

test("defaults of every field", () => {
  expect(configOf({ llm_providers: [{ name: "g", type: "gemini", models: [model] }] })).toEqual({
    providers: [
      {
        name: "g",
        type: "google",
        endpoint: "https://generativelanguage.googleapis.com/v1beta",
        vendorEndpoint: true,
        keyReference: null,
        local: false,
        apiKey: null,
        models: [
          {
            alias: "default",
            model: "m",
            capabilities: [],
            contextWindow: null,
            maxOutputTokens: 8192,
            temperature: 0.4,
            cost: { input: 0, output: 0 },
          },
        ],
      },
    ],
    selection: {
      strategy: "prefer-local",
      defaultProvider: null,
      fallbackProvider: null,
      maxRetries: 3,
      retryDelayMs: 1000,
      callTimeoutMs: 120_000,
    },
  });
});

test.each([
  ["ollama", undefined, "http://127.0.0.1:11434/v1"],
  ["ollama", "http://box:11434/", "http://box:11434/v1"],
  ["openai", undefined, "https://api.openai.com/v1"],
  ["anthropic", "https://proxy.example/anthropic/v1/", "https://proxy.example/anthropic/v1"],
  ["openai-compatible", "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"],
])("endpoint of %s %p is %s", (type, endpoint, expected) => {
  const config = configOf({ llm_providers: [{ ...provider, type, ...(endpoint ? { endpoint } : {}) }] });
  expect(config.providers[0]).toMatchObject({ endpoint: expected });
});

test.each([
  ["http://localhost", true],
  ["http://127.1.2.3", true],
  ["http://[::1]:80", true],
  ["http://[fd00::1]", true],
  ["http://10.0.0.1", true],
  ["http://172.16.0.1", true],
  ["http://172.32.0.1", false],
  ["http://192.168.1.1", true],
  ["http://ollama:11434", true],
  ["http://gpu.internal", true],
  ["https://api.openai.com", false],
  ["http://8.8.8.8", false],
  ["http://[2001:db8::1]", false],
])("%s is private: %p", (endpoint, expected) => expect(isPrivateEndpoint(endpoint)).toBe(expected));

test("a key shows in no text", () => {
  const config = configOf({ llm_providers: [{ ...provider, api_key: "env:TEST_KEY" }] });
  const shown = [
    JSON.stringify(config),
    inspect(config, { depth: 9 }),
    Bun.inspect(config),
    String(new Secret("sk-test-1234567890")),
  ];
  for (const text of shown) expect(text).not.toContain("sk-test");
});

describe("without configuration", () => {
  const nothing = { ...options, document: null, environment: () => undefined, ollama: "http://127.0.0.1:1" };
  const opened = async (changes: Partial<Parameters<typeof openModels>[0]>) => {
    const result = await openModels({ ...nothing, ...changes });
    if (!result.ok) throw new Error("refused");
    return result;
  };

  test("development has one scripted provider for every alias", async () => {
    const { models } = await opened({});
    expect(models.warning()).toBeNull();
    expect(models.describeDefault()).toBe("default → the scripted provider (development only: no model is asked)");
    expect(models.aliases().map(({ alias }) => alias)).toEqual(["default", "fast", "smart", "cheap", "local", "judge"]);
    expect(models.serves("anything at all")).toBe(true);
    expect((await models.generate(aCall({ alias: "my-own" }))).content).toBe("hello");
  });

  test("production without a key, a provider or a named Ollama warns and has no alias", async () => {
    const vendor = await startVendor();
    const { models } = await opened({ development: false, ollama: vendor.origin });
    await vendor.close();
    expect(models.warning()).toContain("OPENAI_API_KEY");
    expect(models.served()).toEqual([]);
    expect(models.aliases()).toEqual([]);
    expect(models.serves("default")).toBe(false);
    await expect(models.generate(aCall())).rejects.toMatchObject({ errorClass: "model_not_found" });
  });

  test.each([
    ["OPENAI_API_KEY", "openai", true],
    ["OPENAI_API_KEY", "openai", false],
    ["ANTHROPIC_API_KEY", "anthropic", false],
    ["GOOGLE_GENERATIVE_AI_API_KEY", "google", false],
  ])("%s points the customary aliases at %s, in development: %p", async (variable, vendor, development) => {
    const environment = (name: string) => (name === variable ? "sk-value" : undefined);
    const { models } = await opened({ development, environment });
    expect(models.warning()).toBeNull();
    expect(new Set(models.served().map(({ provider }) => provider))).toEqual(new Set([vendor]));
    expect(models.describeDefault()).toMatch(new RegExp(`^default → \\S+ at ${vendor} \\(${variable} is set\\)$`));
    expect(models.aliases().length).toBe(6);
    expect(models.serves("unheard-of")).toBe(false);
  });

  test("a key that none can be is told, not passed over", async () => {
    const environment = (name: string) => (name === "OPENAI_API_KEY" ? "sk-\u0007" : undefined);
    expect(await openModels({ ...nothing, development: false, environment })).toMatchObject({
      ok: false,
      issues: [{ path: "llm_providers.0.api_key" }],
    });
  });

  test("llm_selection of the file holds for the keys of the environment", async () => {
    const environment = (name: string) => (/OPENAI|ANTHROPIC/.test(name) ? "sk-value" : undefined);
    const document = { llm_selection: { default_provider: "anthropic" } };
    const { models } = await opened({ development: false, environment, document });
    expect(models.served()[0]).toMatchObject({ alias: "default", provider: "anthropic" });
    const wrong = { llm_selection: { default_provider: "nobody" } };
    expect(await openModels({ ...nothing, environment, document: wrong })).toMatchObject({ ok: false });
  });

  test("an Ollama that the operator names is asked in production as well", async () => {
    const vendor = await startVendor();
    const environment = (name: string) => (name === "SVC_OLLAMA_URL" ? vendor.origin : undefined);
    const { models } = await opened({ development: false, environment, ollama: vendor.origin });
    expect(models.served()[0]).toEqual({ alias: "default", provider: "ollama", model: "llama3.2:latest" });
    await vendor.close();
  });

  test("an Ollama that answers is found, with a model that writes", async () => {
    const vendor = await startVendor();
    vendor.push({ reply: { text: "from ollama" } });
    const { models } = await opened({ ollama: vendor.origin });
    expect(models.describeDefault()).toBe(`default → llama3.2:latest at the local Ollama (${vendor.origin})`);
    expect(await models.generate(aCall())).toMatchObject({
      provider: "ollama",
      model: "llama3.2:latest",
      content: "from ollama",
    });
    await vendor.close();
  });

  test("a port that accepts and says nothing does not hold the start", async () => {
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const { models } = await opened({ ollama: `http://127.0.0.1:${silent.port}`, probeMs: 100 });
    expect(models.describeDefault()).toContain("scripted");
    silent.stop(true);
  });

  test("a reload takes all or nothing; calls under way end as they began", async () => {
    const provider = (content: string, delay_ms = 0) => ({
      name: "s",
      type: "scripted",
      models: [{ alias: "default", model: content }],
      rules: [{ reply: { content, delay_ms } }],
    });
    let document: unknown = { llm_providers: [provider("first", 60)] };
    const { models } = await opened({ document, readAgain: () => document });
    const underWay = models.generate(aCall());
    document = { llm_providers: [provider("second")] };
    expect(await models.reload()).toEqual({ ok: true });
    expect(models.served()).toEqual([{ alias: "default", provider: "s", model: "second" }]);
    expect((await models.generate(aCall())).content).toBe("second");
    expect((await underWay).content).toBe("first");
    document = { llm_providers: [provider("third"), { name: "broken" }] };
    expect(await models.reload()).toMatchObject({ ok: false, issues: [{ path: "llm_providers.1.type" }] });
    expect((await models.generate(aCall())).content).toBe("second");
  });

  test("a file that cannot be read again is an issue, not an end", async () => {
    const document = { llm_providers: [{ name: "s", type: "scripted", models: [model] }] };
    const readAgain = () => {
      throw new Error("cannot be read");
    };
    const { models } = await opened({ document, readAgain });
    expect(await models.reload()).toMatchObject({ ok: false, issues: [{ message: "cannot be read" }] });
    expect(models.serves("default")).toBe(models.served().some(({ alias }) => alias === "default"));
  });

  test("a document with models is taken instead, its problems handed back", async () => {
    expect(await openModels({ ...nothing, document: { llm_providers: [{ name: "x" }] } })).toMatchObject({ ok: false });
    const { models } = await opened({
      document: { other: 1, llm_providers: [{ name: "s", type: "scripted", models: [model] }] },
    });
    expect(models.serves("fast")).toBe(false);
    expect(models.describeDefault()).toBe("default → m at s");
  });
});
