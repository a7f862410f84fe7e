/** The keys a tenant's deliveries may be signed with: those of the stored secrets, else of the environment's. */
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { Encryption } from "../../../encryption/port.ts";
import type { SecretValues } from "../../../secrets/port.ts";
import type { PresetName } from "../port.ts";
import { presets } from "../presets/presets.ts";
import type { SourceRow } from "../records.ts";
import type { SecretsOfEnvironment } from "./environment.ts";
import { decryptedPrevious, decryptedSecret, referenceIn } from "./secrets.ts";

export interface Keys {
  /** The current secret's first. */
  readonly keys: readonly Uint8Array[];
  /** What kept stored secrets from being opened, or from being read where they stand; null: nothing. */
  readonly fault: Problem | null;
  /** When one of them ceases to count, Unix milliseconds. */
  readonly until: number;
}

/** What the environment holds for a tenant's source, in a form the preset can use. */
export interface EnvironmentSecret {
  readonly by: "env_tenant" | "env";
  readonly current: string;
}

/** Null: nothing the preset could use. */
export function environmentSecretOf(
  environment: SecretsOfEnvironment,
  tenant: string,
  source: string,
  preset: PresetName,
): EnvironmentSecret | null {
  const found = environment.ofTenant(tenant, source);
  const usable = found?.secrets
    .map((secret) => secret.reveal())
    .find((text) => presets[preset].secretBytes(text) !== null);
  return found === null || usable === undefined ? null : { by: found.by, current: usable };
}

export function environmentKeys(
  environment: SecretsOfEnvironment,
  tenant: string,
  source: string,
  preset: PresetName,
): readonly Uint8Array[] {
  const secrets = environment.ofTenant(tenant, source)?.secrets ?? [];
  return secrets.flatMap((secret) => presets[preset].secretBytes(secret.reveal()) ?? []);
}

/** What the keys of a source are found with. */
export interface KeyParts {
  readonly encryption: Encryption;
  readonly environment: SecretsOfEnvironment;
  readonly secrets: SecretValues;
}

/** No shorter one is taken from a caller either, in characters. */
const leastCharacters = 16;
/** How long a delivery waits for a secret that is referred to, ms: other tenants' sources may have the same name. */
const mostWaitMs = 1500;

/** The text that a stored secret stands for; null: what it refers to is none. @throws Problem 503 where that is away */
async function meaningOf(secrets: SecretValues, tenant: string, stored: string): Promise<string | null> {
  const reference = referenceIn(stored);
  if (reference === null) return stored;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = "The store of secrets does not answer in time";
    const problem = new Problem("secrets_unavailable", message, {}, { "Retry-After": "1" });
    timer = setTimeout(() => reject(problem), mostWaitMs);
  });
  try {
    const found = await Promise.race([secrets.meaning(tenant, reference), late]);
    const text = "value" in found ? found.value.reveal() : "";
    return text.length < leastCharacters ? null : text;
  } finally {
    clearTimeout(timer);
  }
}

/** @param at Unix milliseconds */
export async function keysOf(
  { encryption, environment, secrets }: KeyParts,
  row: SourceRow,
  at: number,
): Promise<Keys> {
  const { tenant, source, preset } = row;
  if (row.secret === null) {
    return { keys: environmentKeys(environment, tenant, source, preset), fault: null, until: Number.POSITIVE_INFINITY };
  }
  const found = await Promise.all(
    [decryptedSecret, decryptedPrevious].map(async (open) => {
      try {
        const stored = open(encryption, row, at);
        return stored === null ? null : await meaningOf(secrets, tenant, stored);
      } catch (error) {
        if (error instanceof Problem) return error;
        throw error;
      }
    }),
  );
  // A secret from before a change of the preset may be none of the new one.
  const keys = found.flatMap((text) =>
    text === null || text instanceof Problem ? [] : (presets[preset].secretBytes(text) ?? []),
  );
  const fault = found.find((one) => one instanceof Problem) ?? null;
  const expires = row.previous_expires_at?.getTime() ?? 0;
  return { keys, fault, until: expires > at ? expires : Number.POSITIVE_INFINITY };
}
