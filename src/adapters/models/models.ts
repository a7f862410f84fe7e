/** The models of a node: providers made from the configuration, behind the port. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Secret } from "../../lib/secret.ts";
import type { Attempt, Provider, ServedModel } from "./attempt.ts";
import { type ModelAlias, ModelError, type Models } from "./call.ts";
import type { ModelsConfig, ProviderConfig, VendorProviderConfig } from "./config.ts";
import { customaryAliases } from "./defaults.ts";
import { type KeySource, withReferredKey } from "./keys.ts";
import { probeProviders } from "./probe.ts";
import { callModel, type Timing } from "./retries.ts";
import { createScripted } from "./scripted/scripted.ts";
import { type Candidate, type ConfiguredProvider, candidates, Latencies, servedBy } from "./selection.ts";

export interface ModelsOptions {
  readonly config: ModelsConfig;
  /** What `describeDefault` says instead of the provider's name, when the defaults were found by looking around. */
  readonly description?: string;
  readonly timing?: Partial<Timing>;
  /** Reads keys that providers refer to; without it there are none. */
  readonly keys?: KeySource;
}

/** The model under every alias of a provider that serves them all. */
const anything: ServedModel = {
  alias: "default",
  model: "scripted",
  capabilities: ["tools"],
  contextWindow: null,
  maxOutputTokens: 8192,
  temperature: 0.4,
  cost: { input: 0, output: 0 },
};

/** The port over a configuration. Nothing is connected before the first call. */
export function createModels(options: ModelsOptions): Models {
  const timing: Timing = { now: () => performance.now(), random: Math.random, sleep: sleepUnless, ...options.timing };
  const { selection } = options.config;
  const keys = options.keys ?? noKeys;
  const providers = options.config.providers.map((provider) => toProvider(provider, timing, keys));
  const latencies = new Latencies();
  const find = (alias: string, withTools: boolean) => candidates(providers, selection, latencies, alias, withTools);

  const first = (): readonly (Candidate & { readonly alias: string })[] => {
    const names = new Set(providers.flatMap((provider) => provider.models.map((model) => model.alias)));
    if (providers.some((provider) => provider.everyAlias)) for (const alias of customaryAliases) names.add(alias);
    return [...names].flatMap((alias) =>
      find(alias, false)
        .slice(0, 1)
        .map((candidate) => ({ ...candidate, alias })),
    );
  };

  return {
    aliases: () => first().map(({ alias, served }) => toAlias(alias, served)),
    served: () => first().map(({ alias, provider, served: { model } }) => ({ alias, provider: provider.name, model })),
    serves: (alias) => providers.some((provider) => servedBy(provider, alias) !== undefined),
    describeDefault() {
      const [first] = find("default", false);
      if (!first) return "no provider serves the alias default";
      return `default → ${options.description ?? `${first.served.model} at ${first.provider.name}`}`;
    },
    probe: (signal) => probeProviders(options.config.providers, keys, signal),
    async generate(call) {
      call.signal.throwIfAborted();
      const found = find(call.alias, call.tools.length > 0);
      if (found.length > 0) return callModel(call, found, selection, latencies, timing);
      const known = providers.some((provider) => servedBy(provider, call.alias) !== undefined);
      const why = known ? "is served by no model that can call tools" : "is served by no provider";
      const facts = { provider: "", model: "", attempts: 0, elapsedMs: 0, fallbackAttempted: false };
      throw new ModelError("model_not_found", `the alias ${JSON.stringify(call.alias.slice(0, 64))} ${why}`, facts);
    },
  };
}

const noKeys: KeySource = async () => ({ missing: "nothing here reads secrets" });

function toProvider(config: ProviderConfig, timing: Timing, keys: KeySource): ConfiguredProvider {
  const { models } = config;
  if (config.type !== "scripted") return { provider: vendor(config, timing, keys), local: config.local, models };
  const provider = createScripted({ name: config.name, rules: config.rules, sleep: timing.sleep });
  return { provider, local: true, models, ...(config.everyAlias ? { everyAlias: anything } : {}) };
}

/** The SDK is large, so a node that asks no vendor never loads it. */
function vendor(config: VendorProviderConfig, timing: Timing, keys: KeySource): Provider {
  const open = async (apiKey: Secret | null): Promise<Provider> => {
    const { createVendor } = await import("./vendors/vendors.ts");
    return createVendor({ ...config, apiKey }, timing);
  };
  const { name, keyReference: reference } = config;
  if (reference !== null) return withReferredKey({ name, reference, keys, open });
  let loaded: Promise<Provider> | null = null;
  return {
    name,
    async attempt(attempt: Attempt) {
      loaded ??= open(config.apiKey);
      return (await loaded).attempt(attempt);
    },
  };
}

function toAlias(alias: string, served: ServedModel): ModelAlias {
  return {
    alias,
    capabilities: served.capabilities,
    context_window: served.contextWindow,
    max_output_tokens: served.maxOutputTokens,
  };
}

/** @throws the signal's reason when it aborts */
async function sleepUnless(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
