/** Keys of model providers that stand in secrets of the system tenant. */
import { systemTenant } from "../../../actors/identity/identity.ts";
import type { SecretReference } from "../../../actors/manifest/references.ts";
import { defaultKeySecrets } from "../../adapters/models/port.ts";
import type { Secret } from "../../lib/secret.ts";
import { withTimeout } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Audit, auditedSystem } from "../audit/port.ts";
import type { SecretValues } from "../secrets/port.ts";

export interface KeysOptions {
  readonly sql: Sql;
  readonly audit: Pick<Audit, "once">;
  readonly secrets: SecretValues;
}

/**
 * Reads keys. The first use of a value is on record before it leaves; further ones of the same value are not, so that a
 * call costs one reading.
 */
export function keysIn({ sql, audit, secrets }: KeysOptions) {
  /** By reference, when the value on record was written; as many as the configuration has providers. */
  const recorded = new Map<string, number>();
  return async (reference: SecretReference): Promise<Secret | { readonly missing: string }> => {
    const found = await secrets.meaning(systemTenant, reference);
    if (!("value" in found)) return { missing: found.message };
    const { text, path } = reference;
    if (recorded.get(text) !== found.changedAt) {
      await audit.once(sql, `models ${text} ${found.changedAt}`, auditedSystem("models"), {
        tenant: systemTenant,
        action: "secret.used",
        target: { type: "secret", id: path },
        details: { reference: text, used_by: "llm_providers" },
      });
      recorded.set(text, found.changedAt);
    }
    return found.value;
  };
}

/** A store of secrets that does not answer keeps no node from starting, ms. */
const lookMs = 3_000;

/** Whether one of the secrets that stand in for keys of the environment is there. Never rejects. */
export async function holdsKey(secrets: SecretValues): Promise<boolean> {
  const look = Promise.all(
    defaultKeySecrets.map(async (reference) => "value" in (await secrets.meaning(systemTenant, reference))),
  );
  const found = await withTimeout(look, lookMs, () => new Error("The secrets do not answer")).catch(
    (): boolean[] => [],
  );
  return found.includes(true);
}
