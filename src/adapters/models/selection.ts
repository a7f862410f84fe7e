/** Which provider answers an alias: the order of the candidates, and what comes after them. */
import type { Provider, ServedModel } from "./attempt.ts";
import type { SelectionConfig } from "./config.ts";

/** A model that could answer, at the provider that has it. */
export interface Candidate {
  readonly provider: Provider;
  /** On this machine or in a private network. */
  readonly local: boolean;
  readonly served: ServedModel;
}

export interface ConfiguredProvider {
  readonly provider: Provider;
  readonly local: boolean;
  readonly models: readonly ServedModel[];
  /** Set when one model answers under every alias (the development default). */
  readonly everyAlias?: ServedModel;
}

const remembered = 20;

/** Recent times of successful calls, for the latency-optimized strategy. */
export class Latencies {
  readonly #times = new Map<string, number[]>();

  record(candidate: Candidate, elapsedMs: number): void {
    const key = keyOf(candidate);
    const times = this.#times.get(key) ?? [];
    times.push(elapsedMs);
    if (times.length > remembered) times.shift();
    this.#times.set(key, times);
  }

  /** Milliseconds; 0 while nothing is known, so that every model gets measured once. */
  median(candidate: Candidate): number {
    const sorted = (this.#times.get(keyOf(candidate)) ?? []).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  }
}

function keyOf(candidate: Candidate): string {
  return `${candidate.provider.name}\n${candidate.served.model}`;
}

/** The model a provider has under an alias. */
export function servedBy(configured: ConfiguredProvider, alias: string): ServedModel | undefined {
  return (
    configured.models.find((model) => model.alias === alias) ??
    (configured.everyAlias && { ...configured.everyAlias, alias })
  );
}

/**
 * Those who may answer, in the order to try them. The fallback provider comes last, with the same alias or
 * else its `default`, and only when a provider serves the alias at all.
 *
 * @param withTools leaves out models that say what they can and do not say `tools`
 */
export function candidates(
  providers: readonly ConfiguredProvider[],
  selection: SelectionConfig,
  latencies: Latencies,
  alias: string,
  withTools: boolean,
): readonly Candidate[] {
  const able = (served: ServedModel) =>
    !withTools || served.capabilities.length === 0 || served.capabilities.includes("tools");
  const found: Candidate[] = [];
  const last: Candidate[] = [];
  let known = false;
  for (const configured of providers) {
    const isFallback = configured.provider.name === selection.fallbackProvider;
    const own = servedBy(configured, alias);
    known ||= own !== undefined;
    const served = isFallback ? [own, servedBy(configured, "default")].find((model) => model && able(model)) : own;
    if (!served || !able(served)) continue;
    (isFallback ? last : found).push({ provider: configured.provider, local: configured.local, served });
  }
  if (!known) return [];
  const weight = weightOf(selection, latencies);
  const preferred = (candidate: Candidate) => (candidate.provider.name === selection.defaultProvider ? 0 : 1);
  // The sort is stable: what is equal stays in the order of the configuration.
  found.sort((a, b) => weight(a) - weight(b) || preferred(a) - preferred(b));
  return [...found, ...last];
}

function weightOf(selection: SelectionConfig, latencies: Latencies): (candidate: Candidate) => number {
  switch (selection.strategy) {
    case "prefer-local":
      return (candidate) => (candidate.local ? 0 : 1);
    case "prefer-cloud":
      return (candidate) => (candidate.local ? 1 : 0);
    case "cost-optimized":
      return (candidate) => candidate.served.cost.input + candidate.served.cost.output;
    case "latency-optimized":
      return (candidate) => latencies.median(candidate);
  }
}
