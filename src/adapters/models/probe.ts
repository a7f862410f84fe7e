/**
 * Whether providers can be reached with the keys that are there: each is asked for its list of models, which costs
 * nothing. What a provider says is not told, its key and its address neither.
 */
import { Secret } from "../../lib/secret.ts";
import type { ProviderProbe } from "./call.ts";
import type { ProviderConfig, VendorProviderConfig } from "./config.ts";
import { type KeySource, keyOfText } from "./keys.ts";
import { keyHeaderOf } from "./vendors/endpoint.ts";

/** All at once. Never rejects. */
export const probeProviders = (
  providers: readonly ProviderConfig[],
  keys: KeySource,
  signal: AbortSignal,
): Promise<readonly ProviderProbe[]> =>
  Promise.all(
    providers.map(async (config) => ({
      provider: config.name,
      outcome: config.type === "scripted" ? ("scripted" as const) : await ask(config, keys, signal),
    })),
  );

async function ask(
  config: VendorProviderConfig,
  keys: KeySource,
  signal: AbortSignal,
): Promise<ProviderProbe["outcome"]> {
  try {
    const key = await keyOf(config, keys);
    if (key === undefined) return "no_key";
    const response = await fetch(`${config.endpoint}/models`, {
      headers: {
        ...(key === null ? {} : headerOf(config, key)),
        // Anthropic's interface wants it of every request.
        ...(config.type === "anthropic" ? { "anthropic-version": "2023-06-01" } : {}),
      },
      // A redirection would carry the key elsewhere.
      redirect: "manual",
      signal,
    });
    await response.body?.cancel();
    if (response.status === 401 || response.status === 403) return "refused";
    // Google's word for a key that it does not know.
    if (config.type === "google" && response.status === 400) return "refused";
    return response.status >= 500 ? "away" : "answers";
  } catch {
    return "away";
  }
}

/** Null: it takes none; undefined: the one that is referred to is not there. */
async function keyOf(config: VendorProviderConfig, keys: KeySource): Promise<Secret | null | undefined> {
  if (config.keyReference === null) return config.apiKey;
  const found = await keys(config.keyReference);
  return found instanceof Secret ? (keyOfText(found.reveal()) ?? undefined) : undefined;
}

function headerOf({ type }: VendorProviderConfig, key: Secret): Record<string, string> {
  const name = keyHeaderOf(type);
  return { [name]: name === "authorization" ? `Bearer ${key.reveal()}` : key.reveal() };
}
