/** The models of a node: providers made from the configuration, behind the port. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Attempt, Provider, ServedModel } from "./attempt.ts";
import { type ModelAlias, ModelError, type Models } from "./call.ts";
import type { ModelsConfig, ProviderConfig, VendorProviderConfig } from "./config.ts";
import { customaryAliases } from "./defaults.ts";
import { callModel, type Pace } from "./retries.ts";
import { createScripted } from "./scripted/scripted.ts";
import { candidates, Latencies, type Room, servedBy } from "./selection.ts";

export interface ModelsOptions {
  readonly config: ModelsConfig;
  /** What `describeDefault` says instead of the provider's name, when the defaults were found by looking around. */
  readonly description?: string;
  readonly pace?: Partial<Pace>;
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
  const pace: Pace = { now: Date.now, random: Math.random, sleep: sleepUnless, ...options.pace };
  const { selection } = options.config;
  const rooms = options.config.providers.map((provider) => toRoom(provider, pace));
  const latencies = new Latencies();
  const find = (alias: string, withTools: boolean) => candidates(rooms, selection, latencies, alias, withTools);

  return {
    aliases() {
      const names = new Set(rooms.flatMap((room) => room.models.map((model) => model.alias)));
      if (rooms.some((room) => room.everyAlias)) for (const alias of customaryAliases) names.add(alias);
      return [...names].flatMap((alias) => {
        const [first] = find(alias, false);
        return first ? [toAlias(alias, first.served)] : [];
      });
    },
    serves: (alias) => rooms.some((room) => servedBy(room, alias) !== undefined),
    describeDefault() {
      const [first] = find("default", false);
      if (!first) return "no provider serves the alias default";
      return `default → ${options.description ?? `${first.served.model} at ${first.provider.name}`}`;
    },
    async generate(call) {
      call.signal.throwIfAborted();
      const found = find(call.alias, call.tools.length > 0);
      if (found.length > 0) return callModel(call, found, selection, latencies, pace);
      const known = rooms.some((room) => servedBy(room, call.alias) !== undefined);
      const why = known ? "is served by no model that can call tools" : "is served by no provider";
      const facts = { provider: "", model: "", attempts: 0, elapsedMs: 0, fallbackAttempted: false };
      throw new ModelError("model_not_found", `the alias ${JSON.stringify(call.alias.slice(0, 64))} ${why}`, facts);
    },
  };
}

function toRoom(config: ProviderConfig, pace: Pace): Room {
  const { models } = config;
  if (config.type !== "scripted") return { provider: vendor(config, pace), local: config.local, models };
  const provider = createScripted({ name: config.name, rules: config.rules, sleep: pace.sleep });
  return { provider, local: true, models, ...(config.everyAlias ? { everyAlias: anything } : {}) };
}

/** The SDK is large, so a node that asks no vendor never loads it. */
function vendor(config: VendorProviderConfig, pace: Pace): Provider {
  let loaded: Promise<Provider> | null = null;
  return {
    name: config.name,
    async attempt(attempt: Attempt) {
      loaded ??= import("./vendors/vendors.ts").then(({ createVendor }) => createVendor(config, pace));
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
