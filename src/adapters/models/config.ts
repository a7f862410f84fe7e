/**
 * The sections `llm_providers` and `llm_selection` of the configuration file: their shape, their defaults
 * and the rules between fields. All findings are reported together, each with its path.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Issue } from "../../../actors/kernel/problem.ts";
import { Nullable } from "../../../actors/kernel/schema.ts";
import { shapeIssues } from "../../../actors/kernel/shape-issues.ts";
import { readReference, type SecretReference } from "../../../actors/manifest/references.ts";
import type { Secret } from "../../lib/secret.ts";
import type { ServedModel } from "./attempt.ts";
import { keyOfText } from "./keys.ts";
import { type Rule, readRules, rulesOfText } from "./scripted/script-rules.ts";
import { endpointOf, isPrivateEndpoint, type VendorType, vendorTypes } from "./vendors/endpoint.ts";

const strict = { additionalProperties: false };
const nonNegative = Type.Number({ minimum: 0 });
const name = Type.String({ minLength: 1, maxLength: 64, pattern: "^[^\\u0000-\\u001f]+$" });

/** `gemini` is another name of `google`. */
const providerTypes = [...vendorTypes, "gemini", "scripted"] as const;

const ModelSection = Type.Object(
  {
    alias: name,
    model: Type.String({ minLength: 1, maxLength: 256 }),
    capabilities: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 64 })),
    context_window: Type.Optional(Nullable(Type.Integer({ minimum: 1 }))),
    max_output_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    cost_per_1k_tokens: Type.Optional(
      Type.Union([nonNegative, Type.Object({ input: nonNegative, output: nonNegative }, strict)]),
    ),
  },
  strict,
);

const ProviderSection = Type.Object(
  {
    name,
    type: Type.Union(providerTypes.map((type) => Type.Literal(type))),
    endpoint: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
    api_key: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    enabled: Type.Optional(Type.Boolean()),
    models: Type.Optional(Type.Array(ModelSection, { maxItems: 1000 })),
    rules: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 10_000 })),
    rules_file: Type.Optional(Type.String({ minLength: 1 })),
    allow_in_production: Type.Optional(Type.Boolean()),
  },
  strict,
);

const SelectionSection = Type.Object(
  {
    strategy: Type.Optional(
      Type.Union([
        Type.Literal("prefer-local"),
        Type.Literal("prefer-cloud"),
        Type.Literal("cost-optimized"),
        Type.Literal("latency-optimized"),
      ]),
    ),
    default_provider: Type.Optional(Nullable(Type.String())),
    fallback_provider: Type.Optional(Nullable(Type.String())),
    max_retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
    retry_delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 30_000 })),
    call_timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 })),
  },
  strict,
);

const Sections = Type.Object({
  llm_providers: Type.Optional(Type.Array(ProviderSection, { maxItems: 100 })),
  llm_selection: Type.Optional(SelectionSection),
});

type ProviderFields = Static<typeof ProviderSection>;

export interface VendorProviderConfig {
  readonly name: string;
  readonly type: VendorType;
  /** Base address of the wire, with its version segment and without a slash at the end. */
  readonly endpoint: string;
  /** The vendor's own address was taken, because none was given. */
  readonly vendorEndpoint: boolean;
  readonly local: boolean;
  /** Null: there is none, or it is referred to. */
  readonly apiKey: Secret | null;
  /** The secret of the system tenant that holds the key; null: none does. */
  readonly keyReference: SecretReference | null;
  readonly models: readonly ServedModel[];
}

export interface ScriptedProviderConfig {
  readonly name: string;
  readonly type: "scripted";
  readonly rules: readonly Rule[];
  readonly models: readonly ServedModel[];
  /** Answers under every alias, also those it does not list. */
  readonly everyAlias: boolean;
}

export type ProviderConfig = VendorProviderConfig | ScriptedProviderConfig;

export interface SelectionConfig {
  readonly strategy: "prefer-local" | "prefer-cloud" | "cost-optimized" | "latency-optimized";
  readonly defaultProvider: string | null;
  readonly fallbackProvider: string | null;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  readonly callTimeoutMs: number;
}

/** What calls need to know; disabled providers are left out. */
export interface ModelsConfig {
  readonly providers: readonly ProviderConfig[];
  readonly selection: SelectionConfig;
}

export interface ReadOptions {
  readonly development: boolean;
  /** A variable of the environment, for `env:NAME` keys. */
  environment(name: string): string | undefined;
  /** The text of a file named in the configuration, relative to it; throws when there is none. */
  readFile(path: string): string;
}

export type ReadResult =
  | { readonly ok: true; readonly config: ModelsConfig }
  | { readonly ok: false; readonly issues: readonly Issue[] };

export const defaultSelection: SelectionConfig = {
  strategy: "prefer-local",
  defaultProvider: null,
  fallbackProvider: null,
  maxRetries: 3,
  retryDelayMs: 1000,
  callTimeoutMs: 120_000,
};

type Report = (path: string, message: string) => void;

/** Reads the two sections out of the whole configuration document; other sections are not looked at. */
export function readModelsConfig(document: unknown, options: ReadOptions): ReadResult {
  const issues: Issue[] = [];
  const report: Report = (path, message) => issues.push({ path, message, code: "invalid_value" });
  if (!Value.Check(Sections, document)) {
    for (const { path, message } of shapeIssues(Value.Errors(Sections, document), 100)) report(path, message);
    return { ok: false, issues };
  }
  const sections = document.llm_providers ?? [];
  const providers: ProviderConfig[] = [];
  const names = new Set<string>();
  sections.forEach((section, index) => {
    const path = `llm_providers.${index}`;
    if (names.has(section.name)) report(`${path}.name`, `the name ${section.name} is taken by another provider`);
    names.add(section.name);
    const provider = readProvider(section, options, (field, message) => report(`${path}.${field}`, message));
    if (provider && section.enabled !== false) providers.push(provider);
  });
  const chosen = document.llm_selection ?? {};
  for (const field of ["default_provider", "fallback_provider"] as const) {
    const wanted = chosen[field];
    if (typeof wanted === "string" && !names.has(wanted)) {
      report(`llm_selection.${field}`, `there is no provider named ${wanted}`);
    }
  }
  if (issues.length > 0) return { ok: false, issues };
  const selection: SelectionConfig = {
    strategy: chosen.strategy ?? defaultSelection.strategy,
    defaultProvider: chosen.default_provider ?? null,
    fallbackProvider: chosen.fallback_provider ?? null,
    maxRetries: chosen.max_retries ?? defaultSelection.maxRetries,
    retryDelayMs: chosen.retry_delay_ms ?? defaultSelection.retryDelayMs,
    callTimeoutMs: (chosen.call_timeout_seconds ?? defaultSelection.callTimeoutMs / 1000) * 1000,
  };
  return { ok: true, config: { providers, selection } };
}

function readProvider(section: ProviderFields, options: ReadOptions, report: Report): ProviderConfig | null {
  const models = readModels(section, report);
  if (section.type === "scripted") {
    for (const field of ["endpoint", "api_key"] as const) {
      if (section[field] !== undefined) report(field, "a scripted provider has none");
    }
    if (!options.development && section.enabled !== false && section.allow_in_production !== true) {
      report("type", "scripted is for development only, unless allow_in_production is true");
    }
    return {
      name: section.name,
      type: "scripted",
      rules: rulesOf(section, options, report),
      models,
      everyAlias: false,
    };
  }
  for (const field of ["rules", "rules_file", "allow_in_production"] as const) {
    if (section[field] !== undefined) report(field, "only a scripted provider has it");
  }
  const type = section.type === "gemini" ? "google" : section.type;
  const endpoint = endpointOf(type, section.endpoint, report);
  const key = section.enabled === false ? noKey : keyOf(section.api_key, options, report);
  if (endpoint === null) return null;
  const local = type === "ollama" || isPrivateEndpoint(endpoint);
  return { name: section.name, type, endpoint, vendorEndpoint: section.endpoint === undefined, local, ...key, models };
}

function readModels(section: ProviderFields, report: Report): readonly ServedModel[] {
  const aliases = new Set<string>();
  return (section.models ?? []).map((model, index) => {
    if (aliases.has(model.alias)) report(`models.${index}.alias`, `the alias ${model.alias} is listed twice`);
    aliases.add(model.alias);
    const cost = model.cost_per_1k_tokens ?? 0;
    return {
      alias: model.alias,
      model: model.model,
      capabilities: model.capabilities ?? [],
      contextWindow: model.context_window ?? null,
      maxOutputTokens: model.max_output_tokens ?? 8192,
      temperature: model.temperature ?? 0.4,
      cost: typeof cost === "number" ? { input: cost, output: cost } : cost,
    };
  });
}

type ProviderKey = Pick<VendorProviderConfig, "apiKey" | "keyReference">;
const noKey: ProviderKey = { apiKey: null, keyReference: null };

function keyOf(given: string | undefined, options: ReadOptions, report: Report): ProviderKey {
  if (given === undefined) return noKey;
  if (given.startsWith("secret:")) {
    const reference = readReference(given);
    if (typeof reference !== "string" && reference.kind === "secret") return { ...noKey, keyReference: reference };
    report("api_key", typeof reference === "string" ? reference : "must be a key, env:NAME or secret:<path>[#field]");
    return noKey;
  }
  if (!given.startsWith("env:")) return usableKey(given, report);
  const variable = given.slice("env:".length);
  const value = options.environment(variable);
  if (!value) {
    report("api_key", `the environment variable ${variable} is not set`);
    return noKey;
  }
  return usableKey(value, report);
}

function usableKey(value: string, report: Report): ProviderKey {
  const apiKey = keyOfText(value);
  if (apiKey === null) report("api_key", "holds characters that no key has");
  return { ...noKey, apiKey };
}

function rulesOf(section: ProviderFields, options: ReadOptions, report: Report): readonly Rule[] {
  if (section.rules !== undefined && section.rules_file !== undefined)
    report("rules_file", "give rules or rules_file, not both");
  const problem = (path: string, message: string) => report(path, message);
  if (section.rules !== undefined) return readRules(section.rules, "rules", problem);
  if (section.rules_file === undefined) return [];
  let text: string;
  try {
    text = options.readFile(section.rules_file);
  } catch {
    report("rules_file", "cannot be read");
    return [];
  }
  return rulesOfText(text, "rules_file", problem);
}
