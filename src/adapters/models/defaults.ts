/** Where the aliases point when nothing is configured: at what is at hand in development, else nowhere. */
import { readJson } from "../../lib/answer-body.ts";
import { defaultSelection, type ModelsConfig, type ReadOptions, readModelsConfig } from "./config.ts";

/** Aliases that manifests customarily name. */
export const customaryAliases = ["default", "fast", "smart", "cheap", "local", "judge"] as const;

export interface FoundDefaults {
  readonly config: ModelsConfig;
  /** For the start banner: where `default` points and why. */
  readonly description: string;
  /** Set when an operator should know that no model can be asked. */
  readonly warning?: string;
}

export interface DefaultsOptions {
  readonly development: boolean;
  environment(name: string): string | undefined;
  /** Where a local Ollama would answer. */
  readonly ollama?: string;
  /** Milliseconds the question to Ollama may take. */
  readonly probeMs?: number;
}

interface VendorDefault {
  readonly variable: string;
  readonly type: "openai" | "anthropic" | "google";
  readonly everyday: string;
  readonly small: string;
}

/** The first whose key is present serves the aliases; the others stand behind it. */
const vendors: readonly VendorDefault[] = [
  { variable: "OPENAI_API_KEY", type: "openai", everyday: "gpt-5.1", small: "gpt-5-mini" },
  { variable: "ANTHROPIC_API_KEY", type: "anthropic", everyday: "claude-sonnet-4-6", small: "claude-haiku-4-5" },
  {
    variable: "GOOGLE_GENERATIVE_AI_API_KEY",
    type: "google",
    everyday: "gemini-pro-latest",
    small: "gemini-flash-latest",
  },
];

const ollamaAddress = "http://127.0.0.1:11434";
const probeMs = 300;
const longestListBytes = 1_048_576;
/** Models of these families only make vectors. */
const embeddings = /embed|bge-|minilm/i;

/** What to use without any configuration. Asks a local Ollama when no key is present. */
export async function findDefaults(options: DefaultsOptions): Promise<FoundDefaults> {
  if (!options.development) {
    const warning = "no model provider is configured: every model alias is unknown";
    return {
      config: { providers: [], selection: defaultSelection },
      description: "no model provider configured",
      warning,
    };
  }
  const present = vendors.filter((vendor) => options.environment(vendor.variable)?.trim());
  const [first] = present;
  if (first) {
    const config = fromKeys(present, options);
    if (config) return { config, description: `${first.everyday} at ${first.type} (${first.variable} is set)` };
  }
  const address = options.ollama ?? ollamaAddress;
  const model = await ollamaModel(address, options.probeMs ?? probeMs);
  if (model) {
    const models = customaryAliases.map((alias) => ({ alias, model }));
    const result = readModelsConfig(
      { llm_providers: [{ name: "ollama", type: "ollama", endpoint: address, models }] },
      readOptions(options),
    );
    if (result.ok) return { config: result.config, description: `${model} at the local Ollama (${address})` };
  }
  return {
    config: {
      providers: [{ name: "scripted", type: "scripted", rules: [], models: [], everyAlias: true }],
      selection: defaultSelection,
    },
    description: "the scripted provider (development only: no model is asked)",
  };
}

function fromKeys(present: readonly VendorDefault[], options: DefaultsOptions): ModelsConfig | null {
  const document = {
    llm_providers: present.map(({ variable, type, everyday, small }) => ({
      name: type,
      type,
      api_key: `env:${variable}`,
      models: customaryAliases.map((alias) => ({
        alias,
        model: alias === "fast" || alias === "cheap" ? small : everyday,
      })),
    })),
  };
  const result = readModelsConfig(document, readOptions(options));
  return result.ok ? result.config : null;
}

function readOptions(options: DefaultsOptions): ReadOptions {
  return {
    development: options.development,
    environment: options.environment,
    readFile: () => {
      throw new Error("no file belongs to the defaults");
    },
  };
}

/** The model a local Ollama has, most recently changed first, or null when none answers in time. */
async function ollamaModel(address: string, withinMs: number): Promise<string | null> {
  try {
    const response = await fetch(`${address}/api/tags`, {
      signal: AbortSignal.timeout(withinMs),
      redirect: "error",
      headers: { "accept-encoding": "identity" },
      decompress: false,
    });
    if (!response.ok) return null;
    const answer = await readJson(response, longestListBytes);
    if (typeof answer !== "object" || answer === null || !("models" in answer) || !Array.isArray(answer.models))
      return null;
    const names = answer.models.flatMap((model: unknown) =>
      typeof model === "object" && model !== null && "name" in model && typeof model.name === "string"
        ? [model.name]
        : [],
    );
    return names.find((name) => name !== "" && name.length <= 256 && !embeddings.test(name)) ?? null;
  } catch {
    return null;
  }
}
