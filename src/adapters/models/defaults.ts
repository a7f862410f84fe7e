/** Where the aliases point when no provider is configured: at what the environment has. */
import type { Issue } from "../../../actors/kernel/problem.ts";
import type { SecretReference } from "../../../actors/manifest/references.ts";
import { readJson } from "../../lib/answer-body.ts";
import { Secret } from "../../lib/secret.ts";
import { type ModelsConfig, type ReadOptions, readModelsConfig } from "./config.ts";
import type { KeySource } from "./keys.ts";

/** Aliases that manifests customarily name. */
export const customaryAliases = ["default", "fast", "smart", "cheap", "local", "judge"] as const;

export type FoundDefaults =
  | {
      readonly ok: true;
      readonly config: ModelsConfig;
      /** For the start banner: where `default` points and why. */
      readonly description: string;
    }
  /** A key, or the file's `llm_selection`, is not usable. */
  | { readonly ok: false; readonly issues: readonly Issue[] };

export interface DefaultsOptions {
  readonly development: boolean;
  environment(name: string): string | undefined;
  /** Where an Ollama would answer. Outside development it is asked only when the operator has named it. */
  readonly ollama?: string;
  /** Milliseconds the question to Ollama may take. */
  readonly probeMs?: number;
  /** Reads keys in secrets of the system tenant; without it there are none. */
  readonly keys?: KeySource;
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

/** The secret of the system tenant that holds a vendor's key where the environment has none. */
function secretOf({ type }: VendorDefault): SecretReference {
  const path = `llm/${type}`;
  return { kind: "secret", path, field: null, text: `secret:${path}` };
}

export const defaultKeySecrets: readonly SecretReference[] = vendors.map(secretOf);

const ollamaAddress = "http://127.0.0.1:11434";
const probeMs = 300;
const longestListBytes = 1_048_576;
/** Models of these families only make vectors. */
const embeddings = /embed|bge-|minilm/i;

/**
 * What to use where no provider is configured: the vendors whose keys are present, in the environment or else in secrets, else an Ollama that answers, else, in
 * development, the scripted provider.
 * @param selection `llm_selection` of the configuration file, where there is one
 */
export async function findDefaults(options: DefaultsOptions, selection?: unknown): Promise<FoundDefaults> {
  const read = (providers: readonly object[], description: string): FoundDefaults => {
    const document = { llm_providers: providers, ...(selection === undefined ? {} : { llm_selection: selection }) };
    const result = readModelsConfig(document, readOptions(options));
    return result.ok ? { ...result, description } : result;
  };
  const set = vendors.filter((vendor) => options.environment(vendor.variable)?.trim());
  const present = set.length > 0 ? set : await withSecrets(options.keys);
  const [first] = present;
  if (first) {
    const [keyOf, why] =
      set.length > 0
        ? [({ variable }: VendorDefault) => `env:${variable}`, `${first.variable} is set`]
        : [
            (vendor: VendorDefault) => secretOf(vendor).text,
            `its key is the secret ${secretOf(first).path} of svc-system`,
          ];
    const providers = present.map((vendor) => providerOf(vendor, keyOf(vendor)));
    return read(providers, `${first.everyday} at ${first.type} (${why})`);
  }
  const mayAsk = options.development || options.environment("SVC_OLLAMA_URL") !== undefined;
  const address = options.ollama ?? ollamaAddress;
  const model = mayAsk ? await ollamaModel(address, options.probeMs ?? probeMs) : null;
  if (model) {
    const models = customaryAliases.map((alias) => ({ alias, model }));
    const provider = { name: "ollama", type: "ollama", endpoint: address, models };
    return read([provider], `${model} at the local Ollama (${address})`);
  }
  if (!options.development) return read([], "no model provider is configured");
  const found = read([], "the scripted provider (development only: no model is asked)");
  if (!found.ok) return found;
  const scripted = { name: "scripted", type: "scripted", rules: [], models: [], everyAlias: true } as const;
  return { ...found, config: { ...found.config, providers: [scripted] } };
}

/** Those whose key is in a secret; none while secrets cannot be read. */
async function withSecrets(keys: KeySource | undefined): Promise<readonly VendorDefault[]> {
  if (keys === undefined) return [];
  const found = await Promise.all(
    defaultKeySecrets.map((reference) =>
      keys(reference).then(
        (key) => key instanceof Secret,
        () => false,
      ),
    ),
  );
  return vendors.filter((_, index) => found[index]);
}

function providerOf({ type, everyday, small }: VendorDefault, key: string): object {
  return {
    name: type,
    type,
    api_key: key,
    models: customaryAliases.map((alias) => ({
      alias,
      model: alias === "fast" || alias === "cheap" ? small : everyday,
    })),
  };
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
